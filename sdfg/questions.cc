// What is asked of the loops of a tree: what they carry, and whose values their iterations read. Answers are kept:
// recipe writers come back to the same few trees.
#include <algorithm>
#include <set>
#include <utility>

#include "sdfg/dependence_data.h"
#include "sdfg/dependences.h"
#include "sdfg/loop_relations.h"
#include "sdfg/planted_fault.h"
#include "sdfg/times.h"

namespace sous::sdfg {

using Data = Dependences::Data;

// What was found out about a tree. What an exhausted budget cut short is not gone on with.
struct Dependences::Data::Asked {
  const ScheduleTree tree;
  bool original = false;  // the tree is that of the program
  std::optional<Times> times = std::nullopt;
  std::map<std::string, Result<std::vector<Carried>>> carried = {};  // by symbol
  // By symbol and container.
  std::map<std::pair<std::string, std::string>, Result<bool>> covered = {}, own = {}, older = {};

  Asked(const ScheduleTree& of, bool is_original) : tree(of), original(is_original) {}
};

namespace {

// The trees of a dozen recipes with what each of their steps makes of the nest: as many as are asked about again.
constexpr std::size_t most_asked = 24;

// What is asked about one loop of a tree, of which all dependences inside must be known.
struct Question {
  const Data& data;
  Data::Asked& tree;
  std::string symbol;

  // Whichever way it ends: relations that isl did not finish are forgotten, for nothing is in an empty handle.
  ~Question() {
    if (!data.context.ok()) tree.times.reset();
  }

  const Times& times() const { return *tree.times; }
  const Times::LoopTime& loop() const { return times().loops().at(symbol); }
};

Data::Asked& asked_of(const Data& data, const Scop& scop, const ScheduleTree& tree) {
  auto& all = data.asked;
  const auto known = std::ranges::find_if(all, [&](const auto& one) { return one->tree == tree; });
  if (known != all.end()) {
    std::rotate(all.begin(), known, known + 1);
  } else {
    if (all.size() == most_asked) all.pop_back();
    all.insert(all.begin(), std::make_shared<Data::Asked>(tree, tree == scop.tree));
  }
  return *all.front();
}

Result<Question> about(const Dependences& dependences, const Scop& scop, const ScheduleTree& tree,
                       const std::string& symbol) {
  const Data& data = dependences.data();
  data.context.restart();
  Data::Asked& asked = asked_of(data, scop, tree);
  if (!asked.times) asked.times.emplace(data, scop, asked.tree);
  Question question{.data = data, .tree = asked, .symbol = symbol};
  if (!question.times().loops().contains(symbol)) return fail("legality.no-loop", "there is no loop " + symbol, symbol);
  if (!known_in(data, question.loop().loop->children)) return out_of_scope();
  return question;
}

// Pairs of a dependence that a loop carries: whether there are any, and their distance, in iterations.
struct CarriedPairs {
  bool any = false;
  std::optional<std::int64_t> distance;
};

// By its distances, of a loop of the program as it is; nullopt: they do not tell.
std::optional<CarriedPairs> by_distances(const Dependence& d, const Question& q, const Scop& scop) {
  if (!q.tree.original || planted(Fault::parallel_unchecked)) return std::nullopt;
  const auto& loops = scop.statements[static_cast<std::size_t>(d.source)].iterators;
  const auto at = static_cast<std::size_t>(std::ranges::find(loops, q.symbol) - loops.begin());
  if (at >= d.distance.size()) return std::nullopt;
  bool always = true;  // all pairs are in the same iterations of the loops around
  for (std::size_t k = 0; k < at; ++k) {
    if (d.distance[k] && *d.distance[k] != 0) return CarriedPairs{};
    always = always && d.distance[k];
  }
  if (d.equal_loops < at || d.distance[at] == 0) return CarriedPairs{};
  if (!always || !d.distance[at]) return std::nullopt;
  return CarriedPairs{true, *d.distance[at] / std::abs(q.loop().loop->step)};
}

CarriedPairs by_relation(const Question& q, std::size_t k, const IslMap& dependence) {
  const Times::LoopTime& l = q.loop();
  const IslMap pairs = carried_pairs(q.data, q.times(), l, k, dependence);
  if (empty(pairs)) return {};
  auto distance = constant_difference(pairs, l.index);
  if (distance && !l.counted) *distance /= std::abs(l.loop->step);
  return {true, distance};
}

Result<std::vector<Carried>> carried_by(const Question& q, const Scop& scop) {
  const Data& data = q.data;
  std::vector<Carried> result;
  // Of relations of which nothing is excused, and whether these are of what may be exchanged.
  std::map<std::pair<std::size_t, bool>, CarriedPairs> known;
  for (std::size_t k = 0; k < data.dependences.size(); ++k) {
    const Dependence& d = data.dependences[k];
    if (q.times().all_outside(d.source, q.loop()) || q.times().all_outside(d.target, q.loop())) continue;
    CarriedPairs pairs;
    if (excuses(data, q.times(), d, q.loop())) {
      pairs = by_relation(q, k, effective(data, q.times(), k, &q.loop()));
    } else {
      const auto [at, is_new] = known.try_emplace({data.same_relation[k], may_be_exchanged(data, k)});
      if (is_new) {
        const auto told = by_distances(d, q, scop);
        at->second = told ? *told : by_relation(q, k, q.times().dependence_on_time(k));
      }
      pairs = at->second;
    }
    if (!pairs.any) continue;
    const auto& update = data.updates[static_cast<std::size_t>(d.source)];
    result.push_back({.dependence = static_cast<int>(k),
                      .self_update = d.source == d.target && update && update->container == d.container,
                      .distance = pairs.distance});
  }
  TRY_VOID(q.data.context.ok());
  return result;
}

}  // namespace

Result<std::vector<Carried>> carried_by(const Dependences& dependences, const Scop& scop, const ScheduleTree& tree,
                                        const std::string& symbol) {
  TRY(const Question q, about(dependences, scop, tree, symbol));
  const auto known = q.tree.carried.find(symbol);
  if (known != q.tree.carried.end()) return known->second;
  return q.tree.carried.emplace(symbol, carried_by(q, scop)).first->second;
}

namespace {

// Whether some of the pairs, which agree in all before `outer`, go back in `inner` by more than `factor` for each
// iteration of `outer` that they go forward.
bool goes_back(const IslMap& pairs, std::size_t outer, std::size_t inner, int factor) {
  const auto add = [&](isl_basic_map* part) {  // the first's less the second's, skewed, is 1 at least
    isl_constraint* back = isl_constraint_alloc_inequality(isl_basic_map_get_local_space(part));
    for (const auto& [at, by] : {std::pair(inner, 1), std::pair(outer, factor)}) {
      back = isl_constraint_set_coefficient_si(back, isl_dim_in, static_cast<int>(at), by);
      back = isl_constraint_set_coefficient_si(back, isl_dim_out, static_cast<int>(at), -by);
    }
    back = isl_constraint_set_constant_si(back, -1);
    return isl_basic_map_add_constraint(part, back);
  };
  return std::ranges::any_of(parts_of(pairs),
                             [&](IslBasicMap& part) { return !is_empty(IslBasicMap(add(part.release()))); });
}

}  // namespace

Result<std::optional<int>> least_skew(const Dependences& dependences, const Scop& scop, const ScheduleTree& tree,
                                      const std::string& outer, const std::string& inner, int most) {
  TRY(const Question q, about(dependences, scop, tree, outer));
  const Times& times = q.times();
  const Times::LoopTime &rows = q.loop(), &columns = times.loops().at(inner);
  int least = 0;
  std::set<std::size_t> asked;  // relations of which nothing is excused
  for (std::size_t k = 0; k < q.data.dependences.size(); ++k) {
    const Dependence& d = q.data.dependences[k];
    if (times.all_outside(d.source, columns) || times.all_outside(d.target, columns)) continue;
    const IslMap pairs = effective(q.data, times, k);
    const bool whole = pairs.get() == times.dependence_on_time(k).get();
    if (whole && !asked.insert(q.data.same_relation[k]).second) continue;
    const IslMap here = intersect(pairs, times.same_before(rows));
    if (goes_back(here, rows.index, columns.index, most)) return std::optional<int>();
    while (least < most && goes_back(here, rows.index, columns.index, least)) ++least;
  }
  TRY_VOID(q.data.context.ok());
  return std::optional(least);
}

namespace {

// The answer for a loop and a container, where it is known already; otherwise what `find` says.
template <class Known, class Find>
Result<bool> once(const Question& q, Known& known, const std::string& container, const Find& find) {
  const auto before = known.find({q.symbol, container});
  if (before != known.end()) return before->second;
  Result<bool> answer = find();
  if (const auto in_budget = q.data.context.ok(); !in_budget) answer = std::unexpected(in_budget.error());
  return known.emplace(std::pair(q.symbol, container), std::move(answer)).first->second;
}

bool older_values(const Question& q, const std::string& container) {
  const Data& data = q.data;
  const Times& times = q.times();
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
  return true;
}

}  // namespace

Result<bool> reads_own_values(const Dependences& dependences, const Scop& scop, const ScheduleTree& tree,
                              const std::string& symbol, const std::string& container) {
  TRY(const Question q, about(dependences, scop, tree, symbol));
  return once(q, q.tree.own, container, [&] { return reads_own_values(q.data, q.times(), q.loop(), container); });
}

Result<bool> reads_older_values(const Dependences& dependences, const Scop& scop, const ScheduleTree& tree,
                                const std::string& symbol, const std::string& container) {
  TRY(const Question q, about(dependences, scop, tree, symbol));
  return once(q, q.tree.older, container, [&]() -> Result<bool> { return older_values(q, container); });
}

Result<bool> covered(const Dependences& dependences, const Scop& scop, const ScheduleTree& tree,
                     const std::string& symbol, const std::string& container) {
  TRY(const Question q, about(dependences, scop, tree, symbol));
  return once(q, q.tree.covered, container, [&] { return covered(q.data, q.times(), q.loop(), container); });
}

Result<bool> privatizable(const Dependences& dependences, const Scop& scop, const ScheduleTree& tree,
                          const std::string& symbol, const std::string& container) {
  const Container* c = scop.frame.find(container);
  if (!c || !c->transient) return false;
  return covered(dependences, scop, tree, symbol, container);
}

}  // namespace sous::sdfg
