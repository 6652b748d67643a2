// Target highway: Parallel loops on OpenMP, Simd loops as Highway vectors for the compiler's -march.
#pragma once

#include "targets/target.h"

namespace sous::targets {

Result<std::string> emit_highway(const sdfg::Sdfg& sdfg, const EmitOptions& options);

}  // namespace sous::targets
