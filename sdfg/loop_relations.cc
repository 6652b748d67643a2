#include "sdfg/loop_relations.h"

#include <algorithm>

#include "sdfg/planted_fault.h"

namespace sous::sdfg {

using Data = Dependences::Data;

const Reduction* same_update(const Data& data, const Dependence& d) {
  const auto& s = data.updates[static_cast<std::size_t>(d.source)];
  const auto& t = data.updates[static_cast<std::size_t>(d.target)];
  return s && s == t && s->container == d.container ? &*s : nullptr;
}

namespace {

bool is_private_to(const ScheduleLoop& loop, const std::string& container) {
  return std::find(loop.privates.begin(), loop.privates.end(), container) != loop.privates.end();
}

}  // namespace

bool excuses(const Data& data, const Times& times, const Dependence& d, const Times::LoopTime& carrier) {
  const Reduction* update = same_update(data, d);
  return std::ranges::any_of(times.loops(), [&](const auto& entry) {
    const ScheduleLoop& loop = *entry.second.loop;
    const bool counts = update && (carrier.loop == &loop || planted(Fault::outer_reduction_excuses));
    return is_private_to(loop, d.container) ||
           (counts && std::ranges::any_of(loop.reductions, [&](const Reduction& r) { return r == *update; }));
  });
}

IslMap effective(const Data& data, const Times& times, std::size_t k, const Times::LoopTime* carrier) {
  const Dependence& d = data.dependences[k];
  IslMap pairs = times.dependence_on_time(k);
  const Reduction* update = same_update(data, d);
  if (!carrier) {
    if (data.commutes[k] == Commutes::Always) return subtract(pairs, pairs);
    if (data.commutes[k] == Commutes::InParts && !planted(Fault::first_extremum_moved)) update = nullptr;
  }
  for (const auto& [symbol, l] : times.loops()) {
    const bool is_private = is_private_to(*l.loop, d.container);
    if (is_private && times.all_inside(d.source, l) && times.all_inside(d.target, l)) {
      pairs = intersect(pairs, times.agree(l.index + 1));
    } else if (is_private && !times.all_outside(d.source, l) && !times.all_outside(d.target, l)) {
      IslMap outside = subtract(pairs, times.both_inside(l));
      pairs = IslMap(isl_map_union(outside.release(), intersect(pairs, times.same_iteration(l)).release()));
    }
    if (!update || (carrier && carrier->loop != l.loop && !planted(Fault::outer_reduction_excuses))) continue;
    for (const Reduction& r : l.loop->reductions)
      if (r == *update) pairs = subtract(pairs, times.same_before(l));
  }
  return pairs;
}

bool may_be_exchanged(const Data& data, std::size_t k) {
  if (planted(Fault::exchanged_updates_run_together)) return false;
  return data.commutes[k] != Commutes::Never || same_update(data, data.dependences[k]) != nullptr;
}

namespace {

IslMap exchanged(const IslMap& pairs) { return IslMap(isl_map_reverse(pairs.copy())); }

}  // namespace

IslMap carried_pairs(const Data& data, const Times& times, const Times::LoopTime& l, std::size_t k,
                     const IslMap& pairs) {
  if (planted(Fault::parallel_unchecked)) return subtract(pairs, pairs);
  IslMap carried = intersect(pairs, times.carried(l));
  if (!may_be_exchanged(data, k)) return carried;
  return IslMap(isl_map_union(carried.release(), intersect(exchanged(pairs), times.carried(l)).release()));
}

namespace {

// Whether lanes that run it together make all of their reads before the first of their writes: a state, also under
// conditions. Of several states that are one statement (under a condition on data) the second reads what the first has
// written in other lanes.
bool reads_first(const Node& node) {
  if (std::holds_alternative<State>(node.value)) return true;
  const auto* branch = std::get_if<If>(&node.value);
  if (branch == nullptr || branch->then_body.nodes.empty() == branch->else_body.nodes.empty()) return false;
  const Region& body = branch->then_body.nodes.empty() ? branch->else_body : branch->then_body;
  return body.nodes.size() == 1 && reads_first(body.nodes[0]);
}

}  // namespace

IslMap broken_by_lockstep(const Data& data, const Scop& scop, const Times& times, const Times::LoopTime& l, int lanes,
                          std::size_t k, const IslMap& pairs) {
  if (planted(Fault::lockstep_unchecked)) return subtract(pairs, pairs);
  const IslMap group = times.carried(l, l.counted ? lanes : lanes * std::abs(l.loop->step));
  const auto broken = [&](const IslMap& some, bool kept) {
    IslMap in_group = intersect(some, group);
    return empty(in_group) ? in_group : intersect(in_group, times.not_after_inside(l, !kept));
  };
  const Dependence& d = data.dependences[k];
  const bool kept = d.kind == DependenceKind::Anti && d.source == d.target &&
                    reads_first(scop.statements[static_cast<std::size_t>(d.source)].node);
  IslMap result = broken(pairs, kept);
  if (!may_be_exchanged(data, k)) return result;
  return IslMap(isl_map_union(result.release(), broken(exchanged(pairs), false).release()));
}

std::string describe(const Dependence& d, const Scop& scop) {
  const char* kind = d.kind == DependenceKind::Flow ? "flow" : d.kind == DependenceKind::Anti ? "anti" : "output";
  return std::string(kind) + " dependence " + scop.statements[static_cast<std::size_t>(d.source)].name + " -> " +
         scop.statements[static_cast<std::size_t>(d.target)].name + " on " + d.container;
}

IslMap inside(const Access& access, const Times& times, const Times::LoopTime& l) {
  if (times.all_inside(access.statement, l)) return access.map;
  IslMap instances = times.related(access.statement, access.statement, times.same_iteration(l));
  return IslMap(isl_map_intersect_domain(access.map.copy(), isl_map_domain(instances.release())));
}

namespace {

bool writes_scalar(const Data& data, int statement, const std::string& container) {
  return std::ranges::any_of(data.accesses, [&](const Access& a) {
    return a.statement == statement && a.container == container && a.write && a.exact &&
           isl_map_dim(a.map.get(), isl_dim_out) == 0;
  });
}

// Whether in each iteration of what is around the tree a statement that writes the scalar runs before all of the read's
// that are below: it stands before what holds them, in a sequence around them, under no loop or guard of its own.
bool written_first(const Data& data, const Access& read, const ScheduleTree& tree) {
  bool written = false;
  return std::ranges::all_of(tree, [&](const ScheduleNode& node) {
    const auto below = [&](const ScheduleTree& children) {
      bool holds = false;
      for_each_leaf(children, [&](const ScheduleLeaf& leaf) { holds = holds || leaf.statement == read.statement; });
      return !holds || written || written_first(data, read, children);
    };
    return match(
        node.value, [&](const ScheduleLoop& l) { return below(l.children); },
        [&](const ScheduleGuard& g) { return below(g.children); },
        [&](const ScheduleLeaf& leaf) {
          const bool first = written || leaf.statement != read.statement || planted(Fault::written_later_taken_as_own);
          written = written || writes_scalar(data, leaf.statement, read.container);
          return first;
        });
  });
}

}  // namespace

IslMap not_own(const Access& read, const Data& data, const Times& times, const Times::LoopTime& l) {
  if (read.own || written_first(data, read, l.loop->children))
    return IslMap(isl_map_empty(isl_map_get_space(read.map.get())));
  IslMap uncovered = inside(read, times, l);
  // Whichever element it is, it is one of the container's.
  if (read.there) uncovered = intersect(uncovered, read.there);
  for (const Access& write : data.accesses) {
    if (!write.write || !write.exact || write.container != read.container) continue;
    if (empty(uncovered)) break;
    IslMap pairs = intersect(times.related(write.statement, read.statement, times.same_iteration(l)),
                             times.before(write.statement, read.statement));
    IslMap written(isl_map_apply_range(isl_map_reverse(pairs.release()), write.map.copy()));
    uncovered = subtract(uncovered, written);
  }
  const auto memory = data.own_memory.find(read.container);
  if (memory == data.own_memory.end() || empty(uncovered)) return uncovered;
  // A loop from n on reads no element before the first, whatever nobody says of n.
  return IslMap(isl_map_intersect_range(uncovered.release(), data.read_set(read.tuple + memory->second).release()));
}

Result<bool> reads_own_values(const Data& data, const Times& times, const Times::LoopTime& l,
                              const std::string& container) {
  for (const Access& read : data.accesses) {
    if (read.write || read.container != container) continue;
    if (!empty(not_own(read, data, times, l))) return false;
  }
  TRY_VOID(data.context.ok());
  return true;
}

Result<bool> covered(const Data& data, const Times& times, const Times::LoopTime& l, const std::string& container) {
  if (planted(Fault::private_not_covered)) return true;
  if (data.elsewhere.contains(container)) return false;
  for (const Access& access : data.accesses)
    if (access.container == container && !times.all_inside(access.statement, l) &&
        !empty(subtract(access.map, inside(access, times, l))))
      return false;
  return reads_own_values(data, times, l, container);
}

bool known_in(const Data& data, const ScheduleTree& tree) {
  bool known = true;
  for_each_leaf(
      tree, [&](const ScheduleLeaf& leaf) { known = known && data.known(static_cast<std::size_t>(leaf.statement)); });
  return known;
}

std::unexpected<Error> out_of_scope() {
  return fail("isl.scope", "the dependences of these statements were not computed");
}

}  // namespace sous::sdfg
