// Target cpp: everything in order, readable.
#pragma once

#include "targets/target.h"

namespace sous::targets {

Result<std::string> emit_cpp(const sdfg::Sdfg& sdfg, const EmitOptions& options);

}  // namespace sous::targets
