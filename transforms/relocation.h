// Moving data: for as long as a loop runs, or in each of its iterations, a container or a part of it has another place.
//
// That is what `pack`, `promote`, `register_tile`, `expand`, `privatize`, `stage` and `preserve` do, with these
// differences:
//
//                   the part that moves         layout             storage         read in   written back
//   pack            what a tile of loops reads  panels             heap            yes       no
//   promote         what an iteration touches   its bounding box   stack or heap   if read   if seen outside
//   register_tile   a tile of the result        the tile           registers       if read   yes
//   expand          all of it                   one per iteration  heap            no        if seen outside
//   privatize       all of it                   as it is           stack or heap   no        if seen outside
//   stage           what a block's threads read one per iteration  shared by them  yes       no
//   preserve        old values that are read    one per iteration  heap            yes       no
//
// Each proves the same three things of its part, on the elements: what is read in is what is read, what is written back
// is what is written, and nothing else touches it meanwhile. What carries the move out is here.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "transforms/footprints.h"
#include "transforms/step.h"

namespace sous::transforms {

// What is around a loop in a nest: symbols that are constants there; the nest's assumptions are among the guards.
Around around_loop(const Nest& nest, const std::string& symbol);
Around inside_loop(const Nest& nest, const std::string& symbol);

// Whether all that touches the container inside the loop are memlets: no bound, subscript, private or reduction; and
// nothing that is written there may share memory with what it is accessed for there.
bool is_alone(const sdfg::Sdfg& sdfg, const sdfg::Loop& loop, const std::string& container);
// Whether the container's contents matter to others than the loop: it is neither transient nor dead, or touched by more
// than the nodes inside the loop.
bool is_seen_outside(const sdfg::Sdfg& sdfg, const sdfg::LoopPlace& loop, const std::string& container);

// The subset in the new place of what is accessed through this one; nullopt: that stays.
using Moved = std::function<std::optional<sdfg::Subset>(const sdfg::Subset&)>;
// Adds a place, of which each iteration of `owner` has its own; null: the nest has one.
void add_place(sdfg::Sdfg& sdfg, sdfg::Loop* owner, sdfg::Container place);
// And accesses of `from` in the region become accesses of it. An access node may serve memlets of both kinds: those
// that move get a node of their own.
void relocate(sdfg::Sdfg& sdfg, sdfg::Loop* owner, sdfg::Region& region, const std::string& from, sdfg::Container place,
              const Moved& moved);

// `body` in these loops, the first one outermost.
std::vector<sdfg::Node> in_loops(const std::vector<sdfg::Loop>& loops, std::vector<sdfg::Node> body);
// `body` where all of the conditions hold.
std::vector<sdfg::Node> where(const std::vector<sdfg::ScalarExpr>& conditions, std::vector<sdfg::Node> body);

// What copies into and out of new places.
struct Copies {
  std::vector<sdfg::Node> in, out;
  // Around `count` nodes of the region, from `at` on.
  void put(sdfg::Region& region, std::size_t at, std::size_t count) const;
};

}  // namespace sous::transforms
