// Questions about sets that were answered are not answered again. Internal to sdfg/.
//
// The accesses of a nest are held against each other for each recipe that copies them, and a recipe is applied more
// than once on its way to being chosen: three of four questions have been asked before.
#pragma once

#include <functional>
#include <string>

#include "sdfg/result.h"

namespace sous::sdfg {

// The answer to what is `asked`, which has to say all that the answer depends on, the budget too; of this thread, which
// keeps the last few thousand. A failure for want of budget is an answer as well.
Result<bool> answered_once(const std::string& asked, const std::function<Result<bool>()>& answer);

}  // namespace sous::sdfg
