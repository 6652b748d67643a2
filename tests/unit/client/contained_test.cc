#include "client/contained.h"

#include <gtest/gtest.h>

#include "client/inputs.h"
#include "sdfg/check.h"
#include "sdfg/interp.h"
#include "sdfg/text.h"
#include "tests/support/random.h"
#include "tests/support/random_nest.h"
#include "tests/unit/tuning_db/nests.h"

namespace sous::client {
namespace {

namespace nests = tuning_db::nests;

constexpr std::int64_t n = 100;

// "" or the code, of a nest over a0: f64[n0] and a1: f64[n0, n0] with this body.
std::string judged(const std::string& body, std::int64_t size = n, const std::string& more = "") {
  const auto nest =
      nests::parsed("sdfg 1 nest\nsymbols n0\narray a0: f64[n0] argument\narray a1: f64[n0, n0] argument\n" + more +
                    "arguments n0, a0, a1\n\n" + body);
  const auto result = contained(nest, {{"n0", size}});
  return result ? "" : result.error().code;
}
std::string loop(const std::string& body, const std::string& range = "0 .. n0") {
  return "loop i0 = " + range + " {\n" + body + "\n}\n";
}

TEST(Contained, WhatStaysInsideDoes) {
  for (const auto nest : {nests::gemm, nests::syrk, nests::jacobi})
    EXPECT_TRUE(contained(nests::parsed(nest), {{"n0", n}, {"n1", n}, {"n2", n}}));
  EXPECT_EQ(judged(loop("s0: a0[i0] = a1[n0 - 1 - i0, i0 floordiv 2] + a1[i0 mod 7, min(i0, 3)]")), "");
  EXPECT_EQ(judged(loop("s0: a0[n0 - i0] = 1.0", "1 .. n0")), "");
}

TEST(Contained, SubscriptsThatOnlyTheLoopsBound) {
  EXPECT_EQ(judged(loop("loop i1 = 0 .. i0 + 1 {\ns0: a0[i0 - i1] = 1.0\n}")), "");
  EXPECT_EQ(judged(loop("loop i1 = i0 .. n0 {\ns0: a0[i1 - i0] = 1.0\n}")), "");
  EXPECT_EQ(judged(loop("loop i1 = 0 .. i0 + 2 {\ns0: a0[i0 - i1] = 1.0\n}")), "measure.bounds");
}

TEST(Contained, WhatLeavesAnArrayIsRefused) {
  for (const char* at : {"i0 + 1", "i0 - 1", "2 * i0", "i0 * i0", "n0", "0 - 1", "i0 mod 101", "i0 * n0 floordiv 50"})
    EXPECT_EQ(judged(loop(std::string("s0: a0[") + at + "] = 1.0")), "measure.bounds") << at;
  EXPECT_EQ(judged(loop("s0: a0[i0] = a0[i0 + 1]")), "measure.bounds");
  EXPECT_EQ(judged(loop("s0: a0[i0] = 1.0", "0 .. n0 + 1")), "measure.bounds");
  EXPECT_EQ(judged(loop("if (a0[i0 + 1] > 0.0) {\ns0: a0[i0] = 1.0\n}")), "measure.bounds");
  EXPECT_EQ(judged(loop("s0: a0[i0] = 1.0", "n0 .. 0 step -1")), "measure.bounds");
  EXPECT_EQ(judged(loop("s0: a0[i0] = 1.0", "n0 - 1 .. -1 step -1")), "");
}

TEST(Contained, WhatDataSaysIsRefused) {
  const std::string index = "array a2: i32[n0] argument\n";
  const auto nest = nests::parsed(
      "sdfg 1 nest\nsymbols n0\narray a0: f64[n0] argument\narray a2: i32[n0] argument\narguments n0, a0, a2\n\n" +
      loop("s0: a0[a2[i0]] = 1.0"));
  EXPECT_EQ(contained(nest, {{"n0", n}}).error().code, "measure.bounds");
  EXPECT_EQ(takes(nest, Inputs::Strangers).error().code, "measure.gather");
  EXPECT_TRUE(takes(nest, Inputs::Drawn));
}

// In the IR's own numbers this is i0; computed in 64 bits it is not.
TEST(Contained, WhatWrapsAroundIsRefused) {
  const std::string body = loop("s0: a0[(i0 * n0 * n0 * n0 * n0 * n0) floordiv (n0 * n0 * n0 * n0 * n0)] = 1.0");
  EXPECT_EQ(judged(body, 100), "");
  EXPECT_EQ(judged(body, 20'000), "measure.bounds");
}

TEST(Contained, LargeArraysAreRefused) {
  const std::string body = loop("s0: a0[i0] = 1.0");
  EXPECT_EQ(judged(body, 20'000), "");
  EXPECT_EQ(judged(body, 30'000), "measure.bounds");
  EXPECT_EQ(judged(body, std::int64_t{1} << 62), "measure.bounds");
  EXPECT_EQ(judged(body, n, "array t0: f64[n0, n0, n0] heap\n"), "");
  EXPECT_EQ(judged(body, n, "array t0: f64[n0, n0, n0, n0, n0] heap\n"), "measure.bounds");
  EXPECT_EQ(contained(nests::parsed(nests::gemm), {{"n0", n}}).error().code, "measure.bounds");  // sizes are missing
}

// A subscript somewhere, moved by up to two elements.
sdfg::Sdfg moved(sdfg::Sdfg nest, tests::Random& random) {
  std::vector<sdfg::Expr*> subscripts;
  sdfg::visit(nest.root, [&](sdfg::Node& node) {
    sdfg::change_memlets(node, [&](sdfg::Memlet& memlet) {
      for (sdfg::Expr& e : memlet.subset) subscripts.push_back(&e);
    });
  });
  if (!subscripts.empty()) {
    sdfg::Expr& e = *random.pick(subscripts);
    e = e + random.between(-2, 2);
  }
  return nest;
}

// What the interpreter says, which checks each access while it runs.
TEST(Contained, WhatIsContainedNeverLeavesAnArray) {
  int inside = 0, outside = 0;
  for (std::uint64_t seed = 1; seed <= 600; ++seed) {
    tests::Random random(seed);
    const auto original = tests::random_nest(seed, {.max_depth = 3, .max_statements = 4, .gathers = false});
    const auto nest = moved(original, random);
    if (!sdfg::check(nest)) continue;
    auto memory = tests::random_memory(original, seed);
    const bool is_contained = contained(nest, memory.symbols).has_value();
    const auto ran = sdfg::interpret(nest, memory, {.max_operations = 100'000, .check_orders = false});
    const bool left = !ran && ran.error().code == "interp.out-of-bounds";
    EXPECT_FALSE(is_contained && left) << seed << ": " << ran.error().to_string() << "\n" << sdfg::print(nest);
    inside += is_contained ? 1 : 0;
    outside += left ? 1 : 0;
  }
  EXPECT_GT(inside, 100);
  EXPECT_GT(outside, 50);
  RecordProperty("inside", inside);
  RecordProperty("outside", outside);
}

}  // namespace
}  // namespace sous::client
