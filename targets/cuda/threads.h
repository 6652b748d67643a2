// Loops over blocks and over threads, as kernels run them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "targets/cpp/printer.h"
#include "targets/cuda/block.h"

namespace sous::targets {

// The only iteration that a block, or thread, may have of a loop: there are as many of them as iterations.
struct OnlyIteration {
  std::string number;             // its text; empty: there may be several
  std::optional<sdfg::Expr> end;  // what it must not reach to be one; nullopt: it is one
};

// Loops whose iterations are shared out: each block, or thread, strides from its own (`own`, of a loop) by the number
// of `all`, by dimension; or has its only one, where nothing is left of the loop to keep count of.
void print_strided(Printer& printer, const std::vector<const sdfg::Loop*>& loops,
                   const std::function<std::string(const sdfg::Loop&)>& own, const std::string& all,
                   const std::function<OnlyIteration(const sdfg::Loop&)>& only, const std::function<void()>& inside,
                   std::size_t at = 0);
std::string own_thread(const sdfg::Loop& loop);

// What a block runs whose threads meet, with the barriers between them.
void print_meeting(Printer& printer, const Meeting& meeting);

}  // namespace sous::targets
