#include "transforms/strategies/walks.h"

#include <algorithm>
#include <cstdlib>

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

std::optional<std::int64_t> elements_between(const sdfg::Memlet& memlet, const sdfg::Container& container,
                                             const string& loop) {
  sdfg::Expr offset(0);
  for (std::size_t d = 0; d < memlet.subset.size(); ++d)
    offset = offset + memlet.subset[d].begin * container.strides[d];
  const auto step = sdfg::coefficient_of(offset, loop);
  return step ? step->constant() : std::nullopt;
}

double lines(const Nest& nest, const ScheduleTree& tree, const string& innermost) {
  double sum = 0;
  const auto of_statement = [&](const sdfg::ScheduleLeaf& leaf) {
    const auto& statement = nest.lifted.statements[static_cast<std::size_t>(leaf.statement)];
    sdfg::for_each_memlet(statement.node, [&](const sdfg::Memlet& memlet, bool) {
      const sdfg::Container* container = nest.lifted.frame.find(memlet.container);
      if (container == nullptr || container->transient) return;
      const auto elements = elements_between(memlet, *container, innermost);
      const double bytes =
          elements ? std::abs(static_cast<double>(*elements)) * info(container->type).bytes : line_bytes;
      sum += std::min(1.0, bytes / line_bytes);
    });
  };
  for (const sdfg::ScheduleNode& node : tree)
    match(
        node.value,
        [&](const ScheduleLoop& loop) {
          const bool is_short = (loop.end - loop.begin).constant().value_or(short_loop) < short_loop;
          sum += lines(nest, loop.children, is_short && !innermost.empty() ? innermost : loop.symbol);
        },
        [&](const sdfg::ScheduleGuard& guard) { sum += lines(nest, guard.children, innermost); }, of_statement);
  return sum;
}

std::set<string> taken_apart(const Nest& nest, const ScheduleLoop& loop) {
  std::set<string> arrays;
  for (const sdfg::ScheduleNode& child : loop.children) {
    const auto* leaf = std::get_if<sdfg::ScheduleLeaf>(&child.value);
    if (leaf == nullptr) return {};
    sdfg::for_each_memlet(nest.lifted.statements[static_cast<std::size_t>(leaf->statement)].node,
                          [&](const sdfg::Memlet& memlet, bool write) {
                            const sdfg::Container* container = nest.lifted.frame.find(memlet.container);
                            if (write || container == nullptr || container->transient) return;
                            const auto step = elements_between(memlet, *container, loop.symbol);
                            if (step && std::abs(*step) > 1 && std::abs(*step) <= most_interleaved)
                              arrays.insert(memlet.container);
                          });
  }
  return arrays;
}

}  // namespace sous::transforms
