// The library that threads of generated code come from.
#pragma once

#include "targets/target.h"

namespace sous::targets {

extern const Runtime openmp_runtime;

}  // namespace sous::targets
