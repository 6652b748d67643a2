#include "client/small_numbers.h"

#include <bit>
#include <cstdint>
#include <cstdlib>
#include <utility>

namespace sous::client {
namespace {

static_assert(sizeof(mp_limb_t) == sizeof(std::uint64_t) && GMP_NAIL_BITS == 0);

// GMP's form: the size is that of the magnitude in words, negative for a negative number; 0 has none.
bool is_small(mpz_srcptr x) { return static_cast<unsigned>(x->_mp_size + 1) <= 2; }
bool has_room(mpz_srcptr x) { return x->_mp_alloc > 0; }
std::uint64_t magnitude(mpz_srcptr x) { return x->_mp_size == 0 ? 0 : x->_mp_d[0]; }

void put(mpz_ptr to, std::uint64_t magnitude, int sign) {
  to->_mp_d[0] = magnitude;
  to->_mp_size = magnitude == 0 ? 0 : sign;
}

// to = a + sign * magnitude; false: it is not small.
bool add_to(mpz_ptr to, mpz_srcptr a, std::uint64_t magnitude_b, int sign_b) {
  const std::uint64_t magnitude_a = magnitude(a);
  const int sign_a = a->_mp_size;
  if (sign_a == 0 || sign_a == sign_b) {
    std::uint64_t sum = 0;
    if (__builtin_add_overflow(magnitude_a, magnitude_b, &sum)) return false;
    put(to, sum, sign_b);
  } else if (magnitude_a >= magnitude_b) {
    put(to, magnitude_a - magnitude_b, sign_a);
  } else {
    put(to, magnitude_b - magnitude_a, sign_b);
  }
  return true;
}

// to += a * b, or -= for `sign` -1. Most of what isl multiplies is 0.
bool add_product(mpz_ptr to, mpz_srcptr a, mpz_srcptr b, int sign) {
  if (a->_mp_size == 0 || b->_mp_size == 0) return true;
  std::uint64_t product = 0;
  return has_room(to) && is_small(to) && is_small(a) && is_small(b) &&
         !__builtin_mul_overflow(magnitude(a), magnitude(b), &product) &&
         add_to(to, to, product, sign * a->_mp_size * b->_mp_size);
}

// Stein's: no division.
std::uint64_t greatest_divisor(std::uint64_t a, std::uint64_t b) {
  if (a == 0 || b == 0) return a | b;
  const int twos = std::countr_zero(a | b);
  a >>= std::countr_zero(a);
  while (b != 0) {
    b >>= std::countr_zero(b);
    if (a > b) std::swap(a, b);
    b -= a;
  }
  return a << twos;
}

}  // namespace

namespace small_numbers {

void set(mpz_ptr to, mpz_srcptr a) {
  if (!has_room(to) || !is_small(a)) return gmp::set(to, a);
  put(to, magnitude(a), a->_mp_size);
}

void set_si(mpz_ptr to, long value) {
  if (!has_room(to)) return gmp::set_si(to, value);
  const auto bits = static_cast<std::uint64_t>(value);
  put(to, value < 0 ? -bits : bits, value < 0 ? -1 : 1);
}

void add(mpz_ptr to, mpz_srcptr a, mpz_srcptr b) {
  if (has_room(to) && is_small(a) && is_small(b) && add_to(to, a, magnitude(b), b->_mp_size)) return;
  gmp::add(to, a, b);
}

void sub(mpz_ptr to, mpz_srcptr a, mpz_srcptr b) {
  if (has_room(to) && is_small(a) && is_small(b) && add_to(to, a, magnitude(b), -b->_mp_size)) return;
  gmp::sub(to, a, b);
}

void mul(mpz_ptr to, mpz_srcptr a, mpz_srcptr b) {
  std::uint64_t product = 0;
  if (!has_room(to) || !is_small(a) || !is_small(b) || __builtin_mul_overflow(magnitude(a), magnitude(b), &product))
    return gmp::mul(to, a, b);
  put(to, product, a->_mp_size * b->_mp_size);
}

void addmul(mpz_ptr to, mpz_srcptr a, mpz_srcptr b) {
  if (!add_product(to, a, b, 1)) gmp::addmul(to, a, b);
}

void submul(mpz_ptr to, mpz_srcptr a, mpz_srcptr b) {
  if (!add_product(to, a, b, -1)) gmp::submul(to, a, b);
}

void divexact(mpz_ptr to, mpz_srcptr a, mpz_srcptr b) {
  if (!has_room(to) || !is_small(a) || b->_mp_size == 0 || !is_small(b)) return gmp::divexact(to, a, b);
  const std::uint64_t divisor = magnitude(b);
  put(to, divisor == 1 ? magnitude(a) : magnitude(a) / divisor, a->_mp_size * b->_mp_size);
}

void gcd(mpz_ptr to, mpz_srcptr a, mpz_srcptr b) {
  if (!has_room(to) || !is_small(a) || !is_small(b)) return gmp::gcd(to, a, b);
  put(to, greatest_divisor(magnitude(a), magnitude(b)), 1);
}

int cmpabs(mpz_srcptr a, mpz_srcptr b) {
  if (!is_small(a) || !is_small(b)) return gmp::cmpabs(a, b);
  const std::uint64_t x = magnitude(a), y = magnitude(b);
  return x == y ? 0 : x < y ? -1 : 1;
}

int divisible_p(mpz_srcptr a, mpz_srcptr b) {
  if (!is_small(a) || b->_mp_size == 0 || !is_small(b)) return gmp::divisible_p(a, b);
  const std::uint64_t divisor = magnitude(b);
  return divisor == 1 || magnitude(a) % divisor == 0 ? 1 : 0;
}

}  // namespace small_numbers
}  // namespace sous::client
