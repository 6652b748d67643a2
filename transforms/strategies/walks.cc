#include "transforms/strategies/walks.h"

#include <algorithm>
#include <cstdlib>

#include "transforms/normal/accesses.h"

namespace sous::transforms {

using sdfg::ScheduleLoop;
using sdfg::ScheduleTree;
using std::string;

namespace {

constexpr double line_bytes = 64;

// A loop as short as this comes back to the lines that it touched when the loop around goes on.
constexpr std::int64_t short_loop = 16;

// What lies side by side: colours, parts of complex numbers, members of small structures.
constexpr std::int64_t most_interleaved = 8;

}  // namespace

double lines(const Nest& nest, const ScheduleTree& tree, const string& innermost) {
  double sum = 0;
  const auto of_statement = [&](const sdfg::ScheduleNode& leaf) {
    for (const normal::TreeAccess& access : normal::accesses_below(nest.scop, {leaf})) {
      const sdfg::Container* container = nest.scop.frame.find(access.memlet.container);
      if (container == nullptr || container->transient) continue;
      const auto stride = normal::byte_stride(nest.scop.frame, access, innermost);
      sum += stride ? std::min(1.0, std::abs(static_cast<double>(*stride)) / line_bytes) : 1;
    }
  };
  for (const sdfg::ScheduleNode& node : tree)
    match(
        node.value,
        [&](const ScheduleLoop& loop) {
          const bool is_short = (loop.end - loop.begin).constant().value_or(short_loop) < short_loop;
          sum += lines(nest, loop.children, is_short && !innermost.empty() ? innermost : loop.symbol);
        },
        [&](const sdfg::ScheduleGuard& guard) { sum += lines(nest, guard.children, innermost); },
        [&](const sdfg::ScheduleLeaf&) { of_statement(node); });
  return sum;
}

std::set<string> taken_apart(const Nest& nest, const ScheduleLoop& loop) {
  std::set<string> arrays;
  for (const sdfg::ScheduleNode& child : loop.children)
    if (!std::holds_alternative<sdfg::ScheduleLeaf>(child.value)) return arrays;
  for (const normal::TreeAccess& access : normal::accesses_below(nest.scop, loop.children)) {
    const sdfg::Container* container = nest.scop.frame.find(access.memlet.container);
    if (access.writes || container == nullptr || container->transient) continue;
    const auto stride = normal::byte_stride(nest.scop.frame, access, loop.symbol);
    const std::int64_t apart = stride ? std::abs(*stride) / info(container->type).bytes : 0;
    if (apart > 1 && apart <= most_interleaved) arrays.insert(access.memlet.container);
  }
  return arrays;
}

}  // namespace sous::transforms
