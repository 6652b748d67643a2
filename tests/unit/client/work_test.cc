#include "client/work.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "client/process.h"
#include "client/work_process.h"
#include "tests/unit/tuning_db/nests.h"
#include "tuning-db/proof.h"

namespace sous::client {
namespace {

namespace nests = tuning_db::nests;
using tuning_db::JobOutcome;

std::vector<transforms::Match> nothing_known(const transforms::NestQuery&, const tuning_db::Hardware&) { return {}; }

server::LeasedJob job() {
  server::LeasedJob job;
  job.lease = std::string(32, '0');
  job.seconds = 60;
  job.build = {.isa = tuning_db::local_hardware().isa, .cores = 1, .threads = 1};
  job.hardware_class = "here";
  return job;
}

server::LeasedJob tune(std::string_view nest, std::int64_t n) {
  const auto e = nests::normal_entry(nest, n);
  server::LeasedJob tune = job();
  tune.wanted = {.nest = e.nest, .structural_hash = e.structural_hash, .sizes = e.sizes};
  return tune;
}

server::LeasedJob measure(const tuning_db::Entry& entry) {
  server::LeasedJob measure = job();
  measure.entry = entry;
  return measure;
}

// Sums over rows: it waits for each addition, whatever the machine does.
constexpr std::string_view products = R"(sdfg 1 nest
symbols n0
array a0: f64[n0, n0] argument
array a1: f64[n0, n0] argument
array a2: f64[n0, n0] argument
arguments n0, a0, a1, a2

loop i0 = 0 .. n0 {
  loop i1 = 0 .. n0 {
    loop i2 = 0 .. n0 {
      s0: a0[i0, i1] = a0[i0, i1] + a1[i0, i2] * a2[i1, i2]
    }
  }
}
)";

TEST(Work, WhatIsFoundStandsAProof) {
  const auto wanted = tune(products, 256);
  const Worked worked = work_on(wanted, {.seconds = 1}, nothing_known);
  ASSERT_EQ(worked.outcome, JobOutcome::found) << worked.error.to_string() << worked.said;
  ASSERT_EQ(worked.entries.size(), 1u);
  const auto& entry = worked.entries[0];
  EXPECT_EQ(entry.structural_hash, wanted.wanted->structural_hash);
  EXPECT_EQ(entry.sizes, wanted.wanted->sizes);
  EXPECT_GE(entry.baseline_seconds / entry.tuned_seconds, least_worked);
  const auto proven = tuning_db::prove(entry);
  EXPECT_TRUE(proven) << proven.error().to_string();
  // And another worker measures it again.
  const Worked again = work_on(measure(entry), {}, nothing_known);
  ASSERT_EQ(again.outcome, JobOutcome::found) << again.error.to_string();
  EXPECT_EQ(again.entries.at(0).recipe, entry.recipe);
  EXPECT_EQ(again.entries.at(0).sizes, entry.sizes);
}

TEST(Work, HostileJobsAreRefusedBeforeTheyRun) {
  constexpr std::string_view beyond = R"(sdfg 1 nest
symbols n0
array a0: f64[n0, n0] argument
arguments n0, a0

loop i0 = 0 .. n0 {
  loop i1 = 0 .. n0 {
    s0: a0[i0, i1] = a0[i0, i1 + 1000000] + 1.0
  }
}
)";
  const auto code = [](const server::LeasedJob& job) {
    const Worked worked = work_on(job, {.seconds = 1}, nothing_known);
    EXPECT_EQ(worked.outcome, JobOutcome::failed);
    return worked.error.code;
  };
  const auto tuned = tune(beyond, 500);
  const Worked worked = work_on(tuned, {.seconds = 1}, nothing_known);
  EXPECT_EQ(worked.error.code, "work.candidates");
  EXPECT_NE(worked.error.why.find("[measure.bounds]"), std::string::npos) << worked.error.why;
  EXPECT_EQ(code(measure(nests::normal_entry(beyond, 500))), "measure.bounds");
  EXPECT_EQ(code(measure(nests::normal_entry(nests::gemm, 100'000))), "measure.bounds");
  // It may say what it likes of its compiler.
  tuning_db::Entry entry = nests::normal_entry(beyond, 500);
  entry.compiler = "/bin/sh";
  entry.flags = "-fplugin=/tmp/x.so -wrapper rm";
  EXPECT_EQ(code(measure(entry)), "measure.bounds");
}

TEST(Work, AStoppedJobIsGivenBack) {
  const std::atomic<bool> stop = true;
  EXPECT_EQ(work_on(tune(nests::gemm, 500), {.stop = &stop}, nothing_known).outcome, JobOutcome::returned);
  EXPECT_EQ(work_on(measure(nests::normal_entry(nests::gemm, 500)), {.stop = &stop}, nothing_known).outcome,
            JobOutcome::returned);
}

TEST(Work, FlagsForAnInstructionSet) {
  tuning_db::Hardware wide;
  wide.isa = tuning_db::Isa::avx512;
  using Words = std::vector<std::string>;
  EXPECT_EQ(flags_for(tuning_db::Isa::avx512, wide), (Words{"-O3", "-march=native"}));
  EXPECT_EQ(flags_for(tuning_db::Isa::avx2, wide), (Words{"-O3", "-march=x86-64-v3"}));
  EXPECT_EQ(flags_for(tuning_db::Isa::sse, wide), (Words{"-O3"}));
}

TEST(Work, ResultsAreReadStrictly) {
  const Worked worked{.outcome = JobOutcome::found,
                      .entries = {nests::normal_entry(nests::gemm, 500)},
                      .error = {"", ""},
                      .said = "2.00 times as fast"};
  const std::string text = to_json(worked);
  const auto read = worked_from_json(text);
  ASSERT_TRUE(read) << read.error().to_string();
  EXPECT_EQ(read->entries, worked.entries);
  EXPECT_EQ(read->said, worked.said);
  for (std::size_t length = 0; length < text.size(); length += 31)
    EXPECT_FALSE(worked_from_json(text.substr(0, length)));
}

bool always() { return true; }

TEST(WorkProcess, GivesWhatItDid) {
  const auto worked = in_process(
      {.cores = 1, .threads = 3},
      [] {
        return Worked{.outcome = JobOutcome::nothing,
                      .entries = {},
                      .said = std::to_string(tuning_db::local_hardware().cores) + " " + std::getenv("OMP_NUM_THREADS")};
      },
      always);
  ASSERT_TRUE(worked) << worked.error().to_string();
  EXPECT_EQ(worked->said, "1 3");
  EXPECT_EQ(worked->outcome, JobOutcome::nothing);
}

TEST(WorkProcess, WhatDiesTakesNobodyAlong) {
  const auto died = in_process({}, []() -> Worked { ::raise(SIGSEGV), ::_exit(0); }, always);
  EXPECT_EQ(died.error().code, "work.process");
  const auto ended = in_process({}, []() -> Worked { ::_exit(0); }, always);
  EXPECT_FALSE(ended);
}

TEST(WorkProcess, MemoryHasAnEnd) {
  const auto worked = in_process(
      {},
      [] {
        void* much = ::mmap(nullptr, std::size_t{1} << 40, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        return Worked{
            .outcome = much == MAP_FAILED ? JobOutcome::nothing : JobOutcome::found, .entries = {}, .said = {}};
      },
      always);
  ASSERT_TRUE(worked) << worked.error().to_string();
  EXPECT_EQ(worked->outcome, JobOutcome::nothing);
}

TEST(WorkProcess, EndsWhenItIsAskedToOrItsTimeIsOver) {
  const auto sleeps = []() -> Worked {
    ::sleep(60);
    return {};
  };
  const double start = now();
  EXPECT_EQ(in_process({}, sleeps, [] { return false; }).error().code, "work.process");
  EXPECT_EQ(in_process({.seconds = 0.2}, sleeps, always).error().code, "work.process");
  EXPECT_LT(now() - start, 15);
}

}  // namespace
}  // namespace sous::client
