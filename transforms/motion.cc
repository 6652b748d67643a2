#include "transforms/motion.h"

#include <algorithm>

#include "transforms/normal/util.h"

namespace sous::transforms {

Result<Sweeps> sweeps_in(const Nest& nest, const std::string& loop) {
  const sdfg::ScheduleLoop& time = *sdfg::find_loop(nest.tree, loop);
  std::size_t dimensions = 0;
  sdfg::for_each_leaf(time.children, [&](const sdfg::ScheduleLeaf& leaf) {
    const auto what = normal::assignment_of(nest.scop.statements[static_cast<std::size_t>(leaf.statement)].node);
    if (dimensions == 0 && what) dimensions = what->out.subset.size();
  });
  sdfg::Sdfg graph = sdfg::lower(nest.scop, nest.tree);
  const auto place = sdfg::find_loop(graph.root, loop);
  if (!place || place->loop().body.nodes.size() != time.children.size())
    return fail("overlap.body", "something in the loop never runs", loop);
  return sweeps_of(graph, place->loop(), dimensions);
}

namespace {

// shift[to] - shift[from] + (later ? factor : 0) >= least.
struct Distance {
  std::size_t from, to;
  bool later;  // `to` runs in the next step; in all that follow, the more so
  std::int64_t least;
};

std::vector<GridAccess> accesses(const Sweep& sweep) {
  std::vector<GridAccess> all = sweep.reads;
  all.push_back(sweep.write);
  return all;
}

std::vector<Distance> distances(const Sweeps& sweeps, std::size_t dimension) {
  std::vector<Distance> result;
  for (std::size_t p = 0; p < sweeps.all.size(); ++p)
    for (std::size_t q = 0; q < sweeps.all.size(); ++q)
      for (const GridAccess& first : accesses(sweeps.all[p]))
        for (const GridAccess& then : accesses(sweeps.all[q])) {
          const bool written = first.grid == sweeps.all[p].write.grid || first.grid == sweeps.all[q].write.grid;
          std::int64_t least = 0;
          if (first.grid != then.grid || !written) continue;
          if (__builtin_sub_overflow(then.offset[dimension], first.offset[dimension], &least)) least = INT64_MAX;
          result.push_back({p, q, p >= q, least});
        }
  return result;
}

// The least shifts with this factor: longest paths, which end unless there is a circle of positive length.
std::optional<std::vector<std::int64_t>> shifts_with(std::int64_t factor, const std::vector<Distance>& distances,
                                                     std::size_t sweeps) {
  std::vector<std::int64_t> shifts(sweeps, 0);
  for (std::size_t round = 0; round <= sweeps; ++round) {
    bool moved = false;
    for (const Distance& d : distances) {
      const std::int64_t least = shifts[d.from] + d.least - (d.later ? factor : 0);
      if (shifts[d.to] >= least) continue;
      shifts[d.to] = least;
      moved = true;
    }
    if (!moved) return shifts;
  }
  return std::nullopt;
}

constexpr std::int64_t most_factor = 64, most_distance = 1024;

}  // namespace

std::optional<Motion> motion(const Sweeps& sweeps, std::size_t dimension) {
  const std::vector<Distance> all = distances(sweeps, dimension);
  const auto is_far = [](const Distance& d) { return d.least > most_distance || d.least < -most_distance; };
  if (std::ranges::any_of(all, is_far)) return std::nullopt;
  for (std::int64_t factor = 0; factor <= most_factor; ++factor)
    if (auto shifts = shifts_with(factor, all, sweeps.all.size())) return Motion{factor, std::move(*shifts)};
  return std::nullopt;
}

}  // namespace sous::transforms
