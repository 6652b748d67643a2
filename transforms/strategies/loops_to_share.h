// Loops in each other that are handed out to threads together.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "sdfg/schedule_tree.h"

namespace sous::transforms {

// The loop, and those in it that threads had better share together with it, as it may be short (sdfg::shared_together):
// each the only thing in the one before, parallel, and as long whatever those before are at. Of loops that may be long,
// the innermost one is left whole. They end where there is enough for any number of threads. `sizes`: what is known of
// symbols. `parallel`: whether the loop's iterations are independent, temporaries aside, and it sums nothing.
std::vector<std::string> loops_to_share(const sdfg::ScheduleTree& tree, const std::string& outermost,
                                        const std::map<std::string, std::int64_t>& sizes,
                                        const std::function<bool(const std::string&)>& parallel);

}  // namespace sous::transforms
