#include "transforms/strategies/fusion.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <set>

#include "transforms/strategies/loops_to_share.h"
#include "transforms/strategies/walks.h"

namespace sous::transforms {
namespace {

using sdfg::ScheduleLoop;
using sdfg::ScheduleTree;
using std::string;

// Iterations by which ranges may differ at an end: what is not there runs under a guard.
constexpr std::int64_t most_apart = 4;

// Lines of memory that iterations touch, after loops were interchanged, for each that they touched before.
constexpr double most_lines = 2;

// Elements of an array of which each thread has a copy to sum in.
constexpr std::int64_t most_copied = 4096;

// So much may stand between two loops that become neighbours.
constexpr std::size_t most_between = 4;

// By how much `b` has to be delayed so that its range is that of `a` but for at most `apart` iterations at each end, or
// that both begin together and are equally long; nullopt: that is not known, or not so.
struct Shift {
  std::int64_t by = 0;
  bool aligned = false;
};
std::optional<Shift> shift_of(const ScheduleLoop& a, const ScheduleLoop& b, std::int64_t apart) {
  if (a.step != 1 || b.step != 1) return std::nullopt;
  const auto begin = (a.begin - b.begin).constant(), end = (a.end - b.end).constant();
  if (begin && end && std::abs(*begin - *end) <= apart) return Shift{.by = *end};
  if (a.end - a.begin == b.end - b.begin && sdfg::affine(a.begin - b.begin)) return Shift{.aligned = true};
  return std::nullopt;
}

// Statements of a window around an element: clang 19 writes out loops of 300 instructions, a sum of products takes
// five.
constexpr double most_written_out = 64;

// The loop that is the only thing inside, null if there is none.
const ScheduleLoop* only_inside(const ScheduleLoop& loop) {
  return loop.children.size() == 1 ? std::get_if<ScheduleLoop>(&loop.children[0].value) : nullptr;
}

class Fuser {
 public:
  Fuser(const Nest& nest, const StepContext& context) : nest_(nest), context_(context) {}

  Result<Fusion> run() {
    TRY_VOID(level("", true));
    std::ranges::reverse(fusion_.fused);  // found from the outside in
    for (const string& loop : fusion_.parallel)
      fusion_.together[loop] = loops_to_share(nest_.tree, loop, context_.sizes, [&](const string& one) {
        const auto free = independent(nest_, one, context_, "strategy.carried");
        return free && free->reductions.empty();
      });
    return std::move(fusion_);
  }

 private:
  // Fuses what stands directly inside `around` ("": at the top), then what is inside that. `outside`: no loop around is
  // parallel.
  Result<void> level(const string& around, bool outside) {
    if (outside) TRY_VOID(outwards(around));
    TRY_VOID(fuse_inside(around, outside));
    bool blocks = false;
    for (const string& loop : loops_inside(around)) {
      bool parallel = false;
      if (outside) {
        TRY(parallel, is_parallel(nest_, loop));
      }
      if (parallel) fusion_.parallel.push_back(loop);
      TRY_VOID(level(loop, outside && !parallel));
      if (!outside || parallel) continue;
      TRY(const bool went, blocks_outwards(loop));
      blocks = blocks || went;
    }
    if (!blocks) return {};
    TRY_VOID(fuse_inside(around, true));
    for (const string& loop : loops_inside(around))
      if (fusion_.past.contains(loop) && fusion_.parts.contains(loop)) TRY_VOID(fuse_inside(loop, false));
    return {};
  }

  Result<void> fuse_inside(const string& around, bool outside) {
    TRY(bool again, fuse_once_inside(around, outside));
    while (again) {
      TRY(again, fuse_once_inside(around, outside));
    }
    return {};
  }

  // Whether some were fused behind others, which may share something with what these are now, or be near enough.
  Result<bool> fuse_once_inside(const string& around, bool outside) {
    bool behind = false;
    for (std::size_t k = 0; k + 1 < inside(around).size();) {
      TRY(auto next, next_as_one(around, k, outside));
      if (!next) {
        ++k;
        continue;
      }
      behind = behind || k > 0;
      nest_.tree = std::move(next->tree);
      auto& parts = fusion_.parts[next->first];
      if (parts.empty()) fusion_.fused.push_back(next->first);
      parts.push_back(next->second);
      std::erase(fusion_.parallel, next->second);
      std::erase(fusion_.fused, next->second);
      fusion_.steps.insert(fusion_.steps.end(), next->steps.begin(), next->steps.end());
    }
    return behind;
  }

  std::vector<string> loops_inside(const string& around) const {
    std::vector<string> loops;
    for (const sdfg::ScheduleNode& node : inside(around))
      if (const auto* loop = std::get_if<ScheduleLoop>(&node.value)) loops.push_back(loop->symbol);
    return loops;
  }

  // Where all that is inside of the loop is one that is parallel, tiles of that go past it.
  Result<bool> blocks_outwards(const string& loop) {
    const ScheduleLoop* only = only_inside(*sdfg::find_loop(nest_.tree, loop));
    if (only == nullptr || fusion_.parallel.empty() || fusion_.parallel.back() != only->symbol) return false;
    std::vector<StepCall> steps;
    string blocks = only->symbol;
    Nest one = nest_;
    if (!fusion_.past.contains(blocks)) {
      steps.push_back({"tile",
                       {{"loops", std::vector{blocks}},
                        {"sizes", std::vector{Fusion::some_columns}},
                        {"count", string("numbers")}}});
      TRY(const bool tiled, applied(one, steps));
      if (!tiled) return false;
      blocks = only_inside(*sdfg::find_loop(one.tree, loop))->symbol;
    }
    const StepCall last{"interchange", {{"outer", loop}, {"inner", blocks}}};
    steps.push_back(last);
    TRY(const bool legal, applied(one, {last}));
    if (!legal) return false;
    nest_.tree = std::move(one.tree);
    fusion_.steps.insert(fusion_.steps.end(), steps.begin(), steps.end());
    fusion_.parallel.back() = blocks;
    fusion_.past[blocks] = loop;
    return true;
  }

  // The first parallel loop of each band directly inside `around` becomes the band's outermost.
  Result<void> outwards(const string& around) {
    for (std::size_t k = 0; k < inside(around).size(); ++k) {
      std::vector<string> band;
      bool parallel = false;
      for (const auto* loop = std::get_if<ScheduleLoop>(&inside(around)[k].value); loop != nullptr && !parallel;
           loop = only_inside(*loop)) {
        band.push_back(loop->symbol);
        TRY(parallel, is_parallel(nest_, loop->symbol));
      }
      if (!parallel || band.size() < 2) continue;
      Nest one = nest_;
      TRY(const bool wanted, interchanged(one, band));
      if (!wanted) continue;
      const auto steps = last_goes_first(band);
      nest_.tree = std::move(one.tree);
      fusion_.steps.insert(fusion_.steps.end(), steps.begin(), steps.end());
    }
    return {};
  }

  static std::vector<StepCall> last_goes_first(const std::vector<string>& band) {
    std::vector<StepCall> steps;
    for (std::size_t at = band.size() - 1; at > 0; --at)
      steps.push_back({"interchange", {{"outer", band[at - 1]}, {"inner", band.back()}}});
    return steps;
  }

  // Whether the interchanges apply, of a band of which the last loop goes first, and bring little more from memory.
  Result<bool> interchanged(Nest& nest, const std::vector<string>& band) const {
    TRY(const bool legal, applied(nest, last_goes_first(band)));
    const auto of = [](const Nest& one, const string& outermost) {
      return lines(one, sdfg::find_loop(one.tree, outermost)->children, outermost);
    };
    return legal && of(nest, band.back()) <= most_lines * of(nest_, band.front());
  }

  // Whether all of these apply; the nest is changed as far as they do.
  Result<bool> applied(Nest& nest, const std::vector<StepCall>& steps) const {
    for (const StepCall& step : steps) {
      const auto plan = find_step(step.step)->plan(nest, step, context_);
      if (!plan && plan.error().code.starts_with("isl.")) return std::unexpected(plan.error());
      if (!plan) return false;
      nest.tree = plan->tree();
    }
    return true;
  }

  // Two loops, and the steps that make them neighbours and fuse them, in this order.
  struct Fused {
    string first, second;
    std::vector<StepCall> steps;
    ScheduleTree tree;
  };

  // One of the loops that follow the k-th node, with that; nullopt if there is none to be wanted.
  Result<std::optional<Fused>> next_as_one(const string& around, std::size_t k, bool outside) const {
    const ScheduleTree& sequence = inside(around);
    const auto* a = std::get_if<ScheduleLoop>(&sequence[k].value);
    if (a == nullptr) return std::nullopt;
    for (std::size_t between = 0; between <= most_between && k + 1 + between < sequence.size(); ++between) {
      // Of a band, one that is not the outermost goes there if a temporary is handed to it, or a window's first values.
      std::vector<string> band;
      for (const auto* b = std::get_if<ScheduleLoop>(&sequence[k + 1 + between].value); b != nullptr;
           b = only_inside(*b)) {
        band.push_back(b->symbol);
        const auto shift = shift_of(*a, *b, outside ? most_apart : 0);
        const bool moves = between > 0 || band.size() > 1;
        const bool wanted = shares(a->symbol, b->symbol, moves && !is_window(band, between)) ||
                            (!moves && (outside || sum_beside(*a, *b) || take_apart_the_same(*a, *b)));
        if (!shift || (outside && shift->aligned) || !wanted) continue;
        TRY(auto one, as_one(a->symbol, band, *shift, between, outside));
        if (one) return one;
      }
    }
    return std::nullopt;
  }

  const ScheduleTree& inside(const string& around) const {
    return around.empty() ? nest_.tree : sdfg::find_loop(nest_.tree, around)->children;
  }

  // The loop and the last one of the band made one, nullopt if that is not wanted.
  Result<std::optional<Fused>> as_one(const string& first, const std::vector<string>& band, Shift shift,
                                      std::size_t between, bool outside) const {
    Fused pair{first, band.back(), last_goes_first(band), {}};
    Nest one = nest_;
    TRY(const bool there, interchanged(one, band));
    if (!there) return std::nullopt;
    const auto apply = [&](const StepCall& call) {
      pair.steps.push_back(call);
      return applied(one, {call});
    };
    for (std::size_t k = 0; k < between; ++k) {
      TRY(bool moved, apply({"reorder", {{"loop", pair.second}}}));
      if (!moved) {
        pair.steps.pop_back();
        TRY(moved, apply({"reorder", {{"loop", pair.first}, {"to", string("behind")}}}));
      }
      if (!moved) return std::nullopt;
    }
    StepCall fuse{"fuse", {{"first", pair.first}, {"second", pair.second}}};
    if (shift.by != 0) fuse.params["shift"] = shift.by;
    if (shift.aligned) fuse.params["align"] = string("begin");
    TRY(const bool fused, apply(fuse));
    if (!fused) return std::nullopt;
    TRY(bool wanted, is_parallel(one, pair.first));
    // Outside, no work that was parallel is put into a loop that is not; but first values are.
    const bool spares = shares(pair.first, pair.second, true) && (!outside || sets_values_only(pair.first));
    const bool beside = !outside && band.size() == 1 && between == 0 && sum_beside(loop(pair.first), loop(pair.second));
    if (!wanted && (spares || beside)) {
      TRY(wanted, carries_no_more(pair, one.tree));
    }
    if (!wanted) return std::nullopt;
    pair.tree = std::move(one.tree);
    return pair;
  }

  const ScheduleLoop& loop(const string& symbol) const { return *sdfg::find_loop(nest_.tree, symbol); }

  // Whether all loops of the band but the last one, and those inside of that, are a few iterations together, which
  // compilers write out: what they add to stays in a register if they are inside of the last one.
  bool is_window(const std::vector<string>& band, std::size_t between) const {
    return band.size() > 1 && between == 0 && iterations(loop(band.front()), band.back()) <= most_written_out;
  }
  // Of the loops from here on, `except` counting as one.
  static double iterations(const ScheduleLoop& loop, const string& except) {
    const auto trips = (loop.end - loop.begin).constant();
    double inside = 0;
    for (const sdfg::ScheduleNode& child : loop.children) {
      const auto* inner = std::get_if<ScheduleLoop>(&child.value);
      inside += inner != nullptr ? iterations(*inner, except) : 1;
    }
    return inside * (loop.symbol == except ? 1 : trips ? static_cast<double>(*trips) : INFINITY);
  }

  // Whether both read some elements in so many of the same array, as colours that lie side by side: the lanes of
  // vectors are sorted out of the same lines, once if the loops are one.
  bool take_apart_the_same(const ScheduleLoop& a, const ScheduleLoop& b) const {
    const auto taken = taken_apart(nest_, a);
    return std::ranges::any_of(taken_apart(nest_, b), [&](const string& array) { return taken.contains(array); });
  }
  // Whether both hold nothing but what each iteration hands on to the next by a single float: chains that overlap.
  bool sum_beside(const ScheduleLoop& a, const ScheduleLoop& b) const {
    const auto sums = [&](const ScheduleLoop& loop) {
      return std::ranges::all_of(loop.children, [&](const sdfg::ScheduleNode& child) {
        const auto* leaf = std::get_if<sdfg::ScheduleLeaf>(&child.value);
        if (leaf == nullptr) return false;
        bool in_place = false;
        sdfg::for_each_memlet(nest_.scop.statements[static_cast<std::size_t>(leaf->statement)].node,
                              [&](const sdfg::Memlet& memlet, bool write) {
                                const sdfg::Container* container = nest_.scop.frame.find(memlet.container);
                                const bool stays = std::ranges::none_of(
                                    memlet.subset, [&](const sdfg::Expr& d) { return d.uses(loop.symbol); });
                                in_place =
                                    in_place || (write && stays && container != nullptr && is_float(container->type));
                              });
        return in_place;
      });
    };
    return sums(a) && sums(b);
  }

  bool sets_values_only(const string& loop) const { return touched_in(loop).read.empty(); }

  Result<bool> is_parallel(const Nest& nest, const string& loop) const {
    const auto free = independent(nest, loop, context_, "strategy.carried");
    if (!free && free.error().code != "strategy.carried") return std::unexpected(free.error());
    return free && sums_little(nest, *free);
  }

  // Whether the second looks at something that the first writes; at a temporary, if only these count.
  bool shares(const string& first_loop, const string& second_loop, bool temporaries) const {
    const auto second = touched_in(second_loop);
    return std::ranges::any_of(touched_in(first_loop).written, [&](const string& name) {
      const sdfg::Container* container = nest_.scop.frame.find(name);
      return (second.read.contains(name) || second.written.contains(name)) && container != nullptr &&
             (container->transient || !temporaries);
    });
  }

  Result<bool> carries_no_more(const Fused& pair, const ScheduleTree& as_one) const {
    std::set<int> before;
    for (const string& loop : {pair.first, pair.second}) {
      TRY(const auto carried, sdfg::carried_by(nest_.dependences, nest_.scop, nest_.tree, loop));
      for (const sdfg::Carried& c : carried) before.insert(c.dependence);
    }
    TRY(const auto carried, sdfg::carried_by(nest_.dependences, nest_.scop, as_one, pair.first));
    return std::ranges::all_of(carried, [&](const sdfg::Carried& c) { return before.contains(c.dependence); });
  }

  sdfg::Touched touched_in(const string& loop) const {
    sdfg::Region region;
    sdfg::for_each_leaf(sdfg::find_loop(nest_.tree, loop)->children, [&](const sdfg::ScheduleLeaf& leaf) {
      region.nodes.push_back(nest_.scop.statements[static_cast<std::size_t>(leaf.statement)].node);
    });
    return sdfg::touched(region);
  }

  Nest nest_;
  const StepContext& context_;
  Fusion fusion_;
};

}  // namespace

bool sums_little(const Nest& nest, const Independence& independence) {
  return std::ranges::all_of(independence.reductions, [&](const sdfg::Reduction& reduction) {
    std::int64_t elements = 1;
    for (const sdfg::Expr& extent : nest.scop.frame.find(reduction.container)->shape) {
      const std::int64_t known = std::max<std::int64_t>(1, extent.constant().value_or(most_copied + 1));
      elements = known > most_copied / elements ? most_copied + 1 : elements * known;
    }
    return elements <= most_copied;
  });
}

Result<Fusion> fusion_of(const Nest& nest, const StepContext& context) { return Fuser(nest, context).run(); }

}  // namespace sous::transforms
