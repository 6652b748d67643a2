#include "sdfg/parallel_loop.h"

#include <algorithm>

namespace sous::sdfg {

bool has_parallel_loop(const Sdfg& sdfg) {
  bool found = false;
  visit(sdfg.root, [&](const Node& node) {
    const auto* loop = std::get_if<Loop>(&node.value);
    found = found || (loop != nullptr && std::holds_alternative<Parallel>(loop->schedule));
  });
  return found;
}

std::vector<const Loop*> shared_together(const Loop& outermost) {
  std::vector<const Loop*> loops{&outermost};
  const auto is_fixed = [&](const Expr& bound) {
    return bound.reads().empty() && std::ranges::none_of(loops, [&](const Loop* l) { return bound.uses(l->symbol); });
  };
  while (loops.back()->reductions.empty() && loops.back()->body.nodes.size() == 1) {
    const auto* inner = std::get_if<Loop>(&loops.back()->body.nodes[0].value);
    const bool together = inner != nullptr && std::holds_alternative<Parallel>(inner->schedule) &&
                          inner->reductions.empty() && is_fixed(inner->begin) && is_fixed(inner->end);
    if (!together) break;
    loops.push_back(inner);
  }
  return loops;
}

}  // namespace sous::sdfg
