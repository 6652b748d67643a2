// The routines of BLAS and LAPACK that FAISS names, looked up when one is first called. Vectors that are looked for one
// by one never need them (FAISS multiplies matrices from twenty queries at a time on), and to load OpenBLAS, which most
// machines have, starts its threads and is half of the time in which this program starts: once for each compile.
#include <dlfcn.h>

#include <stdexcept>
#include <string>

namespace {

void* found(const char* library, const char* routine) {
  void* const loaded = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  void* const address = loaded != nullptr ? dlsym(loaded, routine) : nullptr;
  if (address == nullptr) throw std::runtime_error(std::string(library) + " has no " + routine);
  return address;
}

template <class... Arguments>
int forward(void* routine, Arguments... arguments) {
  return reinterpret_cast<int (*)(Arguments...)>(routine)(arguments...);
}

}  // namespace

// As Fortran passes them, all are pointers. NOLINTBEGIN: the names are Fortran's.
extern "C" {
int sgemm_(void* transa, void* transb, void* m, void* n, void* k, void* alpha, void* a, void* lda, void* b, void* ldb,
           void* beta, void* c, void* ldc) {
  static void* const routine = found("libblas.so.3", "sgemm_");
  return forward(routine, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
int sgeqrf_(void* m, void* n, void* a, void* lda, void* tau, void* work, void* lwork, void* info) {
  static void* const routine = found("liblapack.so.3", "sgeqrf_");
  return forward(routine, m, n, a, lda, tau, work, lwork, info);
}
int sorgqr_(void* m, void* n, void* k, void* a, void* lda, void* tau, void* work, void* lwork, void* info) {
  static void* const routine = found("liblapack.so.3", "sorgqr_");
  return forward(routine, m, n, k, a, lda, tau, work, lwork, info);
}
}
// NOLINTEND
