// Cooperation of a block's threads: what one block of a GPU computes is more than its threads' separate iterations;
// they share out the parallel loops inside, one after the other, and wait for each other in between. So a panel of a
// factorization, whose columns follow each other, runs in one launch.
//
// Condition. The iterations of the loops are independent, as in `offload`; and so are those of each loop that threads
// share out, in every iteration of what is around it. What neither is, one thread runs. Loops over threads that stand
// one behind the other are apart (docs/decisions/023): the order of everything else is as it was. Of two that are
// inside of each other, the inner one may begin elsewhere in each iteration of the outer one: they change places. What
// is private to an iteration is its block's: memory that its threads share, of a known size, but for what is private to
// an iteration of the threads' loops and touched nowhere else.
#include <algorithm>
#include <set>
#include <tuple>

#include "sdfg/trips.h"
#include "transforms/interchange_bounds.h"
#include "transforms/normal/util.h"
#include "transforms/simplify.h"
#include "transforms/step.h"

namespace sous::transforms {

using sdfg::Expr;
using sdfg::ScheduleLoop;
using sdfg::ScheduleNode;
using sdfg::ScheduleTree;

namespace {

constexpr std::int64_t most_threads = 1024, most_shared_bytes = std::int64_t{48} * 1024;

ScheduleLoop loop_over(const std::string& symbol, const Expr& begin, const Expr& end, const sdfg::Schedule& schedule) {
  ScheduleLoop loop;
  loop.symbol = symbol;
  loop.begin = begin;
  loop.end = end;
  loop.schedule = schedule;
  return loop;
}

// How many statements below touch the container.
std::size_t touches(const sdfg::Scop& scop, const ScheduleTree& tree, const std::string& container) {
  std::size_t count = 0;
  sdfg::for_each_leaf(tree, [&](const sdfg::ScheduleLeaf& leaf) {
    const auto& node = scop.statements[static_cast<std::size_t>(leaf.statement)].node;
    count += normal::containers_of(node).contains(container) ? 1 : 0;
  });
  return count;
}

// Shares out what is inside a block.
class Sharing {
 public:
  Sharing(const Nest& nest, std::int64_t down, std::int64_t across)
      : nest_(nest), names_(nest.tree), down_(down), across_(across) {}

  Result<ScheduleTree> tree(const ScheduleTree& nodes) {
    ScheduleTree result, alone;
    const auto flush = [&] {
      if (!alone.empty()) result.push_back(one_thread(std::exchange(alone, {})));
    };
    for (const ScheduleNode& node : nodes) {
      TRY(const bool shares, is_shared_out(node));
      if (!shares) {
        alone.push_back(node);
        continue;
      }
      flush();
      if (const auto* guard = std::get_if<sdfg::ScheduleGuard>(&node.value)) {
        sdfg::ScheduleGuard inside = *guard;
        TRY(inside.children, tree(guard->children));
        result.emplace_back(std::move(inside));
        continue;
      }
      const auto& loop = std::get<ScheduleLoop>(node.value);
      TRY(const auto free, free_of(loop));
      if (free) {
        TRY(ScheduleLoop band, in_threads(loop));
        result.emplace_back(std::move(band));
        continue;
      }
      ScheduleLoop inside = loop;
      of_block_.insert(loop.privates.begin(), loop.privates.end());
      inside.privates.clear();
      TRY(inside.children, tree(loop.children));
      result.emplace_back(std::move(inside));
    }
    flush();
    return result;
  }

  // Private to loops that all threads run.
  const std::set<std::string>& of_block() const { return of_block_; }
  // Private to iterations that threads share out, with the first loop of each such band.
  const std::multimap<std::string, std::string>& of_threads() const { return of_threads_; }
  bool any() const { return any_; }

 private:
  // The loop's independence, where it has one and no sum.
  Result<std::optional<Independence>> free_of(const ScheduleLoop& loop) {
    if (const auto known = free_.find(loop.symbol); known != free_.end()) return known->second;
    std::optional<Independence> result;
    if (is_sequential(loop) && loop.step > 0 && loop.reductions.empty()) {
      auto free = independent(nest_, loop.symbol, {}, "meet.carried");
      if (!free && free.error().code != "meet.carried") return std::unexpected(free.error());
      if (free && free->reductions.empty()) result = std::move(*free);
    }
    free_[loop.symbol] = result;
    return result;
  }

  // Whether threads share out the loop, or one inside.
  Result<bool> is_shared_out(const ScheduleNode& node) {
    const ScheduleTree* children = nullptr;
    if (const auto* guard = std::get_if<sdfg::ScheduleGuard>(&node.value)) children = &guard->children;
    if (const auto* loop = std::get_if<ScheduleLoop>(&node.value)) {
      TRY(const auto free, free_of(*loop));
      if (free) return true;
      if (is_sequential(*loop) && loop->reductions.empty()) children = &loop->children;
    }
    if (children == nullptr) return false;
    for (const ScheduleNode& child : *children) {
      TRY(const bool inside, is_shared_out(child));
      if (inside) return true;
    }
    return false;
  }

  // What no loop is parallel in, or that stands beside such.
  ScheduleNode one_thread(ScheduleTree nodes) {
    ScheduleLoop one = loop_over(fresh("one"), 0, 1, sdfg::GpuBlock{0});
    one.children = std::move(nodes);
    return one;
  }

  // Loops that threads share out together, outermost first.
  struct Band {
    std::vector<ScheduleLoop> loops;
    ScheduleTree inside;
    Independence own;
    bool swapped = false;  // the outer one is the inner one of the nest
  };
  Result<Band> band_from(const ScheduleLoop& first) {
    Band band{.loops = {first}, .inside = first.children, .own = *free_[first.symbol]};
    const auto* next = first.children.size() == 1 ? std::get_if<ScheduleLoop>(&first.children[0].value) : nullptr;
    if (next == nullptr) return band;
    TRY(const auto free, free_of(*next));
    if (!free) return band;
    ScheduleLoop outer = first, inner = *next;
    if (inner.begin.uses(first.symbol)) {
      // Where a thread begins is the same for all iterations of the other loop.
      const auto bounds = exchanged_bounds({first.symbol, first.begin, first.end, first.step},
                                           {inner.symbol, inner.begin, inner.end, inner.step});
      if (!bounds || (*bounds)[1].first.uses(inner.symbol)) return band;
      std::swap(outer, inner);
      std::tie(outer.begin, outer.end) = (*bounds)[0];
      std::tie(inner.begin, inner.end) = (*bounds)[1];
      band.swapped = true;
    }
    band.own.privates.insert(band.own.privates.end(), free->privates.begin(), free->privates.end());
    band.inside = next->children;
    band.loops = {std::move(outer), std::move(inner)};
    return band;
  }

  // Thread t of T takes the iterations t, t + T, …; the threads' loops stand around those that count them.
  Result<ScheduleLoop> in_threads(const ScheduleLoop& first) {
    TRY(Band band, band_from(first));
    std::vector<ScheduleLoop> threads, points;
    for (std::size_t k = 0; k < band.loops.size(); ++k) {
      ScheduleLoop& point = band.loops[k];
      const bool down = band.loops.size() > 1 && (k == 0) != band.swapped;
      const std::int64_t count = band.loops.size() == 1 ? down_ * across_ : down ? down_ : across_;
      sdfg::Loop whole = sdfg::counted(point.symbol, point.begin, point.end);
      whole.step = point.step;
      const bool one_each = sdfg::most_trips(whole).value_or(count + 1) <= count;
      ScheduleLoop thread = loop_over(fresh(point.symbol + "_m"), point.begin, point.begin + Expr(count * point.step),
                                      sdfg::GpuBlock{down ? 1 : 0});
      thread.step = point.step;
      band.own.privates.insert(band.own.privates.end(), point.privates.begin(), point.privates.end());
      point.privates.clear();
      point.begin = Expr::symbol(thread.symbol);
      if (one_each)
        point.end = Expr::min(point.end, point.begin + Expr(point.step));
      else
        point.step *= count;
      threads.push_back(std::move(thread));
      points.push_back(std::move(point));
    }
    band.own.add_to(points.back());
    for (const std::string& name : points.back().privates) of_threads_.emplace(name, first.symbol);
    any_ = true;
    return std::get<ScheduleLoop>(nested(std::move(threads), nested(std::move(points), band.inside))[0].value);
  }

  std::string fresh(const std::string& wish) {
    const std::string symbol = sdfg::fresh_symbol(nest_.scop, names_, wish);
    names_.emplace_back(loop_over(symbol, 0, 1, sdfg::Sequential{}));
    return symbol;
  }

  const Nest& nest_;
  ScheduleTree names_;                // the loops that there are
  const std::int64_t down_, across_;  // threads
  std::map<std::string, std::optional<Independence>> free_;
  std::set<std::string> of_block_;
  std::multimap<std::string, std::string> of_threads_;
  bool any_ = false;
};

}  // namespace

struct Meet {
  static constexpr std::string_view name = "meet";
  static constexpr std::string_view summary =
      "Runs each iteration of a perfect band of parallel loops in one block of a GPU, whose threads share out the "
      "parallel loops inside, one loop after the other, and wait for each other in between. What is private to an "
      "iteration is memory that they share. What is not parallel one of them runs.";
  static constexpr std::string_view before =
      "for i:\n"
      "  for k:\n"
      "    for j: S(i, k, j)\n"
      "    for j2: T(i, k, j2)";
  static constexpr std::string_view after =
      "grid(x) i:\n"
      "  for k:\n"
      "    block(x) j_m in [0, 64): for j = j_m in steps of 64: S(i, k, j)\n"
      "    block(x) j2_m in [0, 64): for j2 = j2_m in steps of 64: T(i, k, j2)";
  static constexpr std::string_view names =
      "All loops keep their names; the loop over the threads that share out j is j_m (j_m2 if that is taken, and so "
      "on).";
  static constexpr std::int64_t size_values[] = {32, 16, 64, 8, 128, 256, 4, 1};
  static constexpr std::int64_t pad_values[] = {1, 0, 2};

  std::vector<LoopRef> loops;
  Size down, across;
  std::int64_t pad = 1;
  static constexpr auto params = std::tuple{
      param(&Meet::loops, {.name = "loops",
                           .doc = "the band, outermost first; each iteration is a block",
                           .most = 3,
                           .relation = Relation::Band,
                           .refusal = "meet.not-nested"}),
      param(&Meet::down, {.name = "down",
                          .doc = "threads that share out the outer one of two parallel loops inside of each other",
                          .low = 1,
                          .high = most_threads,
                          .values = size_values}),
      param(&Meet::across, {.name = "across",
                            .doc = "threads that share out the inner one; a single loop is for down times across",
                            .low = 1,
                            .high = most_threads,
                            .values = size_values}),
      param(&Meet::pad, {.name = "pad",
                         .doc = "elements between the rows of what is shared, so that threads in a column meet "
                                "different banks",
                         .low = 0,
                         .high = 64,
                         .values = pad_values,
                         .default_value = 1}),
  };
  static constexpr RefusalInfo refusals[] = {
      {"meet.no-loop", "a loop does not exist"},
      {"meet.not-nested", "the loops are not a perfect band"},
      {"meet.scheduled",
       "a loop of the band is not sequential any more, or one around it or inside runs on the GPU already"},
      {"meet.step", "a loop of the band runs backwards"},
      {"meet.carried", "a loop of the band carries a dependence that is no temporary's"},
      {"meet.nothing", "no loop inside is parallel"},
      {"meet.threads", "a block would have more than 1024 threads"},
      {"meet.private",
       "what is private to an iteration has no known size, or takes more than 48 KiB, or is private to a thread in one "
       "place and touched in another"},
  };

  Result<Plan> plan(const Nest& nest, const StepContext&) const {
    if (down.value * across.value > most_threads)
      return fail("meet.threads", "a block would have too many threads", loops[0].name);
    TRY_VOID(may_be_kernel(nest, loops, "meet.scheduled"));
    std::vector<ScheduleLoop> band;
    std::set<std::string> of_block;
    for (std::size_t k = 0; k < loops.size(); ++k) {
      band.push_back(loop_of(nest, loops[k]));
      if (band[k].step < 0) return fail("meet.step", "loop " + loops[k].name + " runs backwards", loops[k].name);
      TRY(const Independence one, independent(nest, loops[k].name, {}, "meet.carried"));
      if (!one.reductions.empty())
        return fail("meet.carried", "its iterations combine into " + one.reductions[0].container, loops[k].name);
      of_block.insert(one.privates.begin(), one.privates.end());
      of_block.insert(band[k].privates.begin(), band[k].privates.end());
      band[k].privates.clear();
      band[k].schedule = sdfg::GpuGrid{static_cast<int>(loops.size() - 1 - k)};
    }
    // What a block runs it runs where the band has an iteration: bounds inside need not say so again.
    sdfg::Surroundings inside(nest.scop, sdfg::around(nest.tree, loops[0].name));
    for (const ScheduleLoop& loop : band) inside.enter(loop);
    const ScheduleTree body = simplified(band.back().children, inside);
    Sharing sharing(nest, down.value, across.value);
    TRY(ScheduleTree shared_out, sharing.tree(body));
    if (!sharing.any()) return fail("meet.nothing", "no loop in " + loops.back().name + " is parallel", loops[0].name);
    of_block.insert(sharing.of_block().begin(), sharing.of_block().end());
    TRY_VOID(leave_to_threads(nest, body, sharing.of_threads(), of_block));
    band.back().privates.assign(of_block.begin(), of_block.end());
    ScheduleTree tree = nest.tree;
    auto [sequence, at] = sdfg::owner_of(tree, loops[0].name);
    (*sequence)[at] = nested(std::move(band), std::move(shared_out))[0];
    TRY(const Plan order, prove(nest, tree, "meet.carried", loops[0].name));
    sdfg::Sdfg result = sdfg::lower(nest.scop, tree);
    TRY_VOID(share(result, of_block));
    return restructure(order, Equivalent(result));
  }

 private:
  // What is private to the iterations of threads' loops is no block's, if nothing else touches it.
  static Result<void> leave_to_threads(const Nest& nest, const ScheduleTree& body,
                                       const std::multimap<std::string, std::string>& of_threads,
                                       std::set<std::string>& of_block) {
    for (const auto& [name, band] : of_threads) {
      of_block.erase(name);
      const ScheduleTree inside{*sdfg::find_loop(nest.tree, band)};
      if (of_threads.count(name) > 1 || touches(nest.scop, inside, name) != touches(nest.scop, body, name))
        return fail("meet.private", "'" + name + "' is a thread's own in more than one place", name);
    }
    return {};
  }

  Result<void> share(sdfg::Sdfg& sdfg, const std::set<std::string>& of_block) const {
    std::int64_t bytes = 0;
    for (const std::string& name : of_block) {
      sdfg::Container& c = *sdfg.find(name);
      std::int64_t elements = 1;
      std::vector<std::int64_t> strides(c.shape.size());
      for (std::size_t d = c.shape.size(); d-- > 0;) {
        strides[d] = elements;
        const auto extent = c.shape[d].constant();
        const bool row = d + 1 == c.shape.size() && d > 0;
        if (!extent || *extent < 1 || __builtin_mul_overflow(elements, *extent + (row ? pad : 0), &elements))
          return fail("meet.private", "nobody knows how large '" + name + "' is", name);
      }
      if (__builtin_mul_overflow(elements, static_cast<std::int64_t>(sdfg::info(c.type).bytes), &elements) ||
          (bytes += std::min(elements, most_shared_bytes + 1)) > most_shared_bytes)
        return fail("meet.private", "what is private to an iteration takes more than 48 KiB", name);
      c.strides.assign(strides.begin(), strides.end());
      c.storage = sdfg::Storage::device_shared;
    }
    return {};
  }
};

constinit const StepInfo meet_step = declare<Meet>();

}  // namespace sous::transforms
