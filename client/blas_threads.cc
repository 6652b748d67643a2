#include "client/blas_threads.h"

#include <cstdlib>
#include <string>

namespace sous::client {
namespace {

constexpr const char* threads = "OPENBLAS_NUM_THREADS";
constexpr const char* users = "SOUS_OPENBLAS_NUM_THREADS";  // what the user said of them, nothing where that is empty

}  // namespace

void spare_blas_threads() {
  const char* said = std::getenv(threads);
  ::setenv(users, said == nullptr ? "" : said, 1);
  ::setenv(threads, "1", 1);
}

void forget_spared_blas_threads() {
  const char* said = std::getenv(users);
  if (said == nullptr) return;
  const std::string before = said;
  before.empty() ? ::unsetenv(threads) : ::setenv(threads, before.c_str(), 1);
  ::unsetenv(users);
}

}  // namespace sous::client
