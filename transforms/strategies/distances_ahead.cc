// Loops that read what later iterations write, at a distance by data: knapsacks and sums of subsets in one row, from
// the last element down. All lanes read before any of them writes. And those that read other rows of what they write at
// such a distance, the same in a table: no compiler tells these rows apart.
#include <algorithm>

#include "sdfg/one_sided.h"
#include "transforms/strategies/strategy.h"
#include "transforms/strategies/writing.h"

namespace sous::transforms {
namespace {

constexpr RefusalInfo refusals[] = {
    {"distances-ahead.none",
     "no innermost loop reads, at a distance by data, what later iterations write or other rows of it"},
};

// Truth values are masks in vectors, which take longer to load and to store than compilers take to test one.
bool writes_truths(const sdfg::Sdfg& frame, const sdfg::Loop& loop) {
  return std::ranges::any_of(sdfg::touched(loop.body).written, [&](const std::string& name) {
    return frame.find(name)->type == sdfg::ElementType::boolean;
  });
}

Result<std::vector<OpenRecipe>> write(const NestFacts& nest) {
  const sdfg::Sdfg& frame = nest.nest()->scop.frame;
  std::string vectors;
  bool ahead = false;
  sdfg::visit(sdfg::lower(nest.nest()->scop, nest.nest()->tree).root, [&](const sdfg::Node& node) {
    const auto* loop = std::get_if<sdfg::Loop>(&node.value);
    if (loop == nullptr || !nest.has(loop->symbol) || !nest.is_innermost(loop->symbol)) return;
    const std::set<std::string> by = sdfg::distances_ahead(*loop);
    const bool parallel = nest.loop(loop->symbol).parallel;
    if (writes_truths(frame, *loop)) return;
    const bool later = !by.empty() && std::ranges::all_of(by, [&](const std::string& name) {
      return sdfg::is_natural(*frame.find(name));
    });
    ahead = ahead || later || (parallel && sdfg::is_at_data_distance(*loop));
    if (parallel || later) vectors += call("vectorize", "loop=" + loop->symbol);
  });
  if (!ahead)
    return fail("distances-ahead.none",
                "no innermost loop reads, at a distance by data, what later iterations write or other rows of it");
  std::string threads;
  for (const std::string& loop : nest.outermost_parallel())
    if (!nest.is_innermost(loop)) threads += call("parallelize", "loop=" + loop + ", kind=$kind");
  std::vector<OpenRecipe> result;
  if (!threads.empty()) result.push_back({recipe_of(threads + vectors), {{"kind", {"static", "dynamic"}}}});
  result.push_back({recipe_of(vectors), {}});
  return result;
}

}  // namespace

constinit const StrategyInfo distances_ahead_strategy = {
    .name = "distances_ahead",
    .summary = "vectors in loops that read what only later iterations write, at a distance by data",
    .source = "Allen, Kennedy 1987",
    .refusals = refusals,
    .write = write,
    .frees_loops = true};

}  // namespace sous::transforms
