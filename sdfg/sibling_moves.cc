#include "sdfg/sibling_moves.h"

#include <algorithm>
#include <limits>
#include <map>

#include "sdfg/planted_fault.h"

namespace sous::sdfg {
namespace {

// The place of each statement's leaf among all of them; nullopt: one has several.
std::optional<std::map<int, std::size_t>> places_in(const ScheduleTree& tree) {
  std::map<int, std::size_t> places;
  bool once = true;
  for_each_leaf(
      tree, [&](const ScheduleLeaf& leaf) { once = places.try_emplace(leaf.statement, places.size()).second && once; });
  return once ? std::optional(std::move(places)) : std::nullopt;
}

// What stands side by side in the order of these places.
ScheduleTree sorted(ScheduleTree tree, const std::map<int, std::size_t>& places) {
  std::multimap<std::size_t, ScheduleNode> nodes;
  for (ScheduleNode& node : tree) {
    if (ScheduleTree* below = children(node)) *below = sorted(std::move(*below), places);
    std::size_t first = std::numeric_limits<std::size_t>::max();
    for_each_leaf({node}, [&](const ScheduleLeaf& leaf) { first = std::min(first, places.at(leaf.statement)); });
    nodes.emplace(first, std::move(node));
  }
  ScheduleTree result;
  for (auto& [place, node] : nodes) result.push_back(std::move(node));
  return result;
}

}  // namespace

bool moves_only_unrelated(const Dependences::Data& data, const ScheduleTree& legal, const ScheduleTree& tree) {
  const auto before = places_in(legal), after = places_in(tree);
  const auto same_statement = [](const auto& one, const auto& other) { return one.first == other.first; };
  if (!before || !after || !std::ranges::equal(*before, *after, same_statement)) return false;
  if (sorted(tree, *before) != legal) return false;
  if (planted(Fault::moved_past_related)) return true;
  // What stands side by side does so with all that is in it: two statements are in the order of their leaves, wherever
  // the loops around both are in one iteration.
  return std::ranges::all_of(data.dependences, [&](const Dependence& d) {
    const auto s = before->find(d.source), t = before->find(d.target);
    if (s == before->end() || t == before->end()) return true;
    return (s->second < t->second) == (after->at(d.source) < after->at(d.target));
  });
}

}  // namespace sous::sdfg
