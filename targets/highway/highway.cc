#include "targets/highway/highway.h"

#include "targets/highway/vector_loop.h"

namespace sous::targets {

Result<std::string> emit_highway(const sdfg::Sdfg& sdfg, const EmitOptions& options) {
  return print_function(sdfg, options, Dialect{.openmp = true, .simd = print_vector_loop});
}

}  // namespace sous::targets
