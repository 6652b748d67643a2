#include "client/small_numbers.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sous::client {
namespace {

// With memory of its own from the start, or none yet.
struct Number {
  explicit Number(const char* text = nullptr) {
    mpz_init(value);
    if (text != nullptr) mpz_set_str(value, text, 10);
  }
  Number(const Number& other) { mpz_init_set(value, other.value); }
  Number& operator=(const Number&) = delete;
  ~Number() { mpz_clear(value); }
  std::string text() const {
    std::string digits(mpz_sizeinbase(value, 10) + 2, '\0');
    mpz_get_str(digits.data(), 10, value);
    return digits.c_str();
  }
  mpz_t value;
};

// What fits one word, what does not, and what lies at its edges.
const std::vector<const char*> values = {"0",
                                         "1",
                                         "-1",
                                         "2",
                                         "-2",
                                         "3",
                                         "-6",
                                         "12",
                                         "-30",
                                         "4294967295",
                                         "4294967296",
                                         "-4294967296",
                                         "4611686018427387904",
                                         "9223372036854775807",
                                         "-9223372036854775808",
                                         "9223372036854775808",
                                         "-18446744073709551615",
                                         "18446744073709551615",
                                         "18446744073709551616",
                                         "-18446744073709551617",
                                         "340282366920938463463374607431768211456"};

using Operation = void (*)(mpz_ptr, mpz_srcptr, mpz_srcptr);

// Of a result that has memory or not, of one that is an operand too, and of one that held something long.
void expect_same(Operation ours, Operation gmps, const char* name, bool divides) {
  for (const char* x : values)
    for (const char* y : values) {
      Number a(x), b(y);
      if (divides && mpz_sgn(b.value) == 0) continue;
      if (divides) mpz_mul(a.value, a.value, b.value);
      for (const char* before : {static_cast<const char*>(nullptr), "0", "7", "-18446744073709551615",
                                 "340282366920938463463374607431768211457"}) {
        Number one(before), other(before);
        ours(one.value, a.value, b.value);
        gmps(other.value, a.value, b.value);
        EXPECT_EQ(one.text(), other.text()) << name << " of " << a.text() << " and " << b.text();
      }
      for (const bool second : {false, true}) {
        Number one(second ? b : a), other(second ? b : a);
        ours(one.value, second ? a.value : one.value, second ? one.value : b.value);
        gmps(other.value, second ? a.value : other.value, second ? other.value : b.value);
        EXPECT_EQ(one.text(), other.text()) << name << " in place of " << a.text() << " and " << b.text();
      }
    }
}

TEST(SmallNumbers, AreWhatGmpSays) {
  expect_same(small_numbers::add, gmp::add, "add", false);
  expect_same(small_numbers::sub, gmp::sub, "sub", false);
  expect_same(small_numbers::mul, gmp::mul, "mul", false);
  expect_same(small_numbers::addmul, gmp::addmul, "addmul", false);
  expect_same(small_numbers::submul, gmp::submul, "submul", false);
  expect_same(small_numbers::gcd, gmp::gcd, "gcd", false);
  expect_same(small_numbers::divexact, gmp::divexact, "divexact", true);
}

TEST(SmallNumbers, AreSetAndCompared) {
  for (const long value : {0L, 1L, -1L, 9223372036854775807L, -9223372036854775807L - 1}) {
    Number fresh, used("7");
    for (Number* to : {&fresh, &used}) {
      small_numbers::set_si(to->value, value);
      EXPECT_EQ(to->text(), std::to_string(value));
    }
  }
  for (const char* x : values) {
    Number fresh, used("7"), a(x);
    for (Number* to : {&fresh, &used}) {
      small_numbers::set(to->value, a.value);
      EXPECT_EQ(to->text(), x);
    }
    for (const char* y : values) {
      const Number b(y);
      const int ours = small_numbers::cmpabs(a.value, b.value), gmps = gmp::cmpabs(a.value, b.value);
      EXPECT_EQ(std::pair(ours < 0, ours > 0), std::pair(gmps < 0, gmps > 0)) << x << ", " << y;
      EXPECT_EQ(small_numbers::divisible_p(a.value, b.value) != 0, gmp::divisible_p(a.value, b.value) != 0)
          << x << ", " << y;
    }
  }
}

}  // namespace
}  // namespace sous::client
