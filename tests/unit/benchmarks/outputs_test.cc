#include "benchmarks/outputs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace sous::benchmarks {
namespace {

template <class T>
std::string bytes(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

Comparison compare(const std::vector<double>& a, const std::vector<double>& b) {
  const auto result = compare_outputs(bytes(a), bytes(b), Element::f64);
  EXPECT_TRUE(result.has_value());
  return *result;
}

TEST(Outputs, EqualBits) {
  const auto result = compare({1, -0.0, std::nan("")}, {1, -0.0, std::nan("")});
  EXPECT_TRUE(result.bit_equal);
  EXPECT_EQ(result.difference, 0);
  EXPECT_EQ(result.elements, 3U);
}

TEST(Outputs, TheLargestRelativeDifferenceAndTheFirstPlace) {
  const auto result = compare({1, 100, 4}, {1, 101, 2});
  EXPECT_FALSE(result.bit_equal);
  EXPECT_EQ(result.first, 1U);
  EXPECT_DOUBLE_EQ(result.difference, 0.5);
}

TEST(Outputs, AZeroButForRoundingIsHeldAgainstItsArray) {
  const auto result = compare({1, 0}, {1, 1e-17});
  EXPECT_FALSE(result.bit_equal);
  EXPECT_LT(result.difference, 1e-10);
}

TEST(Outputs, ZerosOfBothSignsDifferInBitsOnly) {
  const auto result = compare({0.0, 1}, {-0.0, 1});
  EXPECT_FALSE(result.bit_equal);
  EXPECT_EQ(result.difference, 0);
}

TEST(Outputs, ANanAgainstANumberIsInfinitelyFar) {
  EXPECT_TRUE(std::isinf(compare({1, 2}, {1, std::nan("")}).difference));
  EXPECT_TRUE(std::isinf(compare({1, 2}, {1, std::numeric_limits<double>::infinity()}).difference));
  EXPECT_TRUE(std::isinf(compare({1, std::nan(""), 3}, {1, 2, 3.1}).difference)) << "and stays so";
}

TEST(Outputs, IntegersAndFloats) {
  const auto ints = compare_outputs(bytes<std::int32_t>({1, 2, 3}), bytes<std::int32_t>({1, 2, 4}), Element::i32);
  ASSERT_TRUE(ints.has_value());
  EXPECT_EQ(ints->first, 2U);
  EXPECT_DOUBLE_EQ(ints->difference, 0.25);
  const auto floats = compare_outputs(bytes<float>({1, 2}), bytes<float>({1, 2}), Element::f32);
  ASSERT_TRUE(floats.has_value());
  EXPECT_TRUE(floats->bit_equal);
}

TEST(Outputs, WhatIsZeroButForRoundingIsHeldAgainstItsArray) {
  // 1e-6 of 1 is what rounding leaves of a float sum that should be zero; of a double it would be an error.
  const auto floats = compare_outputs(bytes<float>({1, 0}), bytes<float>({1, 1e-6F}), Element::f32);
  EXPECT_NEAR(floats->difference, 1e-6 * 1024, 1e-8);
  const auto doubles = compare_outputs(bytes<double>({1, 0}), bytes<double>({1, 1e-15}), Element::f64);
  EXPECT_NEAR(doubles->difference, 1e-15 * (1 << 20), 1e-12);
}

TEST(Outputs, SizesThatDifferAreRefused) {
  EXPECT_EQ(compare_outputs("12345678", "1234567812345678", Element::f64).error().code, "bench.outputs");
  EXPECT_EQ(compare_outputs("1234", "1234", Element::f64).error().code, "bench.outputs");
  EXPECT_EQ(compare_outputs("", "", Element::f64).error().code, "bench.outputs");
}

TEST(Outputs, TextIsComparedWordByWord) {
  const auto text = [](std::string_view a, std::string_view b) { return *compare_outputs(a, b, Element::text); };
  EXPECT_TRUE(text("sum 2.5\n", "sum 2.5\n").bit_equal);
  const auto rounded = text("1e9 2.0 x\n", "1e9  2.5 x\n");
  EXPECT_FALSE(rounded.bit_equal);
  EXPECT_DOUBLE_EQ(rounded.difference, 0.2) << "a number is held against itself, not against the largest";
  EXPECT_EQ(rounded.first, 1U);
  EXPECT_EQ(text("1 -nan", "1 -nan").difference, 0);
  for (const char* other : {"sum 2.5 3", "sum", "total 2.5", "sum 2.5;", "sum nan"}) {
    EXPECT_TRUE(std::isinf(text("sum 2.5", other).difference)) << other;
  }
  EXPECT_EQ(compare_outputs("", "", Element::text).error().code, "bench.outputs");
}

TEST(Outputs, ElementNamesReadBack) {
  for (const Element e : {Element::f64, Element::f32, Element::i64, Element::i32, Element::text}) {
    EXPECT_EQ(parse_element(to_string(e)), e);
  }
  EXPECT_EQ(parse_element("f16"), std::nullopt);
}

}  // namespace
}  // namespace sous::benchmarks
