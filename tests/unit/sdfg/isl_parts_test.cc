#include "sdfg/isl_parts.h"

#include <gtest/gtest.h>
#include <isl/point.h>
#include <isl/val.h>

#include "sdfg/isl_read.h"

namespace sous::sdfg {
namespace {

// The slow way: all differences, everything else eliminated, and whether none is left but one of them.
std::optional<std::int64_t> by_elimination(const IslMap& pairs, unsigned dimension) {
  isl_set* deltas = isl_map_deltas(pairs.copy());
  const auto count = static_cast<unsigned>(isl_set_dim(deltas, isl_dim_set));
  deltas = isl_set_project_out(deltas, isl_dim_set, dimension + 1, count - dimension - 1);
  deltas = isl_set_project_out(deltas, isl_dim_set, 0, dimension);
  deltas = isl_set_project_out(deltas, isl_dim_param, 0, static_cast<unsigned>(isl_set_dim(deltas, isl_dim_param)));
  const IslSet all(deltas);
  if (isl_set_is_empty(all.get()) == isl_bool_true) return std::nullopt;
  isl_point* point = isl_set_sample_point(all.copy());
  isl_val* value = isl_point_get_coordinate_val(point, isl_dim_set, 0);
  isl_point_free(point);
  const std::int64_t one = isl_val_get_num_si(value);
  isl_val_free(value);
  const IslSet others(isl_set_subtract(all.copy(), isl_set_fix_si(all.copy(), isl_dim_set, 0, static_cast<int>(one))));
  return isl_set_is_empty(others.get()) == isl_bool_true ? std::optional(one) : std::nullopt;
}

TEST(IslParts, ConstantDifferencesAreThoseOfAllPairs) {
  const IslContext context(1'000'000);
  int constant = 0;
  for (const char* text :
       {"[n] -> { [i] -> [j] : j = i + 3 and 0 <= i < n }", "[n] -> { [i] -> [j] : 2j = 2i - 8 and 0 <= i < n }",
        "[n] -> { [i] -> [j] : j = i + n and 0 <= i < 9 }", "[n] -> { [i] -> [j] : i < j and 0 <= i < n }",
        // By inequalities alone, by what parameters are, by a remainder.
        "[n] -> { [i] -> [j] : i + 1 <= j <= i + 1 }", "[n] -> { [i] -> [j] : j = i + n and 2 <= n <= 2 }",
        "[n] -> { [i] -> [j] : i < j < i + 4 and (j - i) % 2 = 0 }",
        "[n] -> { [i] -> [j] : i < j < i + 5 and (j - i) % 2 = 0 }",
        "[n] -> { [i] -> [i + 1] : i % 3 = 0 and 0 <= i < n; [i] -> [i + 1] : i >= n }",
        "[n] -> { [i] -> [i + 1] : 0 <= i < n; [i] -> [i + 2] : i >= n }",
        // Other dimensions: what they say of this one only together.
        "[n] -> { [i, k] -> [j, l] : j + l = i + k + 2 and l = k and 0 <= i < n }",
        "[n] -> { [i, k] -> [j, l] : j + l = i + k + 2 and 0 <= i < n }", "{ [i, k] -> [k, i] : i = k + 5 }",
        "{ [i, k] -> [k, i] : i > k }", "{ [i] -> [j] : 1 = 0 }", "{ [i] -> [j] : i = 4 and j = 2 }"}) {
    const IslMap pairs = read_isl_map(context.get(), text);
    const auto dimensions = static_cast<unsigned>(isl_map_dim(pairs.get(), isl_dim_in));
    for (unsigned k = 0; k < dimensions; ++k) {
      const auto difference = constant_difference(pairs, k);
      EXPECT_EQ(difference, by_elimination(pairs, k)) << text << ", dimension " << k;
      constant += difference ? 1 : 0;
    }
  }
  EXPECT_EQ(constant, 11);
}

TEST(IslParts, AUnionWithNothingIsWhatThereIs) {
  const IslContext context(1'000'000);
  IslMap all = read_isl_map(context.get(), "{ [i] -> [j] : 1 = 0 }");
  const IslMap two = read_isl_map(context.get(), "{ [i] -> [i + 1] : i > 3; [i] -> [i + 2] : i < 0 }");
  for (const IslBasicMap& part : parts_of(two)) add_part(all, part);
  EXPECT_EQ(isl_map_is_equal(all.get(), two.get()), isl_bool_true);
  EXPECT_EQ(isl_map_n_basic_map(all.get()), 2);
}

}  // namespace
}  // namespace sous::sdfg
