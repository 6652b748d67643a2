// Target openmp: Parallel loops on OpenMP, Simd loops as `omp simd`.
#pragma once

#include "targets/target.h"

namespace sous::targets {

Result<std::string> emit_openmp(const sdfg::Sdfg& sdfg, const EmitOptions& options);

}  // namespace sous::targets
