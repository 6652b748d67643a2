// Arithmetic of integers of one machine word, in the place of GMP's for all sizes: next to all of isl's are such, and
// GMP's own functions, which first find out how long their operands are and then loop over words, were a third of what
// it takes to prove recipes.
//
// The program is linked so that what isl calls are these (client/CMakeLists.txt, `--wrap`): where an operand or the
// result is longer, or has no memory yet, GMP does it. isl's other way to small integers, its imath, is chosen where
// isl is built, and Debian's is not built so. Where isl is a shared library, nothing changes.
#pragma once

#include <gmp.h>

// Each line: what GMP calls it, what it returns, and its parameters.
#define SOUS_SMALL_NUMBERS(X)                        \
  X(set, void, mpz_ptr, mpz_srcptr)                  \
  X(set_si, void, mpz_ptr, long)                     \
  X(add, void, mpz_ptr, mpz_srcptr, mpz_srcptr)      \
  X(sub, void, mpz_ptr, mpz_srcptr, mpz_srcptr)      \
  X(mul, void, mpz_ptr, mpz_srcptr, mpz_srcptr)      \
  X(addmul, void, mpz_ptr, mpz_srcptr, mpz_srcptr)   \
  X(submul, void, mpz_ptr, mpz_srcptr, mpz_srcptr)   \
  X(divexact, void, mpz_ptr, mpz_srcptr, mpz_srcptr) \
  X(gcd, void, mpz_ptr, mpz_srcptr, mpz_srcptr)      \
  X(cmpabs, int, mpz_srcptr, mpz_srcptr)             \
  X(divisible_p, int, mpz_srcptr, mpz_srcptr)

// `small_numbers::NAME` is what stands in the place of `mpz_NAME`, `gmp::NAME` GMP's own.
#define SOUS_DECLARE(name, result, ...)                 \
  namespace small_numbers {                             \
  result name(__VA_ARGS__) asm("__wrap___gmpz_" #name); \
  }                                                     \
  namespace gmp {                                       \
  result name(__VA_ARGS__) asm("__real___gmpz_" #name); \
  }

namespace sous::client {
SOUS_SMALL_NUMBERS(SOUS_DECLARE)
}  // namespace sous::client
#undef SOUS_DECLARE
