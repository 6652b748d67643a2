#include "client/blas_threads.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace sous::client {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "none" : value;
}

// Between the two the environment asks for one thread; afterwards it is what it was.
TEST(BlasThreads, TheEnvironmentIsTheUsersAgain) {
  for (const std::string before : {"none", "7"}) {
    before == "none" ? ::unsetenv("OPENBLAS_NUM_THREADS") : ::setenv("OPENBLAS_NUM_THREADS", before.c_str(), 1);
    forget_spared_blas_threads();
    EXPECT_EQ(variable("OPENBLAS_NUM_THREADS"), before);
    spare_blas_threads();
    EXPECT_EQ(variable("OPENBLAS_NUM_THREADS"), "1");
    forget_spared_blas_threads();
    EXPECT_EQ(variable("OPENBLAS_NUM_THREADS"), before);
    EXPECT_EQ(variable("SOUS_OPENBLAS_NUM_THREADS"), "none");
  }
  ::unsetenv("OPENBLAS_NUM_THREADS");
}

}  // namespace
}  // namespace sous::client
