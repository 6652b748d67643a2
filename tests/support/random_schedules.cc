// random_schedules of random_nest.h.
#include <functional>

#include "sdfg/check.h"
#include "sdfg/dependences.h"
#include "tests/support/random.h"
#include "tests/support/random_nest.h"

namespace sous::tests {
namespace {

using namespace sdfg;

void for_each_loop(Region& region, const std::function<void(Loop&)>& f) {
  for (Node& node : region.nodes) {
    match(
        node.value, [](State&) {},
        [&](Loop& loop) {
          f(loop);
          for_each_loop(loop.body, f);
        },
        [&](If& branch) {
          for_each_loop(branch.then_body, f);
          for_each_loop(branch.else_body, f);
        },
        [&](While& loop) { for_each_loop(loop.body, f); });
  }
}

int mentions(const Region& region, const std::string& container) {
  int count = 0;
  visit(region, [&](const Node& node) {
    const auto* state = std::get_if<State>(&node.value);
    if (state == nullptr) return;
    for (const Edge& edge : state->edges) count += edge.memlet.container == container ? 1 : 0;
  });
  return count;
}

// The transients that nothing outside of the loop touches.
std::vector<std::string> only_inside(const Sdfg& sdfg, const Loop& loop) {
  std::vector<std::string> names;
  for (const Container& container : sdfg.containers) {
    const int inside = mentions(loop.body, container.name);
    if (container.transient && inside > 0 && inside == mentions(sdfg.root, container.name)) {
      names.push_back(container.name);
    }
  }
  return names;
}

// The interpreter compares two orders, which give the same where threads would lose updates: s = s + x.
bool may_be_parallel(const Sdfg& sdfg, const std::string& symbol) {
  const Scop scop = scop_of(sdfg);
  if (find_loop(scop.tree, symbol) == nullptr) return false;
  const auto dependences = Dependences::compute(scop);
  return dependences && respects(*dependences, scop, scop.tree);
}

Schedule any_schedule(Random& random) {
  switch (random.below(4)) {
    case 0:
      return Parallel{static_cast<int>(random.below(3)), static_cast<int>(random.below(3)),
                      random.percent(50) ? ParallelKind::Static : ParallelKind::Dynamic};
    case 1:
      return Unroll{static_cast<int>(random.between(2, 4))};
    case 2:
      return Simd{random.percent(50) ? 0 : 4};
    default:
      return Simd{0};
  }
}

}  // namespace

sdfg::Sdfg random_schedules(const sdfg::Sdfg& sdfg, std::uint64_t seed) {
  Random random(seed);
  Sdfg result = sdfg;
  std::vector<std::string> loops;
  for_each_loop(result.root, [&](Loop& loop) { loops.push_back(loop.symbol); });
  for (const std::string& symbol : loops) {
    if (random.percent(40)) continue;
    Sdfg changed = result;
    Schedule schedule;
    for_each_loop(changed.root, [&](Loop& loop) {
      if (loop.symbol != symbol) return;
      schedule = loop.schedule = any_schedule(random);
      if (!std::holds_alternative<Unroll>(loop.schedule)) loop.privates = only_inside(sdfg, loop);
    });
    bool good = check(changed).has_value();
    if (good && std::holds_alternative<Parallel>(schedule)) good = may_be_parallel(changed, symbol);
    for (const std::uint64_t memory_seed : memory_seeds) {
      Memory memory = random_memory(sdfg, memory_seed);
      good = good && interpret(changed, memory).has_value();
    }
    if (good) result = std::move(changed);
  }
  return result;
}

}  // namespace sous::tests
