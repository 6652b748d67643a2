// What is offered to a GPU, and what is not: by estimates of both sides, without a GPU.
#include "client/offer.h"

#include <gtest/gtest.h>

#include "client/offload.h"
#include "frontends/c/lift.h"
#include "tuning-db/hardware.h"

namespace sous::client {
namespace {

using Sizes = std::map<std::string, std::int64_t>;

struct Offered {
  Result<frontends::TranslationUnit> unit;
  PreparedNest nest;
  Offered(const std::string& body, const Sizes& sizes, int cores = 16)
      : unit(frontends::c::lift(
            "void f(long n, long t, double *restrict C, double *restrict A, double *restrict B) {\n" + body + "}",
            "test.c", {})) {
    const auto machine = tuning_db::parse_hardware_class("x86-64:avx512:" + std::to_string(cores) + "c:l2=2M:l3=32M");
    nest = prepare(unit->nests.at(0), {}, sizes, *machine).value();
  }
  Chosen for_gpu() const { return offload({.nest = nest, .target = "cuda"}); }
  Times expected(const Chosen& cpu = {}) const {
    const Chosen gpu = for_gpu();
    return times(nest, gpu, assemble(nest, gpu.choices).value(), cpu, tuning_db::typical_gpu(90));
  }
  Chosen chosen(const Offering& offering) const { return choose_where({.nest = nest, .target = "cuda"}, offering); }
};

const std::string product = R"(for (long i = 0; i < n; i++)
  for (long k = 0; k < n; k++)
    for (long j = 0; j < n; j++) C[i * n + j] += A[i * n + k] * B[k * n + j];
)";
const std::string sum = "for (long i = 0; i < n; i++) C[i] += A[i];\n";
const std::string sweeps = R"(for (long s = 0; s < t; s++) {
  for (long i = 1; i < n - 1; i++)
    for (long j = 1; j < n - 1; j++) C[i * n + j] = A[i * n + j] + A[i * n + j - 1] + A[(i + 1) * n + j];
  for (long i = 1; i < n - 1; i++)
    for (long j = 1; j < n - 1; j++) A[i * n + j] = C[i * n + j] + C[i * n + j - 1] + C[(i + 1) * n + j];
}
)";
// A launch for each step of the outer loops: rows that need their neighbours' columns.
const std::string small_steps = R"(for (long s = 0; s < t; s++)
  for (long i = 1; i < n; i++)
    for (long j = 1; j < n; j++) C[i * n + j] += C[(i - 1) * n + j - 1];
)";
// A launch, whose threads go down a column each and wait for memory in each row.
const std::string columns = R"(for (long i = 1; i < n; i++)
  for (long j = 0; j < n; j++) C[i * n + j] += C[(i - 1) * n + j];
)";

TEST(Offer, WhatComputesMuchForEachByte) {
  EXPECT_TRUE(Offered(product, {{"n", 3000}}).expected().gains());
  EXPECT_FALSE(Offered(product, {{"n", 100}}).expected().gains());
  EXPECT_FALSE(Offered(sum, {{"n", 100'000'000}}).expected().gains());
  EXPECT_TRUE(Offered(sweeps, {{"n", 3000}, {"t", 500}}).expected().gains());
  EXPECT_FALSE(Offered(sweeps, {{"n", 3000}, {"t", 1}}).expected().gains());
  EXPECT_FALSE(Offered(small_steps, {{"n", 1000}, {"t", 1000}}).expected().gains());
  EXPECT_FALSE(Offered(columns, {{"n", 1000}}).expected().gains());
}

TEST(Offer, CoresShareWhatThreadsDo) {
  const Offered few(product, {{"n", 1500}}, 2), many(product, {{"n", 1500}}, 64);
  const auto on_threads = [] {
    Choice choice{.unit = 0, .match = {}};
    choice.match.origin = transforms::Origin::Database;
    choice.match.evidence.work = 1500.0 * 1500 * 1500;
    choice.match.evidence.baseline_seconds = 1.6;
    choice.match.evidence.tuned_seconds = 0.2;
    choice.match.evidence.threads = 2;
    Chosen chosen;
    chosen.choices = {choice};
    return chosen;
  };
  const Times two = few.expected(on_threads()), all = many.expected(on_threads());
  EXPECT_NEAR(two.cpu, 0.2, 1e-6);
  EXPECT_NEAR(all.cpu, 0.4 / 64, 1e-6);
  EXPECT_TRUE(two.gains());
  EXPECT_FALSE(all.gains());
}

TEST(Offer, EachCallDecides) {
  const Offered known(product, {{"n", 3000}});
  const Chosen offered = known.chosen({});
  ASSERT_TRUE(offered.offer);
  EXPECT_NE(offered.why.find("offered to the GPU"), std::string::npos) << offered.why;
  EXPECT_GT(offered.offer->start, 0);
  EXPECT_GT(offered.offer->core_each, 0);
  EXPECT_FALSE(known.chosen({.all = true}).offer);
  EXPECT_FALSE(known.chosen({.each_call = false}).offer);  // for good
  EXPECT_EQ(known.chosen({.each_call = false}).choices.size(), 1U);
  const Chosen none = Offered(sum, {}).chosen({});
  EXPECT_TRUE(none.choices.empty());
  EXPECT_NE(none.why.find("not offered to the GPU: expected to take"), std::string::npos) << none.why;
  EXPECT_TRUE(Offered(product, {}).chosen({}).offer);  // where it is large
}

// A measurement of the GPU's recipe is from end to end: nothing is added to it.
TEST(Offer, MeasurementsOutrankEstimates) {
  const Offered slow(sum, {{"n", 1'000'000}});
  Chosen gpu = slow.for_gpu();
  ASSERT_EQ(gpu.choices.size(), 1U);
  transforms::Match& match = gpu.choices[0].match;
  match.origin = transforms::Origin::Database;
  match.evidence.work = 1'000'000;
  match.evidence.baseline_seconds = 1;
  match.evidence.tuned_seconds = 1e-9;
  const auto applied = assemble(slow.nest, gpu.choices);
  const Times measured = times(slow.nest, gpu, *applied, {}, tuning_db::typical_gpu(90));
  EXPECT_TRUE(measured.gains()) << measured.in_words();
  EXPECT_EQ(measured.offer.to_byte, 0);
}

}  // namespace
}  // namespace sous::client
