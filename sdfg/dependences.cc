#include "sdfg/dependences.h"

#include <algorithm>

#include "sdfg/dependence_data.h"
#include "sdfg/planted_fault.h"
#include "sdfg/times.h"

namespace sous::sdfg {

namespace {

using Data = Dependences::Data;

// The differences in time between target and source over the pairs.
IslSet time_deltas(const IslMap& pairs, const Times& times, int s, int t) {
  return IslSet(isl_map_deltas(times.on_time(pairs, s, t).release()));
}

// The value of time dimension `index` of the differences, if it is one.
std::optional<std::int64_t> constant_distance(const IslSet& deltas, const Times& times, std::size_t index) {
  const auto length = static_cast<unsigned>(times.length());
  const auto at = static_cast<unsigned>(index);
  isl_set* from_here = isl_set_project_out(deltas.copy(), isl_dim_set, at + 1, length - at - 1);
  IslSet one(isl_set_project_out(from_here, isl_dim_set, 0, at));
  if (!one || isl_set_is_singleton(one.get()) != isl_bool_true) return std::nullopt;
  isl_val* value = isl_set_plain_get_val_if_fixed(IslSet(isl_set_coalesce(one.copy())).get(), isl_dim_set, 0);
  std::optional<std::int64_t> result;
  if (value && isl_val_is_int(value) == isl_bool_true) result = isl_val_get_num_si(value);
  isl_val_free(value);
  return result;
}

// A distance in time as one between the values of the loop's variable (both along its direction).
std::optional<std::int64_t> value_distance(std::optional<std::int64_t> distance, const Times& times,
                                           const Times::LoopTime& l) {
  if (!distance || !l.counted) return distance;
  for (const std::string& symbol : l.loop->begin.symbols())
    if (times.loops().contains(symbol)) return std::nullopt;
  return *distance * std::abs(l.loop->step);
}

// The dependence between times, without the pairs that the privates and reductions of the tree's loops remove. For what
// one loop carries, `carrier`, only its own reductions count: the partial results of a loop around it are one for all
// of its iterations.
IslMap effective(const Data& data, const Times& times, std::size_t k, const Times::LoopTime* carrier = nullptr) {
  const Dependence& d = data.dependences[k];
  IslMap pairs = times.on_time(data.relations[k], d.source, d.target);
  for (const auto& [symbol, l] : times.loops()) {
    const auto& privates = l.loop->privates;
    if (std::find(privates.begin(), privates.end(), d.container) != privates.end()) {
      IslMap outside = subtract(pairs, times.both_inside(l));
      pairs = IslMap(isl_map_union(outside.release(), intersect(pairs, times.same_iteration(l)).release()));
    }
    if (carrier && carrier->loop != l.loop && !planted(Fault::outer_reduction_excuses)) continue;
    for (const Reduction& r : l.loop->reductions) {
      const auto& s = data.updates[static_cast<std::size_t>(d.source)];
      const auto& t = data.updates[static_cast<std::size_t>(d.target)];
      if (r.container == d.container && s == r && t == r) pairs = subtract(pairs, times.same_before(l));
    }
  }
  return pairs;
}

// The times that the loop carries: equal before its dimension, different in it.
IslMap carried_pairs(const Times& times, const Times::LoopTime& l, const IslMap& pairs) {
  if (planted(Fault::parallel_unchecked)) return subtract(pairs, pairs);
  return intersect(pairs, times.carried(l));
}

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

// Pairs of times that lockstep execution of the loop in groups of `lanes` (0: any number) puts in the wrong order: in
// one group, and the target not after the source in the body.
IslMap broken_by_lockstep(const Lifted& lifted, const Times& times, const Times::LoopTime& l, int lanes,
                          const Dependence& d, const IslMap& pairs) {
  if (planted(Fault::lockstep_unchecked)) return subtract(pairs, pairs);
  IslMap in_group = intersect(pairs, times.carried(l, l.counted ? lanes : lanes * std::abs(l.loop->step)));
  if (empty(in_group)) return in_group;
  const bool kept = d.kind == DependenceKind::Anti && d.source == d.target &&
                    reads_first(lifted.statements[static_cast<std::size_t>(d.source)].node);
  return intersect(in_group, times.not_after_inside(l, !kept));
}

std::string describe(const Dependence& d, const Lifted& lifted) {
  const char* kind = d.kind == DependenceKind::Flow ? "flow" : d.kind == DependenceKind::Anti ? "anti" : "output";
  return std::string(kind) + " dependence " + lifted.statements[static_cast<std::size_t>(d.source)].name + " -> " +
         lifted.statements[static_cast<std::size_t>(d.target)].name + " on " + d.container;
}

// The accesses that are made inside the loop.
IslMap inside(const Access& access, const Times& times, const Times::LoopTime& l) {
  IslMap instances = times.related(access.statement, access.statement, times.same_iteration(l));
  return IslMap(isl_map_intersect_domain(access.map.copy(), isl_map_domain(instances.release())));
}

// What the access reads inside the loop, but for elements written before in the same iteration.
IslMap not_own(const Access& read, const Data& data, const Times& times, const Times::LoopTime& l) {
  IslMap uncovered = inside(read, times, l);
  if (read.own) return subtract(uncovered, uncovered);
  for (const Access& write : data.accesses) {
    if (!write.write || !write.exact || write.container != read.container) continue;
    IslMap pairs = intersect(times.related(write.statement, read.statement, times.same_iteration(l)),
                             times.before(write.statement, read.statement));
    IslMap written(isl_map_apply_range(isl_map_reverse(pairs.release()), write.map.copy()));
    uncovered = subtract(uncovered, written);
  }
  return uncovered;
}

// Every read of `container` inside the loop is of an element written before in the same iteration.
Result<bool> reads_own_values(const Data& data, const Times& times, const Times::LoopTime& l,
                              const std::string& container) {
  for (const Access& read : data.accesses) {
    if (read.write || read.container != container) continue;
    if (!empty(not_own(read, data, times, l))) return false;
  }
  TRY_VOID(data.context.ok());
  return true;
}

// That, and nothing outside the loop touches the container.
Result<bool> covered(const Data& data, const Times& times, const Times::LoopTime& l, const std::string& container) {
  if (planted(Fault::private_not_covered)) return true;
  if (data.elsewhere.contains(container)) return false;
  for (const Access& access : data.accesses)
    if (access.container == container && !empty(subtract(access.map, inside(access, times, l)))) return false;
  return reads_own_values(data, times, l, container);
}

Result<void> instances(const Data& data, const Times& times, const Lifted& lifted) {
  if (planted(Fault::instances_unchecked)) return {};
  for (std::size_t s = 0; s < lifted.statements.size(); ++s) {
    if (!data.known(s)) continue;
    const IslMap& map = times.of(static_cast<int>(s));
    IslSet domain(isl_map_domain(map.copy()));
    bool same = isl_set_is_equal(domain.get(), data.domains[s].get()) == isl_bool_true;
    bool once = isl_map_is_single_valued(map.get()) == isl_bool_true;
    TRY_VOID(data.context.ok());
    if (!same || !once)
      return fail("legality.instances", std::string("statement ") + lifted.statements[s].name +
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
  // so with privates and reductions in it, whose conditions are about the whole tree, nor inside loops that a change of
  // order below concerns as a whole.
  bool local = true;
};

bool needs_the_whole(const ScheduleTree& tree) {
  return std::any_of(tree.begin(), tree.end(), [](const ScheduleNode& n) {
    return match(
        n.value,
        [](const ScheduleLoop& l) {
          return !l.privates.empty() || !l.reductions.empty() || needs_the_whole(l.children);
        },
        [](const ScheduleGuard& g) { return needs_the_whole(g.children); }, [](const ScheduleLeaf&) { return false; });
  });
}

Change difference(const ScheduleTree& before, const ScheduleTree& after) {
  const auto [b, a] = std::mismatch(before.begin(), before.end(), after.begin(), after.end());
  const auto left = std::min(before.end() - b, after.end() - a);
  const auto [rb, ra] = std::mismatch(before.rbegin(), before.rbegin() + left, after.rbegin(), after.rbegin() + left);
  Change result{.before = ScheduleTree(b, rb.base()), .after = ScheduleTree(a, ra.base())};
  result.local = !needs_the_whole(result.before) && !needs_the_whole(result.after);
  if (result.before.size() != 1 || result.after.size() != 1) return result;
  // The only child that differs is a loop or a guard that differs in its children alone.
  const auto inside = [&](auto& outer_b, auto& outer_a, std::size_t dimensions, bool transparent) {
    auto empty_b = outer_b, empty_a = outer_a;
    empty_b.children.clear();
    empty_a.children.clear();
    if (empty_b != empty_a) return;
    Change below = difference(outer_b.children, outer_a.children);
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

bool known_in(const Data& data, const ScheduleTree& tree) {
  bool known = true;
  for_each_leaf(
      tree, [&](const ScheduleLeaf& leaf) { known = known && data.known(static_cast<std::size_t>(leaf.statement)); });
  return known;
}

std::unexpected<Error> out_of_scope() {
  return fail("isl.scope", "the dependences of these statements were not computed");
}

// Whether both trees run the same instances in the same iterations of what they share, each once.
bool same_instances(const Data& data, const Times& before, const Times& after, std::size_t shared,
                    const Lifted& lifted) {
  const auto around = [&](const Times& times, int s) {
    const auto first = static_cast<unsigned>(shared), count = static_cast<unsigned>(times.length() - shared);
    return IslMap(isl_map_project_out(times.of(s).copy(), isl_dim_out, first, count));
  };
  for (std::size_t k = 0; k < lifted.statements.size(); ++k) {
    if (!data.known(k)) continue;
    const int s = static_cast<int>(k);
    if (isl_map_is_equal(around(before, s).get(), around(after, s).get()) != isl_bool_true ||
        isl_map_is_single_valued(after.of(s).get()) != isl_bool_true || !data.context.ok())
      return false;
  }
  return true;
}

// A return in it: even the only iteration that gets there must then find all before it done, and none after it begun.
bool may_return(const ScheduleTree& tree, const Lifted& lifted) {
  return std::any_of(tree.begin(), tree.end(), [&](const ScheduleNode& n) {
    return match(
        n.value, [&](const ScheduleLoop& l) { return may_return(l.children, lifted); },
        [&](const ScheduleGuard& g) { return may_return(g.children, lifted); },
        [&](const ScheduleLeaf& leaf) {
          return has_return(lifted.statements[static_cast<std::size_t>(leaf.statement)]);
        });
  });
}

Result<void> returns_in_order(const Times& times, std::size_t shared, const Lifted& lifted) {
  for (const auto& [symbol, l] : times.loops()) {
    const Schedule& schedule = l.loop->schedule;
    const bool in_order = std::holds_alternative<Sequential>(schedule) || std::holds_alternative<Unroll>(schedule);
    if (l.index >= shared && !in_order && may_return(l.loop->children, lifted))
      return fail("legality.carried", "an iteration of loop " + symbol + " may return", symbol);
  }
  return {};
}

// Every dependence keeps its order, and loops that do not run in order carry none; both for pairs of instances that
// agree in the first `shared` time dimensions, and for the loops below those.
Result<void> ordered(const Data& data, const Times& times, std::size_t shared, const Lifted& lifted) {
  TRY_VOID(returns_in_order(times, shared, lifted));
  const IslMap reversed = intersect(times.not_before(), times.agree(shared));
  for (std::size_t k = 0; k < data.dependences.size(); ++k) {
    const Dependence& d = data.dependences[k];
    IslMap pairs = effective(data, times, k);
    if (!empty(intersect(pairs, reversed)))
      return fail("legality.dependence", "the " + describe(d, lifted) + " would be reversed");
    for (const auto& entry : times.loops()) {
      const auto& symbol = entry.first;
      const Times::LoopTime& l = entry.second;
      if (l.index < shared) continue;
      auto carries = [&](const IslMap& broken) -> Result<void> {
        if (empty(broken)) return {};
        return fail("legality.carried", "loop " + symbol + " carries the " + describe(d, lifted), symbol);
      };
      auto in_parallel = [&] { return carries(carried_pairs(times, l, effective(data, times, k, &l))); };
      TRY_VOID(match(
          l.loop->schedule, [](const Sequential&) -> Result<void> { return {}; },
          [&](const Parallel&) -> Result<void> { return in_parallel(); },
          [&](const Simd& simd) -> Result<void> {
            return carries(broken_by_lockstep(lifted, times, l, simd.lanes, d, effective(data, times, k, &l)));
          },
          [](const Unroll&) -> Result<void> { return {}; },
          [&](const GpuGrid&) -> Result<void> { return in_parallel(); },
          [&](const GpuBlock&) -> Result<void> { return in_parallel(); }));
    }
    TRY_VOID(data.context.ok());
  }
  return data.context.ok();
}

}  // namespace

// --- The public functions -------------------------------------------------------------------------------------------

std::string Dependence::to_string(const Lifted& lifted) const {
  std::string text = describe(*this, lifted) + " (";
  for (std::size_t i = 0; i < distance.size(); ++i)
    text += (i ? ", " : "") + (distance[i] ? std::to_string(*distance[i]) : std::string("*"));
  return text + ")";
}

Result<Dependences> Dependences::compute(const Lifted& lifted, const Budget& budget) {
  std::set<int> all;
  for (std::size_t s = 0; s < lifted.statements.size(); ++s) all.insert(static_cast<int>(s));
  return compute_among(lifted, all, budget);
}

bool Dependences::cover(const std::set<int>& statements) const {
  return data_ && (!data_->among || std::ranges::includes(*data_->among, statements));
}

Result<Dependences> Dependences::compute_among(const Lifted& lifted, const std::set<int>& statements,
                                               const Budget& budget) {
  auto data = std::make_shared<Data>(budget);
  if (statements.size() < lifted.statements.size()) data->among = statements;
  collect(*data, lifted);
  TRY_VOID(data->context.ok());
  for (const Statement& s : lifted.statements) data->updates.push_back(self_update(s));
  Times times(*data, lifted, lifted.tree);
  std::map<std::pair<int, int>, IslMap> orders;
  // (container, source, target, kind) -> index of the dependence that collects these pairs
  std::map<std::tuple<std::string, int, int, DependenceKind>, std::size_t> index;
  for (const Access& a : data->accesses)
    for (const Access& b : data->accesses) {
      if (a.tuple != b.tuple || (!a.write && !b.write)) continue;
      IslMap pairs(isl_map_apply_range(a.map.copy(), isl_map_reverse(b.map.copy())));
      if (empty(pairs)) continue;
      auto [order, inserted] = orders.try_emplace({a.statement, b.statement});
      if (inserted) order->second = times.before(a.statement, b.statement);
      pairs = intersect(pairs, order->second);
      if (empty(pairs)) continue;
      pairs = IslMap(isl_map_coalesce(pairs.release()));
      auto kind = !a.write ? DependenceKind::Anti : b.write ? DependenceKind::Output : DependenceKind::Flow;
      if (kind == DependenceKind::Flow && planted(Fault::flow_dropped)) continue;
      if (kind == DependenceKind::Anti && planted(Fault::anti_dropped)) continue;
      if (kind == DependenceKind::Output && planted(Fault::output_dropped)) continue;
      auto [it, is_new] = index.try_emplace({b.container, a.statement, b.statement, kind}, data->relations.size());
      if (is_new) {
        data->dependences.push_back({.kind = kind,
                                     .source = a.statement,
                                     .target = b.statement,
                                     .container = b.container,
                                     .distance = {},
                                     .equal_loops = 0});
        data->relations.push_back(std::move(pairs));
      } else {
        data->relations[it->second] =
            IslMap(isl_map_coalesce(isl_map_union(data->relations[it->second].release(), pairs.release())));
      }
    }
  for (std::size_t k = 0; k < data->dependences.size(); ++k) {
    Dependence& d = data->dependences[k];
    const auto& s = lifted.statements[static_cast<std::size_t>(d.source)].iterators;
    const auto& t = lifted.statements[static_cast<std::size_t>(d.target)].iterators;
    const IslSet deltas = time_deltas(data->relations[k], times, d.source, d.target);
    IslSet equal(deltas.copy());
    for (std::size_t i = 0; i < s.size() && i < t.size() && s[i] == t[i]; ++i) {
      const std::size_t index = times.loops().at(s[i]).index;
      d.distance.push_back(value_distance(constant_distance(deltas, times, index), times, times.loops().at(s[i])));
      equal = IslSet(isl_set_fix_si(equal.release(), isl_dim_set, static_cast<unsigned>(index), 0));
      if (d.equal_loops == i && isl_set_is_empty(equal.get()) == isl_bool_false) d.equal_loops = i + 1;
    }
  }
  TRY_VOID(data->context.ok());
  Dependences result;
  result.data_ = std::move(data);
  return result;
}

const std::vector<Dependence>& Dependences::all() const { return data_->dependences; }

std::string Dependences::relation(std::size_t k) const {
  char* text = isl_map_to_str(data_->relations[k].get());
  std::string result = text ? text : "";
  std::free(text);
  return result;
}

Result<void> adds_no_instances(const Dependences& dependences, const Lifted& lifted, const ScheduleTree& legal,
                               const ScheduleTree& tree) {
  const Data& data = dependences.data();
  const ScheduleTree after = difference(legal, tree).after;
  if (!known_in(data, after)) return out_of_scope();
  data.context.restart();
  Times times(data, lifted, after);
  for (std::size_t s = 0; s < lifted.statements.size(); ++s) {
    if (!data.known(s)) continue;
    IslSet run(isl_map_domain(times.of(static_cast<int>(s)).copy()));
    const bool within = isl_set_is_subset(run.get(), data.domains[s].get()) == isl_bool_true;
    TRY_VOID(data.context.ok());
    if (!within)
      return fail("legality.instances",
                  "statement " + lifted.statements[s].name + " would run for instances it does not have");
  }
  return {};
}

namespace {

// The containers that are private to a loop of the tree. `twice` becomes one that is so to two loops of which none is
// inside the other: its accesses would have two places. `covered` finds those that run; but targets must have one for
// accesses that never run, too.
std::set<std::string> privates_in(const ScheduleTree& tree, std::string& twice) {
  std::set<std::string> all;
  for (const ScheduleNode& node : tree) {
    const auto* loop = std::get_if<ScheduleLoop>(&node.value);
    const auto* guard = std::get_if<ScheduleGuard>(&node.value);
    if (!loop && !guard) continue;
    std::set<std::string> names = privates_in(loop ? loop->children : guard->children, twice);
    if (loop) names.insert(loop->privates.begin(), loop->privates.end());
    for (const std::string& name : names)
      if (!all.insert(name).second) twice = name;
  }
  return all;
}

// Of the dependences that are known. A loop of which they are not all known is none of what differs, or around that:
// its privates are so still, for no instance enters or leaves an iteration of it, and the order in each keeps its
// dependences.
Result<void> respects_known(const Data& data, const Lifted& lifted, const ScheduleTree& tree) {
  data.context.restart();
  Times times(data, lifted, tree);
  TRY_VOID(instances(data, times, lifted));
  for (const auto& [symbol, l] : times.loops())
    for (const std::string& container : l.loop->privates) {
      if (!known_in(data, l.loop->children)) continue;
      TRY(bool ok, covered(data, times, l, container));
      if (!ok)
        return fail("legality.private", "a value of " + container + " crosses the iterations of " + symbol, symbol);
    }
  std::string twice;
  privates_in(tree, twice);
  if (!twice.empty()) return fail("legality.private", twice + " would be private to two loops");
  return ordered(data, times, 0, lifted);
}

}  // namespace

Result<void> respects(const Dependences& dependences, const Lifted& lifted, const ScheduleTree& tree) {
  const Data& data = dependences.data();
  if (!known_in(data, tree)) return out_of_scope();
  return respects_known(data, lifted, tree);
}

Result<void> respects_as(const Dependences& dependences, const Lifted& lifted, const ScheduleTree& legal,
                         const ScheduleTree& tree) {
  const Data& data = dependences.data();
  // Only the order of pairs in what differs can change, and only their dependences can be excused or not be any more by
  // other privates and reductions.
  const Change change = difference(legal, tree);
  if (!known_in(data, change.before) || !known_in(data, change.after)) return out_of_scope();
  const bool whole_known = known_in(data, tree);
  if (!change.local && whole_known) return respects_known(data, lifted, tree);
  data.context.restart();
  const Times before(data, lifted, change.before), after(data, lifted, change.after);
  // Instances may have moved to other iterations of what is around (a reversal): then the change is larger than it
  // looks.
  const bool same = same_instances(data, before, after, change.shared, lifted);
  if (same && change.local) return ordered(data, after, change.shared, lifted);
  if (!same && !whole_known) return out_of_scope();
  return respects_known(data, lifted, tree);
}

namespace {

// What is asked about one loop of a tree, of which all dependences inside must be known.
struct Question {
  const Data& data;
  Times times;
  std::string symbol;

  const Times::LoopTime& loop() const { return times.loops().at(symbol); }
};

Result<Question> about(const Dependences& dependences, const Lifted& lifted, const ScheduleTree& tree,
                       const std::string& symbol) {
  const Data& data = dependences.data();
  data.context.restart();
  Question question{.data = data, .times = Times(data, lifted, tree), .symbol = symbol};
  if (!question.times.loops().contains(symbol)) return fail("legality.no-loop", "there is no loop " + symbol, symbol);
  if (!known_in(data, question.loop().loop->children)) return out_of_scope();
  return question;
}

}  // namespace

Result<std::vector<Carried>> carried_by(const Dependences& dependences, const Lifted& lifted, const ScheduleTree& tree,
                                        const std::string& symbol) {
  TRY(const Question q, about(dependences, lifted, tree, symbol));
  const Data& data = q.data;
  const Times& times = q.times;
  const Times::LoopTime& l = q.loop();
  std::vector<Carried> result;
  for (std::size_t k = 0; k < data.dependences.size(); ++k) {
    const Dependence& d = data.dependences[k];
    IslMap pairs = carried_pairs(times, l, effective(data, times, k, &l));
    if (empty(pairs)) continue;
    const auto& update = data.updates[static_cast<std::size_t>(d.source)];
    auto distance = constant_distance(IslSet(isl_map_deltas(pairs.release())), times, l.index);
    if (distance && !l.counted) *distance /= std::abs(l.loop->step);
    result.push_back({.dependence = static_cast<int>(k),
                      .self_update = d.source == d.target && update && update->container == d.container,
                      .distance = distance});
  }
  TRY_VOID(data.context.ok());
  return result;
}

Result<bool> reads_own_values(const Dependences& dependences, const Lifted& lifted, const ScheduleTree& tree,
                              const std::string& symbol, const std::string& container) {
  TRY(const Question q, about(dependences, lifted, tree, symbol));
  return reads_own_values(q.data, q.times, q.loop(), container);
}

Result<bool> reads_older_values(const Dependences& dependences, const Lifted& lifted, const ScheduleTree& tree,
                                const std::string& symbol, const std::string& container) {
  TRY(const Question q, about(dependences, lifted, tree, symbol));
  const Data& data = q.data;
  const Times& times = q.times;
  const Times::LoopTime& l = q.loop();
  std::vector<std::pair<const Access*, IslMap>> older;
  for (const Access& access : data.accesses) {
    if (access.container != container) continue;
    if (!access.exact) return false;
    if (!access.write) older.emplace_back(&access, not_own(access, data, times, l));
  }
  for (const auto& [read, unused] : older) {
    IslMap others = inside(*read, times, l);
    for (const auto& [other, map] : older) {
      const IslMap same = times.related(read->statement, other->statement, times.same_iteration(l));
      others = subtract(others, IslMap(isl_map_apply_range(same.copy(), map.copy())));
    }
    if (!empty(others)) return false;
  }
  TRY_VOID(data.context.ok());
  return true;
}

Result<bool> privatizable(const Dependences& dependences, const Lifted& lifted, const ScheduleTree& tree,
                          const std::string& symbol, const std::string& container) {
  const Container* c = lifted.frame.find(container);
  if (!c || !c->transient) return false;
  TRY(const Question q, about(dependences, lifted, tree, symbol));
  return covered(q.data, q.times, q.loop(), container);
}

}  // namespace sous::sdfg
