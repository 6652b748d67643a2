#include "sdfg/cache_sets.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <set>
#include <utility>

#include "sdfg/place.h"
#include "sdfg/planted_fault.h"
#include "sdfg/trips.h"

namespace sous::sdfg {
namespace {

// More lines than this in one walk are no window: nothing of it is left when the next iteration comes.
constexpr std::int64_t most_lines = 1024;

// An element's place in bytes from its container's base; nothing where data decides.
std::optional<Expr> place(const Container& c, const Memlet& memlet) {
  if (memlet.subset.size() != c.strides.size()) return std::nullopt;
  const Expr sum = place_of(c, memlet.subset);
  if (!sum.reads().empty()) return std::nullopt;
  return sum * Expr(info(c.type).bytes);
}

// Bytes from one iteration to the next; 0: it stays. Nothing: not the same distance each time.
std::optional<Expr> step_of(const Expr& place, const Loop& loop) {
  if (!place.uses(loop.symbol)) return Expr(0);
  const auto coefficient = coefficient_of(place, loop.symbol);
  if (!coefficient) return std::nullopt;
  return *coefficient * Expr(loop.step);
}

bool within_a_line(const Expr& bytes) {
  const auto constant = bytes.constant();
  return constant && std::abs(*constant) < line_bytes;
}

struct Place {
  const Container* container = nullptr;
  Expr bytes;
  std::vector<const Loop*> around;  // outermost first
};

// Calls f on each access with its loops.
template <class F>
void each_access(const Sdfg& sdfg, const Region& region, std::vector<const Loop*>& around, const F& f) {
  for (const Node& node : region.nodes) {
    match(
        node.value,
        [&](const State& state) {
          for (const TaskletView& tasklet : tasklets(state)) {
            for (const auto* memlets : {&tasklet.inputs, &tasklet.outputs})
              for (const Memlet* memlet : *memlets) {
                const Container* container = sdfg.find(memlet->container);
                if (container == nullptr || container->shape.empty()) continue;
                if (auto bytes = place(*container, *memlet)) f(Place{container, std::move(*bytes), around});
              }
          }
        },
        [&](const Loop& loop) {
          around.push_back(&loop);
          each_access(sdfg, loop.body, around, f);
          around.pop_back();
        },
        [&](const If& branch) {
          each_access(sdfg, branch.then_body, around, f);
          each_access(sdfg, branch.else_body, around, f);
        },
        [](const While&) {});  // nobody knows how often it runs
  }
}

// Containers with the distances at which `region` walks down their columns, inside of loops that move along lines, and
// never along their rows, inside of loops over them.
std::set<std::pair<std::string, Expr>> columns(const Sdfg& sdfg, const Region& region) {
  std::set<std::pair<std::string, Expr>> down, along;
  std::vector<const Loop*> around;
  each_access(sdfg, region, around, [&](const Place& place) {
    std::vector<Expr> across;
    bool moves = false;
    for (const Loop* loop : place.around) {
      const auto step = step_of(place.bytes, *loop);
      if (!step || step->constant() == 0) continue;
      if (within_a_line(*step)) {
        moves = true;
        for (const Expr& distance : across) along.emplace(place.container->name, distance);
      } else {
        across.push_back(*step);
        if (moves) down.emplace(place.container->name, *step);
      }
    }
  });
  for (const auto& both : along) down.erase(both);
  return down;
}

class Windows {
 public:
  Windows(const Sdfg& sdfg, const Region& original, const CacheSets& cache)
      : sdfg_(sdfg), columns_(columns(sdfg, original)), written_(touched(sdfg.root).written), cache_(cache) {}

  std::vector<Window> find() {
    std::vector<const Loop*> around;
    each_access(sdfg_, sdfg_.root, around, [&](const Place& place) { access(place); });
    std::vector<Window> out;
    for (const Loop* loop : order_) {
      Window window{loop->symbol, {}};
      bool strided = false;
      for (const Line& line : lines_[loop]) {
        const Walk& walk = line.by_blocks && by_blocks(lines_[loop]) ? line.without_lanes : line.walk;
        strided = strided || !walk.empty();
        window.walks.push_back(walk);
      }
      if (strided && !endless_.contains(loop)) out.push_back(std::move(window));
    }
    return out;
  }

 private:
  struct Line {
    std::string container;
    Expr bytes;
    Walk walk;
    bool by_blocks = false;  // lanes take up as many iterations at a time as they are, and with them the line
    Walk without_lanes = {};
  };

  // Targets keep registers for so many squares of lanes by iterations.
  static bool by_blocks(const std::vector<Line>& lines) { return std::ranges::count_if(lines, &Line::by_blocks) <= 2; }

  // Whether vectors around loop k read blocks of its iterations and transpose them: what nothing writes, element by
  // element of a row.
  bool is_transposed(const Place& place, std::size_t k) const {
    const Loop& loop = *place.around[k];
    const auto is_state = [](const Node& node) { return std::holds_alternative<State>(node.value); };
    return !written_.contains(place.container->name) && loop.step == 1 && k + 1 == place.around.size() &&
           std::ranges::all_of(loop.body.nodes, is_state) &&
           step_of(place.bytes, loop) == Expr(info(place.container->type).bytes);
  }

  void access(const Place& place) {
    bool endless = false;  // a loop inside is: too much passes until the next iteration comes
    for (std::size_t k = place.around.size(); k-- > 0;) {
      const Loop& loop = *place.around[k];
      if (endless) endless_.insert(&loop);
      endless = endless || !most_trips(loop);
      // A vector takes up whole lines.
      if (std::holds_alternative<Simd>(loop.schedule)) continue;
      const auto step = step_of(place.bytes, loop);
      if (!step || step->constant() == 0 || !within_a_line(*step)) continue;
      if (std::ranges::find(order_, &loop) == order_.end()) order_.push_back(&loop);
      if (endless_.contains(&loop)) continue;
      const auto walk = walk_beside(place, k, true), without = walk_beside(place, k, false);
      if (walk && without) {
        add(lines_[&loop], {place.container->name, place.bytes, *walk, is_transposed(place, k), *without});
      } else {
        endless_.insert(&loop);
      }
    }
  }

  // Lanes around loop k of the access, and loops inside it, which are of constant length. Nothing: they are too many.
  std::optional<Walk> walk_beside(const Place& place, std::size_t k, bool with_lanes) const {
    Walk walk;
    std::int64_t lines = 1;
    for (std::size_t j = 0; j < place.around.size(); ++j) {
      const Loop& loop = *place.around[j];
      const auto* simd = std::get_if<Simd>(&loop.schedule);
      if (j == k || (j < k && (simd == nullptr || !with_lanes))) continue;
      std::int64_t count = most_trips(loop).value_or(most_lines);
      if (j < k) {
        const std::int64_t lanes = std::max<std::int64_t>(1, cache_.vector_bytes / info(place.container->type).bytes);
        count = std::min({count, lanes, simd->lanes > 0 ? std::int64_t{simd->lanes} : lanes});
      }
      const auto step = step_of(place.bytes, loop);
      if (!step || within_a_line(*step) || count <= 1) continue;
      if (columns_.contains({place.container->name, *step})) continue;
      // A distance that differs from iteration to iteration is not known on entry.
      if (!std::ranges::all_of(step->symbols(), [&](const auto& s) { return sdfg_.has_symbol(s); }))
        return std::nullopt;
      lines *= count;
      if (lines > most_lines) return std::nullopt;
      walk.push_back({*step, count});
    }
    return walk;
  }

  // Elements of one line are one line.
  static void add(std::vector<Line>& lines, Line line) {
    for (Line& known : lines) {
      if (known.container != line.container || !within_a_line(known.bytes - line.bytes)) continue;
      if (line.walk.size() > known.walk.size()) known.walk = std::move(line.walk);
      return;
    }
    lines.push_back(std::move(line));
  }

  const Sdfg& sdfg_;
  const std::set<std::pair<std::string, Expr>> columns_;
  const std::set<std::string> written_;
  const CacheSets& cache_;
  std::vector<const Loop*> order_;  // as they are met
  std::map<const Loop*, std::vector<Line>> lines_;
  std::set<const Loop*> endless_;
};

}  // namespace

std::vector<Window> windows(const Sdfg& sdfg, const Region& original, const CacheSets& cache) {
  if (cache.sets <= 0 || planted(Fault::cache_sets_ignored)) return {};
  return Windows(sdfg, original, cache).find();
}

bool is_constant(const Window& window) {
  return std::ranges::all_of(window.walks, [](const Walk& walk) {
    return std::ranges::all_of(walk, [](const Stride& s) { return s.bytes.constant().has_value(); });
  });
}

bool crowded(const Window& window, const std::map<std::string, std::int64_t>& symbols, const CacheSets& cache) {
  if (cache.sets <= 0) return false;
  std::vector<std::int64_t> used(static_cast<std::size_t>(cache.sets), 0);
  const std::int64_t way = cache.sets * line_bytes;  // bytes
  for (const Walk& walk : window.walks) {
    std::vector<std::int64_t> places{0};
    for (const Stride& stride : walk) {
      const auto bytes = stride.bytes.evaluate(symbols);
      if (!bytes) return false;
      std::vector<std::int64_t> more;
      for (const std::int64_t at : places)
        for (std::int64_t k = 0; k < stride.count; ++k) more.push_back((at + k * ((*bytes % way + way) % way)) % way);
      places = std::move(more);
    }
    for (const std::int64_t at : places) ++used[static_cast<std::size_t>(at / line_bytes)];
  }
  return std::ranges::max(used) > cache.ways;
}

}  // namespace sous::sdfg
