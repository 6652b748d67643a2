#include "client/number_pool.h"

#include <gmp.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "client/effort.h"

namespace sous::client {
namespace {

std::string factorial(unsigned n) {
  mpz_t product;
  mpz_init_set_ui(product, 1);
  for (unsigned k = 2; k <= n; ++k) mpz_mul_ui(product, product, k);  // grows from one word to many
  std::string text(mpz_sizeinbase(product, 10) + 2, '\0');
  mpz_get_str(text.data(), 10, product);
  mpz_clear(product);
  return text.c_str();
}

class NumberPool : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const unsigned n : sizes) plain.push_back(factorial(n));
    pool_numbers();
  }
  void TearDown() override { mp_set_memory_functions(nullptr, nullptr, nullptr); }
  const std::vector<unsigned> sizes = {0, 1, 20, 21, 34, 110, 112, 113, 200, 1000};
  std::vector<std::string> plain;
};

TEST_F(NumberPool, NumbersGrowAndShrink) {
  for (int again = 0; again < 3; ++again)
    for (std::size_t k = 0; k < sizes.size(); ++k) EXPECT_EQ(factorial(sizes[k]), plain[k]);
  // All at once: none shares its memory with another.
  std::vector<__mpz_struct> numbers(20'000);
  for (std::size_t k = 0; k < numbers.size(); ++k) mpz_init_set_ui(&numbers[k], k);
  for (std::size_t k = 0; k < numbers.size(); ++k) mpz_mul_2exp(&numbers[k], &numbers[k], k % 700);
  for (std::size_t k = 0; k < numbers.size(); ++k) {
    mpz_fdiv_q_2exp(&numbers[k], &numbers[k], k % 700);
    mpz_realloc2(&numbers[k], 64);
    EXPECT_EQ(mpz_cmp_ui(&numbers[k], k), 0);
    mpz_clear(&numbers[k]);
  }
}

TEST_F(NumberPool, WhatIsTakenIsTheEffort) {
  const std::uint64_t before = numbers_taken();
  const Effort little(20), much(1'000'000);
  EXPECT_FALSE(little.spent());
  factorial(113);
  const std::uint64_t once = numbers_taken() - before;
  EXPECT_GT(once, 0u);
  factorial(113);
  EXPECT_EQ(numbers_taken() - before, 2 * once);
  for (int k = 0; k < 20; ++k) factorial(113);
  EXPECT_TRUE(little.spent());
  EXPECT_FALSE(much.spent());
}

TEST_F(NumberPool, EachThreadHasItsOwn) {
  std::vector<std::thread> threads;
  std::vector<__mpz_struct> handed(4);
  for (std::size_t t = 0; t < handed.size(); ++t) {
    threads.emplace_back([&, t] {
      for (int again = 0; again < 200; ++again) EXPECT_EQ(factorial(113), plain[7]);
      mpz_init_set_ui(&handed[t], t);
    });
  }
  for (auto& thread : threads) thread.join();
  // What a thread leaves behind outlives it, and is freed by another.
  for (std::size_t t = 0; t < handed.size(); ++t) {
    EXPECT_EQ(mpz_cmp_ui(&handed[t], t), 0);
    mpz_clear(&handed[t]);
  }
}

}  // namespace
}  // namespace sous::client
