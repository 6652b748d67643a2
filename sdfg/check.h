// Validation: every rule of the IR that types do not hold, one coded error each (sdfg.*). Run on whatever comes from
// outside and, in tests, between passes.
#pragma once

#include <vector>

#include "sdfg/sdfg.h"

namespace sous::sdfg {

// The first broken rule. docs/errors.md lists the codes.
Result<void> check(const Sdfg& sdfg);
// All of them, in order of place.
std::vector<Error> check_all(const Sdfg& sdfg);

}  // namespace sous::sdfg
