#include "targets/openmp/openmp.h"

#include "targets/openmp/parallel.h"

namespace sous::targets {

Result<std::string> emit_openmp(const sdfg::Sdfg& sdfg, const EmitOptions& options) {
  return print_function(sdfg, options, Dialect{.openmp = true, .simd = print_omp_simd});
}

}  // namespace sous::targets
