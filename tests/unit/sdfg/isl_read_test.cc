#include "sdfg/isl_read.h"

#include <gtest/gtest.h>

#include "tests/support/random.h"

namespace sous::sdfg {
namespace {

// isl's own reader is the slow twin.
void expect_equal(const auto& ours, const auto& theirs, auto* is_equal, const std::string& text) {
  ASSERT_TRUE(ours && theirs) << text;
  EXPECT_EQ(is_equal(ours.get(), theirs.get()), isl_bool_true) << text;
}
void same_set(isl_ctx* context, const std::string& text) {
  expect_equal(read_isl_set(context, text), IslSet(isl_set_read_from_str(context, text.c_str())), isl_set_is_equal,
               text);
}
void same_map(isl_ctx* context, const std::string& text) {
  expect_equal(read_isl_map(context, text), IslMap(isl_map_read_from_str(context, text.c_str())), isl_map_is_equal,
               text);
}

TEST(IslRead, SetsAreWhatIslReads) {
  const IslContext context(1'000'000);
  for (const char* text : {
           "[] -> { [] : 0 = 0 }",
           "{ [] : false }",
           "[p0, p1] -> { S3[o0, o1] : 0 <= o0 and o0 + 1 <= p0 and (-1 + 2 * o0 <= o1 and o1 < p1) }",
           "[p0] -> { [e0] : not (e0 <= 3 + -2 * p0) and ((e0 = e0)) }",
           "[p0] -> { [e0] : not (e0 > 3) and not (((p0 < 7))) }",
           "[p0] -> { [e0] : exists (x0, x1 : e0 = 3 * x0 + x1 and 0 <= x1 and x1 <= 1) and e0 < p0 }",
           "[p0] -> { [e0] : ((e0 + p0) mod 4) = 1 and floor((e0)/3) >= -2 * ((e0 + p0) mod 4) }",
           "[p0] -> { [e0] : floor((1 + floor((e0)/2))/3) = p0 and e0 >= 4000000000 }",
           "[p0] -> { [e0] : e0 < 5 or e0 > p0 }",
           "[p0, p1] -> { [e0] : (((p0) != (0)) or (not ((p1) != (e0)))) and e0 >= 0 and true }",
           "[p0, p1] -> { [e0] : not ((p0 = 3 and e0 != 2) or (p1 = e0)) or false }",
           "[p0] -> { [e0] : exists (x0 : e0 = 2 * x0 and (x0 != p0 or x0 < 7)) and e0 mod 3 != 1 }",
           "{ [e0] : not true }",
           "[p0] -> { [e0] : e0 != 5 and e0 <= min(p0, 9) }",
           "[p0, p1] -> { [e0, e1] : e0 = min(2 * p0, 7, p1) and e1 >= max(p0, min(2 * p0, 7)) + -1 * max(p1, 0) }",
           "[p0] -> { [e0] : e0 < max(p0, (e0 mod 2)) and not (min(p0, e0) > max(p0, (e0 mod 2))) }",
           "[p0] -> { [e0] : 0 <= e0 < p0 }",
           "[p0] -> { [e0] : not (0 <= e0 and e0 <= p0) }",
           "[p0] -> { [e0] : e0 <= 9223372036854775807 + p0 and e0 >= 9223372036854775807 * p0 - 9223372036854775807 }",
       })
    same_set(context.get(), text);
}

TEST(IslRead, MapsAreWhatIslReads) {
  const IslContext context(1'000'000);
  for (const char* text : {
           "{ [t0, t1] -> [u0, u1] }",
           "[p0] -> { S1[o0] -> [t0, t1] : false }",
           "[p0] -> { S0[o0, o1] -> C2[e0, e1] : e0 = o0 and (o1) <= e1 and e1 < (o1 + 4) }",
           "[p0] -> { S0[o0, o1] -> [0, t1, 2, t3, -1] : t1 >= 0 and 8 * t1 <= t3 and t3 < min(p0, 8 * t1 + 8) and "
           "o0 = t1 and o1 = (-t3) }",
           "[p0] -> { S0[o0, o1] -> [0, t1, 2, t3, 0] : t1 >= 0 and (0 + 8 * t1) <= t3 and o0 = t3 and o1 = -t1 }",
           "[p0] -> { S0[o0] -> R[] : 0 <= o0 }",
       })
    same_map(context.get(), text);
}

// Random comparisons of random sums with quotients, remainders and the least and greatest of two, and, or, not.
TEST(IslRead, RandomConditions) {
  tests::Random random(tests::from_environment("SOUS_SEED", 1));
  const auto sum = [&](const auto& self, int depth) -> std::string {
    std::string text = std::to_string(random.between(-6, 6));
    for (int terms = static_cast<int>(random.between(0, 2)); terms > 0; --terms) {
      static const char* const names[] = {"p0", "e0", "e1", "x0"};
      std::string atom = names[random.between(0, 3)];
      const auto divisor = std::to_string(random.between(1, 5));
      if (depth > 0 && random.between(0, 2) == 0) {
        const std::string inner = self(self, depth - 1), other = self(self, depth - 1);
        const std::string forms[] = {"floor((" + inner + ")/" + divisor + ")", "((" + inner + ") mod " + divisor + ")",
                                     "min(" + inner + ", " + other + ")", "max(" + inner + ", " + other + ")"};
        atom = forms[random.between(0, 3)];
      }
      text += " + " + std::to_string(random.between(-3, 3)) + " * " + atom;
    }
    return "(" + text + ")";
  };
  for (int k = 0; k < 200; ++k) {
    const IslContext context(10'000'000);
    std::string where = "-9 <= e0 and e0 <= 9 and -9 <= e1 and e1 <= 9 and -9 <= x0 and x0 <= 9";
    for (int rows = static_cast<int>(random.between(1, 3)); rows > 0; --rows) {
      static const char* const kinds[] = {" <= ", " < ", " >= ", " > ", " = ", " != "};
      std::string condition;
      for (int more = static_cast<int>(random.between(0, 2)); more >= 0; --more) {
        const bool negated = random.between(0, 3) == 0;
        condition += (negated ? "not (" : "(") + sum(sum, 2) + kinds[random.between(0, 5)] + sum(sum, 1) + ")";
        if (more > 0) condition += random.between(0, 1) ? " or " : " and ";
      }
      where += (random.between(0, 4) == 0 ? " and not (" : " and (") + condition + ")";
    }
    same_set(context.get(), "[p0] -> { [e0, e1] : exists (x0 : " + where + ") }");
  }
}

}  // namespace
}  // namespace sous::sdfg
