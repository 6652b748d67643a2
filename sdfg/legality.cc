// Whether a schedule tree respects the dependences: every instance once, every dependence in order, no loop that does
// not run in order carries one.
#include <algorithm>

#include "sdfg/dependences.h"
#include "sdfg/loop_claims.h"
#include "sdfg/loop_relations.h"
#include "sdfg/planted_fault.h"
#include "sdfg/sibling_moves.h"

namespace sous::sdfg {
namespace {

using Data = Dependences::Data;

Result<void> instances(const Data& data, const Times& times, const Scop& scop) {
  if (planted(Fault::instances_unchecked)) return {};
  for (std::size_t s = 0; s < scop.statements.size(); ++s) {
    if (!data.known(s)) continue;
    const IslMap& map = times.of(static_cast<int>(s));
    IslSet domain(isl_map_domain(map.copy()));
    bool same = isl_set_is_equal(domain.get(), data.domains[s].get()) == isl_bool_true;
    bool once = isl_map_is_single_valued(map.get()) == isl_bool_true;
    TRY_VOID(data.context.ok());
    if (!same || !once)
      return fail("legality.instances", std::string("statement ") + scop.statements[s].name +
                                            (once ? " would not run for exactly its own instances"
                                                  : " would run more than once for an instance"));
  }
  return {};
}

// What differs between two trees. Both are cut down to the loops and guards around the difference, equal in both, and
// in them to the children that differ.
struct Change {
  ScheduleTree before, after;
  std::size_t shared = 0;  // time dimensions of the loops and guards around
  // Whether the order of the instances in it within one iteration of everything around is all that must be proven. Not
  // so with reductions in it, nor with privates that it concerns, whose conditions are about the whole tree, nor inside
  // loops that a change of order below concerns as a whole.
  bool local = true;
};

template <class Keeps>
bool needs_the_whole(const ScheduleTree& tree, const Keeps& keeps) {
  return std::any_of(tree.begin(), tree.end(), [&](const ScheduleNode& n) {
    return match(
        n.value,
        [&](const ScheduleLoop& l) {
          return !l.reductions.empty() || (!l.privates.empty() && !keeps(l)) || needs_the_whole(l.children, keeps);
        },
        [&](const ScheduleGuard& g) { return needs_the_whole(g.children, keeps); },
        [](const ScheduleLeaf&) { return false; });
  });
}

template <class Keeps>
Change difference(const ScheduleTree& before, const ScheduleTree& after, const Keeps& keeps) {
  const auto [b, a] = std::mismatch(before.begin(), before.end(), after.begin(), after.end());
  const auto left = std::min(before.end() - b, after.end() - a);
  const auto [rb, ra] = std::mismatch(before.rbegin(), before.rbegin() + left, after.rbegin(), after.rbegin() + left);
  Change result{.before = ScheduleTree(b, rb.base()), .after = ScheduleTree(a, ra.base())};
  result.local = !needs_the_whole(result.before, keeps) && !needs_the_whole(result.after, keeps);
  if (result.before.size() != 1 || result.after.size() != 1) return result;
  // The only child that differs is a loop or a guard that differs in its children alone.
  const auto inside = [&](auto& outer_b, auto& outer_a, std::size_t dimensions, bool transparent) {
    auto empty_b = outer_b, empty_a = outer_a;
    empty_b.children.clear();
    empty_a.children.clear();
    if (empty_b != empty_a) return;
    Change below = difference(outer_b.children, outer_a.children, keeps);
    outer_b.children = std::move(below.before);
    outer_a.children = std::move(below.after);
    result.shared = below.shared + dimensions;
    result.local = below.local && transparent;
  };
  auto *loop_b = std::get_if<ScheduleLoop>(&result.before[0].value),
       *loop_a = std::get_if<ScheduleLoop>(&result.after[0].value);
  if (loop_b && loop_a)
    inside(*loop_b, *loop_a, 2, loop_a->reductions.empty() && !std::holds_alternative<Simd>(loop_a->schedule));
  auto *guard_b = std::get_if<ScheduleGuard>(&result.before[0].value),
       *guard_a = std::get_if<ScheduleGuard>(&result.after[0].value);
  if (guard_b && guard_a) inside(*guard_b, *guard_a, 1, true);
  return result;
}

Change difference(const Data& data, const ScheduleTree& legal, const ScheduleTree& tree) {
  return difference(legal, tree, [&](const ScheduleLoop& loop) { return keeps_privates(data, loop, tree, legal); });
}

// Whether both trees run the same instances in the same iterations of what they share, each once.
bool same_instances(const Data& data, const Times& before, const Times& after, std::size_t shared, const Scop& scop) {
  const auto around = [&](const Times& times, int s) {
    const auto first = static_cast<unsigned>(shared), count = static_cast<unsigned>(times.length() - shared);
    return IslMap(isl_map_project_out(times.of(s).copy(), isl_dim_out, first, count));
  };
  for (std::size_t k = 0; k < scop.statements.size(); ++k) {
    if (!data.known(k)) continue;
    const int s = static_cast<int>(k);
    if (isl_map_is_equal(around(before, s).get(), around(after, s).get()) != isl_bool_true ||
        isl_map_is_single_valued(after.of(s).get()) != isl_bool_true || !data.context.ok())
      return false;
  }
  return true;
}

// Every dependence keeps its order, and loops that do not run in order carry none; both for pairs of instances that
// agree in the first `shared` time dimensions, and for the loops below those.
Result<void> ordered(const Data& data, const Times& times, std::size_t shared, const Scop& scop) {
  std::set<std::size_t> asked;  // relations of which nothing is excused
  for (std::size_t k = 0; k < data.dependences.size(); ++k) {
    const Dependence& d = data.dependences[k];
    if (!times.runs(d.source) || !times.runs(d.target)) continue;
    const IslMap pairs = effective(data, times, k);
    const bool whole = pairs.get() == times.dependence_on_time(k).get();
    const bool again = whole && !asked.insert(data.same_relation[k]).second;
    if (!again && !times.in_order(pairs, shared))
      return fail("legality.dependence", "the " + describe(d, scop) + " would be reversed");
    for (const auto& entry : times.loops()) {
      const auto& symbol = entry.first;
      const Times::LoopTime& l = entry.second;
      if (l.index < shared) continue;
      auto carries = [&](const IslMap& broken) -> Result<void> {
        if (empty(broken)) return {};
        return fail("legality.carried", "loop " + symbol + " carries the " + describe(d, scop), symbol);
      };
      auto in_parallel = [&]() -> Result<void> {
        if (again) return {};
        return carries(carried_pairs(data, times, l, k, effective(data, times, k, &l)));
      };
      TRY_VOID(match(
          l.loop->schedule, [](const Sequential&) -> Result<void> { return {}; },
          [&](const Parallel&) -> Result<void> { return in_parallel(); },
          [&](const Simd& simd) -> Result<void> {
            return carries(broken_by_lockstep(data, scop, times, l, simd.lanes, k, effective(data, times, k, &l)));
          },
          [](const Unroll&) -> Result<void> { return {}; },
          [&](const GpuGrid&) -> Result<void> { return in_parallel(); },
          [&](const GpuBlock&) -> Result<void> { return in_parallel(); }));
    }
    TRY_VOID(data.context.ok());
  }
  return data.context.ok();
}

// Of the dependences that are known. A loop of which they are not all known is none of what differs, or around that:
// its privates are so still, for no instance enters or leaves an iteration of it, and the order in each keeps its
// dependences. `legal`: a tree whose loops' privates are known to be so.
Result<void> respects_known(const Data& data, const Scop& scop, const ScheduleTree& tree,
                            const ScheduleTree& legal = {}) {
  data.context.restart();
  Times times(data, scop, tree);
  TRY_VOID(instances(data, times, scop));
  for (const auto& [symbol, l] : times.loops())
    for (const std::string& container : l.loop->privates) {
      if (!known_in(data, l.loop->children) || keeps_privates(data, *l.loop, tree, legal)) continue;
      TRY(bool ok, covered(data, times, l, container));
      if (!ok)
        return fail("legality.private", "a value of " + container + " crosses the iterations of " + symbol, symbol);
    }
  if (const auto twice = private_twice(tree))
    return fail("legality.private", *twice + " would be private to two loops");
  return ordered(data, times, 0, scop);
}

}  // namespace

Result<void> adds_no_instances(const Dependences& dependences, const Scop& scop, const ScheduleTree& legal,
                               const ScheduleTree& tree) {
  const Data& data = dependences.data();
  const ScheduleTree after = difference(data, legal, tree).after;
  if (!known_in(data, after)) return out_of_scope();
  data.context.restart();
  Times times(data, scop, after);
  for (std::size_t s = 0; s < scop.statements.size(); ++s) {
    if (!data.known(s)) continue;
    IslSet run(isl_map_domain(times.of(static_cast<int>(s)).copy()));
    const bool within = isl_set_is_subset(run.get(), data.domains[s].get()) == isl_bool_true;
    TRY_VOID(data.context.ok());
    if (!within)
      return fail("legality.instances",
                  "statement " + scop.statements[s].name + " would run for instances it does not have");
  }
  return {};
}

Result<void> respects(const Dependences& dependences, const Scop& scop, const ScheduleTree& tree) {
  const Data& data = dependences.data();
  if (!known_in(data, tree)) return out_of_scope();
  return respects_known(data, scop, tree);
}

namespace {

constexpr std::size_t most_proven = 64;

Result<void> respects_as(const Data& data, const Scop& scop, const ScheduleTree& legal, const ScheduleTree& tree) {
  // Only the order of pairs in what differs can change, and only their dependences can be excused or not be any more by
  // other privates and reductions.
  const Change change = difference(data, legal, tree);
  if (!known_in(data, change.before) || !known_in(data, change.after)) return out_of_scope();
  if (moves_only_unrelated(data, change.before, change.after)) return {};
  const bool whole_known = known_in(data, tree);
  if (!change.local && whole_known) return respects_known(data, scop, tree, legal);
  data.context.restart();
  const Times before(data, scop, change.before), after(data, scop, change.after);
  // Instances may have moved to other iterations of what is around (a reversal): then the change is larger than it
  // looks.
  const bool same = same_instances(data, before, after, change.shared, scop);
  if (same && change.local) return ordered(data, after, change.shared, scop);
  if (!same && !whole_known) return out_of_scope();
  return respects_known(data, scop, tree, legal);
}

}  // namespace

Result<void> respects_as(const Dependences& dependences, const Scop& scop, const ScheduleTree& legal,
                         const ScheduleTree& tree) {
  const Data& data = dependences.data();
  const auto known = std::ranges::find_if(
      data.proven, [&](const Data::Proven& one) { return one.tree == tree && one.legal == legal; });
  if (known != data.proven.end()) return known->result;
  if (data.proven.size() == most_proven) data.proven.pop_back();
  const auto said = by_claims(dependences, scop, legal, tree);
  data.proven.push_front({legal, tree, said ? *said : respects_as(data, scop, legal, tree)});
  return data.proven.front().result;
}

}  // namespace sous::sdfg
