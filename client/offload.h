// Nests for a GPU that nobody has measured.
#pragma once

#include "client/choose.h"

namespace sous::client {

// By the strategies for GPUs, on every nest of the stretch, without evidence: for who names the target. A nest that
// none of them takes leaves the whole where it is: it would run in one thread.
Chosen offload(const Question& question);

}  // namespace sous::client
