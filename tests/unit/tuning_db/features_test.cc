#include "tuning-db/features.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>

#include "tests/unit/tuning_db/nests.h"
#include "tuning-db/hash.h"
#include "tuning-db/nest_facts.h"
#include "tuning-db/size_class.h"

namespace sous::tuning_db {
namespace {

using nests::parsed;

float value(const FeatureVector& v, Feature f) { return v.at(static_cast<std::size_t>(f)); }

double between(const FeatureVector& a, const FeatureVector& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::pow(a[i] - b[i], 2);
  return std::sqrt(sum);
}

TEST(Hash, KnownAnswers) {  // FIPS 180-4 examples, first 128 bits
  EXPECT_EQ(content_hash("abc"), "ba7816bf8f01cfea414140de5dae2223");
  EXPECT_EQ(content_hash(""), "e3b0c44298fc1c149afbf4c8996fb924");
  EXPECT_EQ(content_hash("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039");
  EXPECT_EQ(content_hash(std::string(1'000'000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67");
}

TEST(SizeClass, FootprintAndWorkOfGemm) {
  const sdfg::Sdfg nest = parsed(nests::gemm);
  const std::map<std::string, std::int64_t> sizes = {{"n0", 10}, {"n1", 20}, {"n2", 30}};
  EXPECT_EQ(footprint_bytes(nest, sizes), 8.0 * (10 * 20 + 10 * 30 + 30 * 20));
  EXPECT_EQ(work(nest, sizes), 10.0 * 20 * 30);
  EXPECT_EQ(footprint_bytes(nest, {{"n0", 10}}), std::nullopt);
}

TEST(SizeClass, TrianglesAreCountedExactly) {
  const sdfg::Sdfg nest = parsed(nests::syrk);
  EXPECT_EQ(work(nest, {{"n0", 100}, {"n1", 7}}), 7.0 * 100 * 101 / 2);
}

TEST(SizeClass, OnlyTouchedPlacesCount) {
  const sdfg::Sdfg nest = parsed(R"(sdfg 1 row
symbols n0
array a0: f32[n0, n0] argument
arguments n0, a0

loop i0 = 0 .. n0 {
  s0: a0[3, i0] = 1.0f32
}
)");
  EXPECT_EQ(footprint_bytes(nest, {{"n0", 100}}), 400.0);
}

TEST(SizeClass, ClassesAndLikeness) {
  const sdfg::Sdfg nest = parsed(nests::jacobi);  // two n*n arrays of f64; one element of a margin is not written
  EXPECT_EQ(to_string(size_class(nest, {{"n0", 256}})), "4^9:8");
  EXPECT_EQ(to_string(size_class(nest, {})), "unknown:8");
  for (const char* text : {"4^9:8", "unknown:4"}) EXPECT_EQ(to_string(*parse_size_class(text)), text);
  for (const char* text : {"", "4^:8", "4^9", "4^9:", "4^x:8", "4^99:8", "3^9:8"}) EXPECT_FALSE(parse_size_class(text));
  EXPECT_TRUE(like_size("4^9:8", "4^10:8"));
  EXPECT_FALSE(like_size("4^9:8", "4^11:8"));
  EXPECT_FALSE(like_size("4^9:8", "4^9:4"));
  EXPECT_FALSE(like_size("unknown:8", "unknown:8"));
}

TEST(SizeClass, AbsurdSizesStayInRange) {
  std::string extents = "n0", subscript = "0";
  for (int d = 0; d < 20; ++d) extents += ", n0", subscript += ", 0";
  const std::string text = "sdfg 1 huge\nsymbols n0\narray a0: f64[" + extents + "] argument\narguments n0, a0\n\n" +
                           "loop i0 = 0 .. n0 {\n  s0: a0[i0 * i0 * i0 * i0 * i0" + subscript.substr(1) +
                           "] = 1.0\n}\n";
  const sdfg::Sdfg nest = parsed(text);
  for (const std::int64_t n : {INT64_MAX, INT64_MIN, std::int64_t{0}}) {
    EXPECT_TRUE(parse_size_class(to_string(size_class(nest, {{"n0", n}}))));
    EXPECT_TRUE(std::isfinite(work(nest, {{"n0", n}}).value_or(0)));
    for (const float x : features(nest, {{"n0", n}})) EXPECT_TRUE(std::isfinite(x));
  }
}

TEST(NestFacts, StridesPerLoop) {
  const sdfg::Sdfg nest = parsed(nests::gemm);
  const NestFacts f = facts(nest, {{"n0", 10}, {"n1", 20}, {"n2", 30}});
  const auto of = [&](std::string_view container, bool write) {
    for (const AccessFact& a : f.accesses)
      if (a.container->name == container && a.write == write)
        return std::vector{f.stride(a, 0), f.stride(a, 1), f.stride(a, 2)};
    return std::vector<std::optional<double>>{};
  };
  EXPECT_EQ(of("a0", true), (std::vector<std::optional<double>>{20, 0, 1}));
  EXPECT_EQ(of("a1", false), (std::vector<std::optional<double>>{30, 1, 0}));
  EXPECT_EQ(of("a2", false), (std::vector<std::optional<double>>{0, 20, 1}));
}

// A quarter of a million terms, multiplied out, for each access and loop.
TEST(NestFacts, StridesAreNotMultipliedOut) {
  const auto sum = [](const std::string& name, int terms) {
    std::string text = "0";
    for (int k = 0; k < terms; ++k) text += " + " + name + std::to_string(k);
    return text;
  };
  std::string symbols;
  for (int k = 0; k < 500; ++k) symbols += (k > 0 ? ", p" : "p") + std::to_string(k);
  sdfg::Sdfg nest = parsed("sdfg 1 sums\nsymbols " + symbols + "\narray a: f64[p0, p1] strides [" + sum("p", 500) +
                           ", 1] argument\narguments " + symbols +
                           ", a\n\nloop i = 0 .. p0 {\n  loop j = 0 .. p1 {\n    s0: a[3 * i + " + sum("p", 500) +
                           ", j + i * p0] = 1.0\n  }\n}\n");
  ASSERT_EQ(nest.root.nodes.size(), 1u);
  auto& states = sdfg::bodies(sdfg::bodies(nest.root.nodes[0])[0]->nodes[0])[0]->nodes;
  states.resize(100, states[0]);
  std::map<std::string, std::int64_t> sizes;
  for (const std::string& symbol : nest.symbols) sizes[symbol] = 2;
  const auto begun = std::chrono::steady_clock::now();
  const NestFacts f = facts(nest, sizes);
  ASSERT_EQ(f.accesses.size(), 100u);
  for (const AccessFact& access : f.accesses) {
    EXPECT_EQ(f.stride(access, 0), 3.0 * 1000 + 2);
    EXPECT_EQ(f.stride(access, 1), 1.0);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(60));
}

TEST(NestFacts, StridesOfWhatIsNotLinear) {
  const sdfg::Sdfg nest = parsed(R"(sdfg 1 sums
symbols n
array a: f64[n, n] argument
arguments n, a

loop i = 0 .. n {
  loop j = 0 .. n {
    s0: a[i * i, j] = 1.0
    s1: a[min(i, 3), i * j] = 1.0
  }
}
)");
  const NestFacts f = facts(nest, {{"n", 9}});
  ASSERT_EQ(f.accesses.size(), 2u);
  EXPECT_EQ(f.stride(f.accesses[0], 0), std::nullopt);
  EXPECT_EQ(f.stride(f.accesses[0], 1), 1.0);
  EXPECT_EQ(f.stride(f.accesses[1], 0), std::nullopt);
  EXPECT_EQ(f.stride(f.accesses[1], 1), 4.0) << "in the middle of the loop around";
}

TEST(Features, LayoutIsOneListAndValuesAreFinite) {
  EXPECT_EQ(feature_name(Feature::ops_add), "ops_add");
  EXPECT_EQ(feature_name(Feature::reads_unit_2), "reads_unit_2");
  for (const auto text : {nests::gemm, nests::syrk, nests::jacobi}) {
    const FeatureVector v = features(parsed(text), {});
    EXPECT_EQ(v.size(), feature_count);
    for (const float x : v) EXPECT_TRUE(std::isfinite(x));
  }
}

TEST(Features, OfGemm) {
  const FeatureVector v = features(parsed(nests::gemm), {{"n0", 1000}, {"n1", 1000}, {"n2", 1000}});
  EXPECT_FLOAT_EQ(value(v, Feature::ops_mul), 1);
  EXPECT_FLOAT_EQ(value(v, Feature::depth), 4);  // log2(3 + 1), weight 2
  EXPECT_FLOAT_EQ(value(v, Feature::triangular_loops), 0);
  EXPECT_FLOAT_EQ(value(v, Feature::reads_unit_0), 1.5849625f);  // two of the three
  EXPECT_FLOAT_EQ(value(v, Feature::reads_invariant_0), 1);
  EXPECT_FLOAT_EQ(value(v, Feature::self_updates), 2);
  EXPECT_FLOAT_EQ(value(v, Feature::in_every_write_0), 1);
  EXPECT_FLOAT_EQ(value(v, Feature::in_every_write_1), 0);
  EXPECT_FLOAT_EQ(value(v, Feature::sizes_known), 0.5);
}

TEST(Features, NearerToTheSameNestAtAnotherSizeThanToAnotherNest) {
  const auto at = [](std::string_view nest, std::int64_t n) {
    return features(parsed(nest), {{"n0", n}, {"n1", n}, {"n2", n}});
  };
  EXPECT_EQ(between(at(nests::gemm, 500), at(nests::gemm, 500)), 0);
  EXPECT_LT(between(at(nests::gemm, 500), at(nests::gemm, 1000)), between(at(nests::gemm, 500), at(nests::syrk, 500)));
  EXPECT_LT(between(at(nests::gemm, 500), at(nests::syrk, 500)), between(at(nests::gemm, 500), at(nests::jacobi, 500)));
}

TEST(Features, KeyIsTheWrittenTypeAndTheDepth) {
  EXPECT_EQ(nest_key(parsed(nests::gemm)), (NestKey{sdfg::ElementType::f64, 3}));
  EXPECT_EQ(nest_key(parsed(nests::jacobi)), (NestKey{sdfg::ElementType::f64, 2}));
}

}  // namespace
}  // namespace sous::tuning_db
