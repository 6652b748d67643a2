// Direction and order of loops by their strides: see orient_loops and minimize_strides in passes.h.
#include <algorithm>
#include <numeric>

#include "transforms/interchange_bounds.h"
#include "transforms/normal/accesses.h"
#include "transforms/normal/passes.h"
#include "transforms/normal/util.h"
#include "transforms/simplify.h"
#include "transforms/step.h"

namespace sous::transforms::normal {

using namespace sdfg;

namespace {

// A stride beyond a cache line costs a line each time, however long it is. Not linear: as bad.
constexpr std::int64_t line = 64, far = 1000;

// What a loop would cost at one position: the sum over accesses of the stride in bytes, beyond a line `far`; ties are
// decided by the true sum, then by what is written.
struct Cost {
  std::int64_t clamped = 0, full = 0, written = 0;
};
Cost cost_of(const Sdfg& frame, const std::vector<TreeAccess>& accesses, const std::string& symbol) {
  Cost cost;
  for (const TreeAccess& access : accesses) {
    const auto stride = byte_stride(frame, access, symbol);
    const std::int64_t bytes = stride ? std::min(std::abs(*stride), std::int64_t{1} << 40) : far;
    cost.clamped += bytes > line ? far : bytes;
    cost.full += bytes;
    if (access.writes) cost.written += bytes;
  }
  return cost;
}

using Permutation = std::vector<std::size_t>;  // from the outermost position: which loop of the band

// All permutations (of a small band), best first.
std::vector<Permutation> ranked(const std::vector<Cost>& costs) {
  Permutation permutation(costs.size());
  std::iota(permutation.begin(), permutation.end(), std::size_t{0});
  std::vector<std::pair<std::vector<std::int64_t>, Permutation>> all;
  do {
    std::vector<std::int64_t> score;
    for (const auto part : {&Cost::clamped, &Cost::full, &Cost::written})
      for (std::size_t k = permutation.size(); k-- > 0;) score.push_back(costs[permutation[k]].*part);
    all.emplace_back(std::move(score), permutation);
  } while (std::ranges::next_permutation(permutation).found);
  std::ranges::sort(all);  // equal scores: nearest to the given order
  std::vector<Permutation> result;
  for (auto& [score, p] : all) result.push_back(std::move(p));
  return result;
}

// Whether iterations surely depend on each other in their order: an element is written, and at another iteration of
// this loop (all else equal) read or written again. Saves a question to isl.
bool is_recurrence(const std::vector<TreeAccess>& accesses, const std::string& symbol) {
  const auto follows = [&](const Memlet& a, const Memlet& b) {
    if (a.container != b.container || a.subset.size() != b.subset.size()) return false;
    bool apart = false;
    for (std::size_t d = 0; d < a.subset.size(); ++d) {
      const auto gap = (a.subset[d] - b.subset[d]).constant();
      const bool moves = a.subset[d].uses(symbol);
      if (!gap || (*gap != 0 && !moves) || (*gap == 0 && moves)) return false;
      apart = apart || *gap != 0;
    }
    return apart;
  };
  return std::ranges::any_of(accesses, [&](const TreeAccess& write) {
    return write.writes &&
           std::ranges::any_of(accesses, [&](const TreeAccess& other) { return follows(write.memlet, other.memlet); });
  });
}

class Minimizer {
 public:
  Minimizer(Work& work, Log& log) : work_(work), log_(log) {}

  void run() {
    std::set<std::string> done;
    for (const std::string& symbol : loop_symbols(work_.tree)) {
      if (done.contains(symbol)) continue;
      std::vector<std::string> band = band_from(work_.tree, symbol);
      done.insert(band.begin(), band.end());
      if (band.size() > 1 && band.size() <= 5) permute(band);
      if (band.size() > 5) sort_pairwise(band);
    }
  }

 private:
  std::vector<Cost> costs(const std::vector<std::string>& band) const {
    const auto accesses = accesses_below(work_.scop, find_loop(work_.tree, band.back())->children);
    std::vector<Cost> result;
    for (const std::string& symbol : band) result.push_back(cost_of(work_.scop.frame, accesses, symbol));
    return result;
  }

  void permute(const std::vector<std::string>& band) {
    Permutation given(band.size());
    std::iota(given.begin(), given.end(), std::size_t{0});
    int tries = 0;
    for (const Permutation& permutation : ranked(costs(band))) {
      if (permutation == given || ++tries > 24) return;
      if (surely_illegal(band, permutation)) continue;
      if (try_order(band, permutation)) return;
    }
  }

  // Deep bands: neighbours change places while that is better and legal.
  void sort_pairwise(std::vector<std::string> band) {
    const std::vector<Cost> all = costs(band);
    std::map<std::string, std::int64_t> cost;
    for (std::size_t k = 0; k < band.size(); ++k) cost[band[k]] = all[k].clamped;
    for (std::size_t pass = 0; pass < band.size(); ++pass)
      for (std::size_t k = 0; k + 1 < band.size(); ++k) {
        if (cost[band[k]] >= cost[band[k + 1]]) continue;
        Permutation swapped(band.size());
        std::iota(swapped.begin(), swapped.end(), std::size_t{0});
        std::swap(swapped[k], swapped[k + 1]);
        if (try_order(band, swapped)) std::swap(band[k], band[k + 1]);
      }
  }

  // A dependence with constant distances that the permutation would turn around; saves a question to isl.
  bool surely_illegal(const std::vector<std::string>& band, const Permutation& permutation) const {
    std::map<int, std::vector<std::size_t>> place;  // of a statement below: the iterator that each band loop is
    bool plain = true;
    for_each_leaf(find_loop(work_.tree, band.back())->children, [&](const ScheduleLeaf& leaf) {
      for (const std::string& symbol : band) {
        const auto it = std::ranges::find(leaf.iterators, Expr::symbol(symbol));
        plain = plain && it != leaf.iterators.end();
        place[leaf.statement].push_back(static_cast<std::size_t>(it - leaf.iterators.begin()));
      }
    });
    if (!plain) return false;
    const auto is_private = [&](const std::string& container) {
      return std::ranges::any_of(band, [&](const std::string& symbol) {
        const auto& privates = find_loop(work_.tree, symbol)->privates;
        return std::ranges::find(privates, container) != privates.end();
      });
    };
    return std::ranges::any_of(work_.dependences.all(), [&](const Dependence& d) {
      const auto source = place.find(d.source), target = place.find(d.target);
      if (source == place.end() || target == place.end() || source->second != target->second) return false;
      if (is_private(d.container)) return false;
      for (const auto& distance : d.distance)
        if (!distance) return false;
      for (std::size_t k = 0; k < d.distance.size(); ++k)
        if (std::ranges::find(source->second, k) == source->second.end() && *d.distance[k] != 0) return false;
      for (std::size_t k : permutation) {
        if (source->second[k] >= d.distance.size()) return false;
        const std::int64_t distance = *d.distance[source->second[k]];
        if (distance != 0) return distance < 0;
      }
      return false;
    });
  }

  bool try_order(const std::vector<std::string>& band, const Permutation& permutation) {
    ScheduleTree tree = work_.tree;
    if (!reorder(tree, band, permutation) || !respects_as(work_.dependences, work_.scop, work_.tree, tree))
      return false;
    work_.tree = std::move(tree);
    std::string text = "strides:";
    for (std::size_t k : permutation) text += " " + band[k];
    std::string before;
    for (const std::string& symbol : band) before += " " + symbol;
    log_.push_back(text + " (was" + before + ")");
    return true;
  }

  // Sorts the band by exchanging neighbours; false where bounds cannot be exchanged exactly.
  static bool reorder(ScheduleTree& tree, std::vector<std::string> band, const Permutation& permutation) {
    const std::string outermost = band[0];
    const auto [owner, at] = owner_of(tree, outermost);
    std::vector<ScheduleLoop> loops;
    for (const std::string& symbol : band) loops.push_back(*find_loop(tree, symbol));
    ScheduleTree body = loops.back().children;
    const std::vector<std::string> privates = std::move(loops.back().privates);
    loops.back().privates.clear();
    std::vector<std::size_t> rank(band.size());
    for (std::size_t k = 0; k < permutation.size(); ++k) rank[permutation[k]] = k;
    for (std::size_t pass = 0; pass < loops.size(); ++pass)
      for (std::size_t k = 0; k + 1 < loops.size(); ++k) {
        if (rank[k] < rank[k + 1]) continue;
        const auto bounds =
            exchanged_bounds({loops[k].symbol, loops[k].begin, loops[k].end, loops[k].step},
                             {loops[k + 1].symbol, loops[k + 1].begin, loops[k + 1].end, loops[k + 1].step});
        if (!bounds) return false;
        std::swap(loops[k], loops[k + 1]);
        std::swap(rank[k], rank[k + 1]);
        std::tie(loops[k].begin, loops[k].end) = (*bounds)[0];
        std::tie(loops[k + 1].begin, loops[k + 1].end) = (*bounds)[1];
      }
    // Privates of the innermost loop stay with the innermost one: each run of the body still has its own.
    loops.back().privates.insert(loops.back().privates.end(), privates.begin(), privates.end());
    (*owner)[at] = nested(std::move(loops), std::move(body))[0];
    return true;
  }

  Work& work_;
  Log& log_;
};

}  // namespace

void orient_loops(Work& work, Log& log) {
  for (const std::string& symbol : loop_symbols(work.tree)) {
    const ScheduleLoop& l = *find_loop(work.tree, symbol);
    if (l.step != 1) continue;
    const std::vector<std::string> inside = loop_symbols(l.children);
    int direction = 0;
    std::optional<Expr> mirror;  // the subscript mirror - symbol becomes the new symbol
    const std::vector<TreeAccess> accesses = accesses_below(work.scop, l.children);
    for (const TreeAccess& access : accesses) {
      if (const auto stride = byte_stride(work.scop.frame, access, symbol)) direction += (*stride > 0) - (*stride < 0);
      for (const Expr& d : access.memlet.subset) {
        const auto factor = coefficient_of(d, symbol);
        if (mirror || !factor || factor->constant() != -1) continue;
        const Expr rest = d + Expr::symbol(symbol);
        const auto uses = [&](const std::string& s) { return rest.uses(s); };
        if (rest.reads().empty() && std::ranges::none_of(inside, uses)) mirror = rest;
      }
    }
    if (direction >= 0 || is_recurrence(accesses, symbol)) continue;
    const Expr around = mirror.value_or(l.begin + l.end - 1);
    ScheduleTree tree = work.tree;
    ScheduleLoop& turned = *find_loop(tree, symbol);
    turned.children = substitute(turned.children, {{symbol, around - Expr::symbol(symbol)}});
    turned.begin = around - l.end + 1;
    turned.end = around - l.begin + 1;
    if (!respects_as(work.dependences, work.scop, work.tree, tree)) continue;
    log.push_back("direction: " + symbol + " runs forward");
    work.tree = std::move(tree);
  }
}

void minimize_strides(Work& work, Log& log) { Minimizer(work, log).run(); }

}  // namespace sous::transforms::normal
