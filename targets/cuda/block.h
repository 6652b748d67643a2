// Blocks whose threads meet: loops over threads stand one behind the other, in loops and conditions that all threads
// run alike, and what is private to the block is memory that its threads share, or a place for each of them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sdfg/sdfg.h"

namespace sous::targets {

// Threads of a block by dimension.
using Threads = std::array<std::int64_t, 3>;
// What a launch takes in a block.
constexpr std::int64_t most_threads = 1024, most_threads_z = 64;

// A perfect band of loops over threads.
struct Band {
  std::vector<const sdfg::Loop*> loops;  // outermost first
  const sdfg::Region* body = nullptr;
  // Of each dimension, if that is known; 1 where the band has none.
  std::optional<Threads> trips() const;
};
int dimension_of(const sdfg::Loop& loop);
bool is_grid(const sdfg::Loop& loop);
bool is_thread(const sdfg::Loop& loop);
Band band_of(const sdfg::Loop& loop);
bool has_threads(const sdfg::Node& node);

// A kernel in which threads meet.
struct Meeting {
  std::vector<const sdfg::Loop*> blocks;  // its loops over blocks
  const sdfg::Region* body = nullptr;     // of the innermost
  std::set<std::string> own;              // private to a block, a place for each thread
  // Those of the first band that touches what is a thread's own, else of the largest that does more than copy.
  Threads threads{1, 1, 1};
  // In a further dimension, each of so many threads: the first line are those, the others help with what all share. Few
  // threads, each with a sum of its own, would not ask for as much at a time as memory can bring.
  std::int64_t lines = 1;
  Threads launched() const { return {threads[0], threads[1] * lines, threads[2]}; }
};
// `loop`: a loop over blocks that no other is around. Nullopt: its threads never meet.
std::optional<Meeting> meeting_of(const sdfg::Sdfg& sdfg, const sdfg::Loop& loop);
// Errors: target.unsupported.
Result<void> check_meeting(const sdfg::Sdfg& sdfg, const Meeting& meeting);

// The graph with what threads have of their own without the subscripts that say which thread it is: a variable of each.
// Errors: target.unsupported.
Result<sdfg::Sdfg> with_own_places(const sdfg::Sdfg& sdfg);

}  // namespace sous::targets
