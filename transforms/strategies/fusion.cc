#include "transforms/strategies/fusion.h"

#include <algorithm>
#include <set>

namespace sous::transforms {
namespace {

using sdfg::ScheduleLoop;
using sdfg::ScheduleTree;
using std::string;

bool same_range(const ScheduleLoop& a, const ScheduleLoop& b) {
  return a.step == 1 && b.step == 1 && a.begin == b.begin && a.end == b.end;
}

class Fuser {
 public:
  Fuser(const Nest& nest, const StepContext& context) : nest_(nest), context_(context) {}

  Result<Fusion> run() {
    TRY_VOID(level("", true));
    std::ranges::reverse(fusion_.fused);  // found from the outside in
    return std::move(fusion_);
  }

 private:
  // Fuses what stands directly inside `around` ("": at the top), then what is inside that. `outside`: no loop around is
  // parallel.
  Result<void> level(const string& around, bool outside) {
    std::set<string> fused;
    for (std::size_t k = 0; k + 1 < inside(around).size();) {
      const auto* a = std::get_if<ScheduleLoop>(&inside(around)[k].value);
      const auto* b = std::get_if<ScheduleLoop>(&inside(around)[k + 1].value);
      bool fits = a != nullptr && b != nullptr && same_range(*a, *b);
      if (fits) {
        const string first = a->symbol, second = b->symbol;
        TRY(fits, outside ? is_parallel_as_one(first, second) : spares_a_temporary(first, second));
        if (fits) {
          nest_.tree = as_one(first, second);
          fusion_.pairs.emplace_back(first, second);
          if (fused.insert(first).second) fusion_.fused.push_back(first);
        }
      }
      if (!fits) ++k;
    }
    std::vector<string> loops;
    for (const sdfg::ScheduleNode& node : inside(around))
      if (const auto* loop = std::get_if<ScheduleLoop>(&node.value)) loops.push_back(loop->symbol);
    for (const string& loop : loops) {
      bool parallel = false;
      if (outside) {
        const auto free = independent(nest_, loop, context_, "strategy.carried");
        if (!free && free.error().code != "strategy.carried") return std::unexpected(free.error());
        parallel = free.has_value();
      }
      if (parallel) fusion_.parallel.push_back(loop);
      TRY_VOID(level(loop, outside && !parallel));
    }
    return {};
  }

  const ScheduleTree& inside(const string& around) const {
    return around.empty() ? nest_.tree : sdfg::find_loop(nest_.tree, around)->children;
  }

  ScheduleTree as_one(const string& first, const string& second) const {
    ScheduleTree tree = nest_.tree;
    const auto [sequence, at] = sdfg::owner_of(tree, first);
    auto& a = std::get<ScheduleLoop>((*sequence)[at].value);
    const auto& b = std::get<ScheduleLoop>((*sequence)[at + 1].value);
    for (sdfg::ScheduleNode& node : sdfg::substitute(b.children, {{second, sdfg::Expr::symbol(first)}}))
      a.children.push_back(std::move(node));
    sequence->erase(sequence->begin() + static_cast<std::ptrdiff_t>(at) + 1);
    return tree;
  }

  Result<bool> is_parallel_as_one(const string& first, const string& second) const {
    Nest one = nest_;
    one.tree = as_one(first, second);
    const auto free = independent(one, first, context_, "strategy.carried");
    if (!free && free.error().code != "strategy.carried") return std::unexpected(free.error());
    return free.has_value();
  }

  Result<bool> spares_a_temporary(const string& first, const string& second) const {
    std::set<string> handed_on = touched_in(first).written;
    const auto looked_at = touched_in(second).read;
    std::erase_if(handed_on, [&](const string& name) {
      const sdfg::Container* container = nest_.lifted.frame.find(name);
      return !looked_at.contains(name) || container == nullptr || !container->transient;
    });
    if (handed_on.empty()) return false;
    std::set<int> before;
    for (const string& loop : {first, second}) {
      TRY(const auto carried, sdfg::carried_by(nest_.dependences, nest_.lifted, nest_.tree, loop));
      for (const sdfg::Carried& c : carried) before.insert(c.dependence);
    }
    TRY(const auto carried, sdfg::carried_by(nest_.dependences, nest_.lifted, as_one(first, second), first));
    return std::ranges::all_of(carried, [&](const sdfg::Carried& c) { return before.contains(c.dependence); });
  }

  sdfg::Touched touched_in(const string& loop) const {
    sdfg::Region region;
    sdfg::for_each_leaf(sdfg::find_loop(nest_.tree, loop)->children, [&](const sdfg::ScheduleLeaf& leaf) {
      region.nodes.push_back(nest_.lifted.statements[static_cast<std::size_t>(leaf.statement)].node);
    });
    return sdfg::touched(region);
  }

  Nest nest_;
  const StepContext& context_;
  Fusion fusion_;
};

}  // namespace

Result<Fusion> fusion_of(const Nest& nest, const StepContext& context) { return Fuser(nest, context).run(); }

}  // namespace sous::transforms
