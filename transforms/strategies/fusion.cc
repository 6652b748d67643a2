#include "transforms/strategies/fusion.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <set>

namespace sous::transforms {
namespace {

using sdfg::ScheduleLoop;
using sdfg::ScheduleTree;
using std::string;

// Iterations by which ranges may differ at an end: what is not there runs under a guard.
constexpr std::int64_t most_apart = 4;

// By how much `b` has to be delayed so that its range is that of `a` but for at most `apart` iterations at each end;
// nullopt: that is not known, or not so.
std::optional<std::int64_t> shift_of(const ScheduleLoop& a, const ScheduleLoop& b, std::int64_t apart) {
  if (a.step != 1 || b.step != 1) return std::nullopt;
  const auto begin = (a.begin - b.begin).constant(), end = (a.end - b.end).constant();
  if (!begin || !end || std::abs(*begin - *end) > apart) return std::nullopt;
  return *end;
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
      const auto shift =
          a != nullptr && b != nullptr ? shift_of(*a, *b, outside ? most_apart : 0) : std::optional<std::int64_t>();
      std::optional<ScheduleTree> tree;
      Fusion::Pair pair;
      if (shift) {
        pair = {a->symbol, b->symbol, *shift};
        TRY(tree, as_one(pair, outside));
      }
      if (!tree) {
        ++k;
        continue;
      }
      nest_.tree = std::move(*tree);
      if (fused.insert(pair.first).second) fusion_.fused.push_back(pair.first);
      fusion_.pairs.push_back(std::move(pair));
    }
    std::vector<string> loops;
    for (const sdfg::ScheduleNode& node : inside(around))
      if (const auto* loop = std::get_if<ScheduleLoop>(&node.value)) loops.push_back(loop->symbol);
    for (const string& loop : loops) {
      bool parallel = false;
      if (outside) {
        TRY(parallel, is_parallel(nest_, loop));
      }
      if (parallel) fusion_.parallel.push_back(loop);
      TRY_VOID(level(loop, outside && !parallel));
    }
    return {};
  }

  const ScheduleTree& inside(const string& around) const {
    return around.empty() ? nest_.tree : sdfg::find_loop(nest_.tree, around)->children;
  }

  // The tree with the two fused, nullopt if that is not wanted.
  Result<std::optional<ScheduleTree>> as_one(const Fusion::Pair& pair, bool outside) const {
    const bool hands_on = outside || shares(pair, false);
    if (!hands_on) return std::nullopt;
    const StepCall call{"fuse", {{"first", pair.first}, {"second", pair.second}, {"shift", pair.shift}}};
    const auto plan = find_step("fuse")->plan(nest_, call, context_);
    if (!plan && plan.error().code.starts_with("isl.")) return std::unexpected(plan.error());
    if (!plan) return std::nullopt;
    Nest one = nest_;
    one.tree = plan->tree();
    TRY(bool wanted, is_parallel(one, pair.first));
    // Outside, no work that was parallel is put into a loop that is not; but first values are.
    const bool spares = shares(pair, true) && (!outside || sets_values_only(pair.first));
    if (!wanted && spares) {
      TRY(wanted, carries_no_more(pair, one.tree));
    }
    return wanted ? std::optional(std::move(one.tree)) : std::nullopt;
  }

  bool sets_values_only(const string& loop) const { return touched_in(loop).read.empty(); }

  Result<bool> is_parallel(const Nest& nest, const string& loop) const {
    const auto free = independent(nest, loop, context_, "strategy.carried");
    if (!free && free.error().code != "strategy.carried") return std::unexpected(free.error());
    return free.has_value();
  }

  // Whether the second looks at something that the first writes; at a temporary, if only these count.
  bool shares(const Fusion::Pair& pair, bool temporaries) const {
    const auto second = touched_in(pair.second);
    return std::ranges::any_of(touched_in(pair.first).written, [&](const string& name) {
      const sdfg::Container* container = nest_.lifted.frame.find(name);
      return (second.read.contains(name) || second.written.contains(name)) && container != nullptr &&
             (container->transient || !temporaries);
    });
  }

  Result<bool> carries_no_more(const Fusion::Pair& pair, const ScheduleTree& as_one) const {
    std::set<int> before;
    for (const string& loop : {pair.first, pair.second}) {
      TRY(const auto carried, sdfg::carried_by(nest_.dependences, nest_.lifted, nest_.tree, loop));
      for (const sdfg::Carried& c : carried) before.insert(c.dependence);
    }
    TRY(const auto carried, sdfg::carried_by(nest_.dependences, nest_.lifted, as_one, pair.first));
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
