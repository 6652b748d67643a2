// The threads of a GPU's block, cut apart at a loop that all of them run: what they do ahead of it, in it and behind it
// become loops over threads of their own, with a barrier between them, and the loop stands around the one in the
// middle. (The loops of work items that compilers of OpenCL for CPUs make around each barrier-free part of a kernel.)
//
// Condition. Threads are independent of each other, as their schedule says, so any order that keeps each thread's own
// is one of theirs. A thread's own order stays: ahead of the loop, its iterations, behind it. The loop's bounds are the
// same in all threads; conditions around it are asked again in each part, and nothing in the block may change what they
// read. What a thread keeps from one part to another, or from one iteration of the loop to the next, gets a place for
// each thread.
#pragma once

#include <string>
#include <vector>

#include "transforms/normal/util.h"
#include "transforms/step.h"

namespace sous::transforms {

struct ThreadPhases {
  sdfg::Loop* block = nullptr;       // the innermost loop over blocks, in the graph
  std::vector<sdfg::Loop*> threads;  // outermost first
  const sdfg::Region& of_thread() const { return threads.back()->body; }
};

// The kernel around the loop, all loops between its threads and this one gone: those that run once at most are, as
// conditions. Errors: `stage.place`, `stage.bounds`.
Result<ThreadPhases> phases_around(const Nest& nest, sdfg::Sdfg& sdfg, const std::string& loop);

// Gives each thread a place of its own for what it keeps. Errors: `stage.private`.
Result<void> keep_in_threads(sdfg::Sdfg& sdfg, ThreadPhases& phases, const std::string& loop);

// The parts, each in loops over the threads: those of the middle one have their names, the others' new ones.
struct PhaseBodies {
  std::vector<sdfg::Node> before, behind;  // none where there is nothing to do
  sdfg::Node inside;                       // the loop, in the conditions around it
};
PhaseBodies phase_bodies(const ThreadPhases& phases, const std::string& loop, normal::Names& names);

}  // namespace sous::transforms
