// Nests where a GPU is offered (--target cuda).
#pragma once

#include "client/choose.h"

namespace sous::client {

// By the strategies for GPUs, on every nest of the stretch, without evidence. A nest that none of them takes leaves the
// whole where it is: it would run in one thread.
Chosen offload(const Question& question);

// What stands in Chosen::why ahead of the reason.
inline constexpr std::string_view not_offered = "; not offered to the GPU: ";

struct Offering {
  bool all = false;         // whatever can run there does so (--offload=all)
  bool each_call = true;    // the entry decides on each call; otherwise this build, for good: what a lock file pins
  bool by_strategy = true;  // what no source knows is offloaded by strategy
};
// What is known to gain there, or expected to (client/offer.h), goes to the GPU, and beside it what is best for the
// CPU; what is not, to the CPU alone. `question`: of the GPU's target. What a lock file pins is used as it is.
Chosen choose_where(const Question& question, const Offering& offering);

}  // namespace sous::client
