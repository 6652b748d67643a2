#include "transforms/strategies/sweeps_in_time.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>

#include "transforms/strategies/strategy.h"
#include "transforms/strategies/writing.h"
#include "transforms/sweeps.h"

namespace sous::transforms {
namespace {

// What a block has of the grids of a loop in time, and for how many of its iterations.
struct TimeTile {
  std::vector<std::int64_t> sizes;
  std::int64_t times, rows;
};
constexpr std::size_t most_dimensions = 3;
constexpr std::int64_t most_shared_bytes = std::int64_t{48} * 1024, most_threads = 1024;
// Grids of three dimensions that the second-level cache holds altogether (50 MB of an H200's) come from there faster
// than tiles gain.
constexpr std::int64_t held_bytes = 50'000'000;

// How large tiles are where each element takes so many bytes in all grids that have a place there; 0 iterations: none.
TimeTile largest(std::int64_t bytes, std::size_t dimensions, std::size_t sweeps) {
  constexpr std::int64_t across = 64, rows = 8, most_times = 8, most_sweeps = 12;  // of a kernel
  const std::int64_t elements = most_shared_bytes / bytes;
  if (dimensions == 1) return {.sizes = {std::min(elements, most_threads)}, .times = most_times, .rows = 1};
  if (dimensions == 2)
    return {.sizes = {std::min(elements / across, most_threads / across * rows) / rows * rows, across},
            .times = std::min(most_times, most_sweeps / static_cast<std::int64_t>(sweeps)),
            .rows = rows};
  // Small blocks, several of which share a multiprocessor: while some wait at a barrier, the others compute.
  constexpr std::int64_t deep = 16, high = 8, wide = 32;
  return {.sizes = {deep, high, wide}, .times = elements >= deep * high * wide ? 1 : 0, .rows = rows};
}

// As large as fits, and as many iterations as leave three fifths of a tile its own: what is computed twice then costs
// less than the launches and the traffic that it saves. In three dimensions nearly all of a tile would be around it,
// but for one iteration whose first sweep reads its grids where they are, and whose last one writes them there.
std::optional<TimeTile> time_tile(const NestFacts& nest, const std::string& time,
                                  const std::vector<std::string>& band) {
  const std::size_t dimensions = band.size();
  sdfg::Sdfg graph = sdfg::lower(nest.nest()->scop, nest.nest()->tree);
  const auto place = sdfg::find_loop(graph.root, time);
  if (!place || dimensions < 1 || dimensions > most_dimensions) return std::nullopt;
  const auto sweeps = sweeps_of(graph, place->loop(), dimensions);
  if (!sweeps) return std::nullopt;
  std::set<std::string> passing;
  if (dimensions == most_dimensions) passing = halo_of(*sweeps, 1).passing;
  if (dimensions == most_dimensions && passing.empty()) return std::nullopt;
  std::int64_t bytes = 0, all_bytes = 0;
  for (const std::string& grid : sweeps->grids) {
    const std::int64_t one = sdfg::info(graph.find(grid)->type).bytes;
    bytes += passing.contains(grid) ? 0 : one;
    all_bytes += one;
  }
  if (dimensions == most_dimensions) {
    for (const std::string& loop : band)
      if (__builtin_mul_overflow(all_bytes, nest.loop(loop).trips.value_or(held_bytes), &all_bytes))
        all_bytes = INT64_MAX;
    if (all_bytes <= held_bytes) return std::nullopt;
  }
  if (bytes == 0) return std::nullopt;
  for (TimeTile tile = largest(bytes, dimensions, sweeps->all.size()); tile.times > 0; --tile.times) {
    const Margins around = halo_of(*sweeps, tile.times).all;
    std::int64_t own = 1, all = 1;
    for (std::size_t d = 0; d < dimensions; ++d) {
      own *= std::max<std::int64_t>(0, tile.sizes[d] - around[d].below - around[d].above);
      all *= tile.sizes[d];
    }
    if (5 * own >= 3 * all && own > 0) return tile;
  }
  return std::nullopt;
}

}  // namespace

bool share_reads(const NestFacts& nest, const std::string& loop) {
  bool found = false;
  sdfg::for_each_leaf(sdfg::find_loop(nest.nest()->tree, loop)->children, [&](const sdfg::ScheduleLeaf& leaf) {
    const auto& node = nest.nest()->scop.statements[static_cast<std::size_t>(leaf.statement)].node;
    const auto* state = std::get_if<sdfg::State>(&node.value);
    const auto assignment = state != nullptr ? sdfg::as_assignment(*state) : std::nullopt;
    if (!assignment) return;
    for (const sdfg::Memlet& a : assignment->inputs)
      for (const sdfg::Memlet& b : assignment->inputs) {
        const auto &one = a.subset, &other = b.subset;
        if (a.container != b.container || one.size() != other.size()) continue;
        std::size_t apart = 0, along = 0;
        for (std::size_t d = 0; d < one.size(); ++d) {
          if (one[d] == other[d]) continue;
          ++apart;
          along += one[d].uses(loop) && (one[d] - other[d]).constant() ? 1 : 0;
        }
        found = found || (apart == 1 && along == 1);
      }
  });
  return found;
}

InTime in_time(const NestFacts& nest,
               const std::function<bool(const NestFacts& nest, const std::string& loop)>& begins_kernel) {
  for (const LoopFacts& loop : nest.loops()) {
    if (begins_kernel(nest, loop.role.symbol) || loop.inside.empty()) continue;
    std::vector<std::string> band;
    for (const std::string& inner : loop.inside)
      if (const auto one = nest.band(inner); one.size() > band.size()) band = one;
    const auto tile = time_tile(nest, loop.role.symbol, band);
    if (!tile) continue;
    InTime result;
    constexpr std::array<std::string_view, most_dimensions> names{"span", "breadth", "length"};
    std::string loops, sizes;
    for (std::size_t d = 0; d < band.size(); ++d) {
      const std::string name(names[d]);
      loops += (d == 0 ? "" : ", ") + band[d];
      sizes += (d == 0 ? "$" : ", $") + name;
      result.open[name] = first_and(tile->sizes[d], {32, 64, 40, 48, 128});
    }
    result.steps = call("overlap", "loop=" + loop.role.symbol + ", loops=[" + loops + "], sizes=[" + sizes +
                                       "], steps=$times, rows=$each");
    result.open["times"] = first_and(tile->times, {2, 1, 3, 4});
    result.open["each"] = first_and(tile->rows, {8, 4, 1});
    return result;
  }
  return {};
}

std::optional<Strips> strips(const NestFacts& nest, const std::vector<std::string>& band) {
  if (band.size() != most_dimensions || nest.parallel(band).size() != band.size() || !nest.is_innermost(band.back()) ||
      nest.most_contiguous(band) != band.back() || !share_reads(nest, band[0]))
    return std::nullopt;
  const std::string tiles = nest.fresh(band[0] + "_t");
  return Strips{.ahead = call("tile", "loops=[" + band[0] + "], sizes=[$several]") +
                         call("interchange", "outer=" + band[0] + ", inner=" + band[1]) +
                         call("interchange", "outer=" + band[0] + ", inner=" + band[2]),
                .behind = call("unroll", "loop=" + band[0] + ", factor=$several"),
                .loops = {tiles, band[1], band[2]}};
}

}  // namespace sous::transforms
