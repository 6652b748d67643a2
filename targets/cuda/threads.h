// Loops over blocks and over threads, as kernels run them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "targets/cpp/printer.h"
#include "targets/cuda/block.h"

namespace sous::targets {

// Loops whose iterations are shared out: each block, or thread, strides from its own (`own`, by dimension) by the
// number of `all`.
void print_strided(Printer& printer, const std::vector<const sdfg::Loop*>& loops, const std::string& own,
                   const std::string& all, const std::function<void()>& inside, std::size_t at = 0);

// What a block runs whose threads meet, with the barriers between them.
void print_meeting(Printer& printer, const Meeting& meeting);

}  // namespace sous::targets
