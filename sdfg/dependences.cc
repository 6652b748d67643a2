#include "sdfg/dependences.h"

#include <algorithm>

#include "sdfg/dependence_data.h"
#include "sdfg/extremum.h"
#include "sdfg/loop_relations.h"
#include "sdfg/planted_fault.h"
#include "sdfg/times.h"

namespace sous::sdfg {
namespace {

using Data = Dependences::Data;

// The differences in time between target and source over the pairs.
IslSet time_deltas(const IslMap& pairs, const Times& times, int s, int t) {
  return IslSet(isl_map_deltas(times.on_time(pairs, s, t).release()));
}

// A distance in time as one between the values of the loop's variable (both along its direction).
std::optional<std::int64_t> value_distance(std::optional<std::int64_t> distance, const Times& times,
                                           const Times::LoopTime& l) {
  if (!distance || !l.counted) return distance;
  for (const std::string& symbol : l.loop->begin.symbols())
    if (times.loops().contains(symbol)) return std::nullopt;
  return *distance * std::abs(l.loop->step);
}

// Where a statement stands in the tree: the index in each sequence on the way, and whether a loop stands there.
using Path = std::vector<std::pair<std::size_t, bool>>;

void find_paths(const ScheduleTree& tree, const Path& above, std::vector<Path>& paths) {
  for (std::size_t k = 0; k < tree.size(); ++k) {
    Path here = above;
    here.emplace_back(k, std::holds_alternative<ScheduleLoop>(tree[k].value));
    match(
        tree[k].value, [&](const ScheduleLoop& l) { find_paths(l.children, here, paths); },
        [&](const ScheduleGuard& g) { find_paths(g.children, here, paths); },
        [&](const ScheduleLeaf& leaf) { paths[static_cast<std::size_t>(leaf.statement)] = here; });
  }
}

// What decides, but for the names of the statements, which pairs of instances touch the same element in this order: the
// shapes of the accesses, the loops around both (which the shapes describe), and which of the two comes first in their
// body. Nests of many statements have few such classes: each is computed once.
struct PairClass {
  std::size_t source = 0, target = 0;
  std::size_t common_loops = 0;
  int order = 0;  // -1: the source comes first; 0: they are one statement
  auto operator<=>(const PairClass&) const = default;
};

class Pairs {
 public:
  Pairs(const Times& times, const Lifted& lifted) : times_(times), paths_(lifted.statements.size()) {
    find_paths(lifted.tree, {}, paths_);
  }

  PairClass class_of(const Access& a, const Access& b) const {
    const Path &s = paths_[static_cast<std::size_t>(a.statement)], &t = paths_[static_cast<std::size_t>(b.statement)];
    PairClass c{.source = a.shape, .target = b.shape};
    const auto [at_s, at_t] = std::ranges::mismatch(s, t);
    c.common_loops =
        static_cast<std::size_t>(std::count_if(s.begin(), at_s, [](const auto& step) { return step.second; }));
    if (at_s != s.end() && at_t != t.end()) c.order = *at_s < *at_t ? -1 : 1;
    return c;
  }
  // Whether there are pairs of instances that touch the same element, the first one before the second.
  bool any(const PairClass& c, const Access& a, const Access& b) {
    const auto [known, is_new] = known_.try_emplace(c);
    if (is_new) known->second = compute(a, b);
    return !empty(known->second);
  }
  // All pairs of these classes, as ones of the statements.
  IslMap together(const std::set<PairClass>& classes, int s, int t) {
    const auto [known, is_new] = unions_.try_emplace(classes);
    IslMap& all = known->second;
    if (is_new) {
      for (const PairClass& c : classes) {
        IslMap one = named(known_.at(c), s, t);
        all = all ? IslMap(isl_map_union(all.release(), one.release())) : std::move(one);
      }
      if (classes.size() > 1) all = IslMap(isl_map_coalesce(all.release()));
    }
    return named(all, s, t);
  }

 private:
  static IslMap named(const IslMap& pairs, int s, int t) {
    isl_map* out = pairs.copy();
    out = isl_map_set_tuple_name(out, isl_dim_in, numbered("S", static_cast<std::size_t>(s)).c_str());
    return IslMap(isl_map_set_tuple_name(out, isl_dim_out, numbered("S", static_cast<std::size_t>(t)).c_str()));
  }

  IslMap compute(const Access& a, const Access& b) {
    const auto order = orders_.find({a.statement, b.statement});
    if (order != orders_.end() && empty(order->second)) return order->second;
    const IslMap touching(isl_map_apply_range(a.map.copy(), isl_map_reverse(b.map.copy())));
    if (empty(touching)) return touching;
    const IslMap& before = order != orders_.end()
                               ? order->second
                               : orders_[{a.statement, b.statement}] = times_.before(a.statement, b.statement);
    const IslMap pairs = intersect(touching, before);
    return empty(pairs) ? pairs : IslMap(isl_map_coalesce(pairs.copy()));
  }

  const Times& times_;
  std::vector<Path> paths_;
  std::map<std::pair<int, int>, IslMap> orders_;
  std::map<PairClass, IslMap> known_;
  std::map<std::set<PairClass>, IslMap> unions_;
};

void measure_distance(Dependence& d, const IslMap& relation, const Times& times, const Lifted& lifted) {
  const auto& s = lifted.statements[static_cast<std::size_t>(d.source)].iterators;
  const auto& t = lifted.statements[static_cast<std::size_t>(d.target)].iterators;
  const IslSet deltas = time_deltas(relation, times, d.source, d.target);
  IslSet equal(deltas.copy());
  for (std::size_t i = 0; i < s.size() && i < t.size() && s[i] == t[i]; ++i) {
    const std::size_t index = times.loops().at(s[i]).index;
    d.distance.push_back(value_distance(constant_distance(deltas, times, index), times, times.loops().at(s[i])));
    equal = IslSet(isl_set_fix_si(equal.release(), isl_dim_set, static_cast<unsigned>(index), 0));
    if (d.equal_loops == i && isl_set_is_empty(equal.get()) == isl_bool_false) d.equal_loops = i + 1;
  }
}

Commutes commuting(const Statement& statement, const std::optional<Reduction>& update, const Lifted& lifted) {
  const Container* container = update ? lifted.frame.find(update->container) : nullptr;
  if (!container) return Commutes::Never;
  if (!is_float(container->type)) return Commutes::Always;
  return keeps_first_extremum(statement) ? Commutes::InParts : Commutes::Never;
}

// Fills the dependences and their relations.
void relate(Data& data, const Times& times, const Lifted& lifted) {
  Pairs pairs(times, lifted);
  // (container, source, target, kind) -> index of the dependence that collects these pairs
  std::map<std::tuple<std::string, int, int, DependenceKind>, std::size_t> index;
  std::vector<std::set<PairClass>> classes;
  for (const Access& a : data.accesses)
    for (const Access& b : data.accesses) {
      if (a.tuple != b.tuple || (!a.write && !b.write)) continue;
      const PairClass c = pairs.class_of(a, b);
      if (!pairs.any(c, a, b)) continue;
      auto kind = !a.write ? DependenceKind::Anti : b.write ? DependenceKind::Output : DependenceKind::Flow;
      if (kind == DependenceKind::Flow && planted(Fault::flow_dropped)) continue;
      if (kind == DependenceKind::Anti && planted(Fault::anti_dropped)) continue;
      if (kind == DependenceKind::Output && planted(Fault::output_dropped)) continue;
      // Of two containers that may be the same memory, the one that is read: only an update's own element is its
      // reduction.
      const std::string& container = a.write || planted(Fault::shared_read_taken_as_update) ? b.container : a.container;
      const auto [it, is_new] = index.try_emplace({container, a.statement, b.statement, kind}, classes.size());
      if (is_new) {
        data.dependences.push_back({.kind = kind,
                                    .source = a.statement,
                                    .target = b.statement,
                                    .container = container,
                                    .distance = {},
                                    .equal_loops = 0});
        classes.emplace_back();
      }
      classes[it->second].insert(c);
    }
  std::map<std::set<PairClass>, std::size_t> like;  // the first of these classes
  std::map<std::tuple<int, int, std::set<PairClass>>, std::size_t> same;
  for (std::size_t k = 0; k < classes.size(); ++k) {
    Dependence& d = data.dependences[k];
    const std::size_t first = same.try_emplace({d.source, d.target, classes[k]}, k).first->second;
    data.same_relation.push_back(first);
    data.relations.push_back(first < k ? data.relations[first] : pairs.together(classes[k], d.source, d.target));
    if (const auto [known, is_new] = like.try_emplace(classes[k], k); !is_new) {
      d.distance = data.dependences[known->second].distance;
      d.equal_loops = data.dependences[known->second].equal_loops;
    } else {
      measure_distance(d, data.relations[k], times, lifted);
    }
  }
}

}  // namespace

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
  for (const Statement& s : lifted.statements) {
    data->updates.push_back(self_update(s));
    data->commutes.push_back(commuting(s, data->updates.back(), lifted));
  }
  const Times times(*data, lifted, lifted.tree);
  relate(*data, times, lifted);
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

// What was found out about a tree. What an exhausted budget cut short is not gone on with.
struct Dependences::Data::Asked {
  const ScheduleTree tree;
  bool original = false;  // the tree is that of the program
  std::optional<Times> times = std::nullopt;
  std::map<std::string, Result<std::vector<Carried>>> carried = {};  // by symbol

  Asked(const ScheduleTree& of, bool is_original) : tree(of), original(is_original) {}
};

namespace {

constexpr std::size_t most_asked = 8;

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

Data::Asked& asked_of(const Data& data, const Lifted& lifted, const ScheduleTree& tree) {
  auto& all = data.asked;
  const auto known = std::ranges::find_if(all, [&](const auto& one) { return one->tree == tree; });
  if (known != all.end()) {
    std::rotate(all.begin(), known, known + 1);
  } else {
    if (all.size() == most_asked) all.pop_back();
    all.insert(all.begin(), std::make_shared<Data::Asked>(tree, tree == lifted.tree));
  }
  return *all.front();
}

Result<Question> about(const Dependences& dependences, const Lifted& lifted, const ScheduleTree& tree,
                       const std::string& symbol) {
  const Data& data = dependences.data();
  data.context.restart();
  Data::Asked& asked = asked_of(data, lifted, tree);
  if (!asked.times) asked.times.emplace(data, lifted, asked.tree);
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
std::optional<CarriedPairs> by_distances(const Dependence& d, const Question& q, const Lifted& lifted) {
  if (!q.tree.original || planted(Fault::parallel_unchecked)) return std::nullopt;
  const auto& loops = lifted.statements[static_cast<std::size_t>(d.source)].iterators;
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

CarriedPairs by_relation(const Question& q, const IslMap& dependence) {
  const Times::LoopTime& l = q.loop();
  IslMap pairs = carried_pairs(q.times(), l, dependence);
  if (empty(pairs)) return {};
  auto distance = constant_distance(IslSet(isl_map_deltas(pairs.release())), q.times(), l.index);
  if (distance && !l.counted) *distance /= std::abs(l.loop->step);
  return {true, distance};
}

Result<std::vector<Carried>> carried_by(const Question& q, const Lifted& lifted) {
  const Data& data = q.data;
  std::vector<Carried> result;
  std::map<std::size_t, CarriedPairs> known;  // of relations of which nothing is excused
  for (std::size_t k = 0; k < data.dependences.size(); ++k) {
    const Dependence& d = data.dependences[k];
    if (q.times().all_outside(d.source, q.loop()) || q.times().all_outside(d.target, q.loop())) continue;
    CarriedPairs pairs;
    if (excuses(data, q.times(), d, q.loop())) {
      pairs = by_relation(q, effective(data, q.times(), k, &q.loop()));
    } else {
      const auto [at, is_new] = known.try_emplace(data.same_relation[k]);
      if (is_new) {
        const auto told = by_distances(d, q, lifted);
        at->second = told ? *told : by_relation(q, q.times().dependence_on_time(k));
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

Result<std::vector<Carried>> carried_by(const Dependences& dependences, const Lifted& lifted, const ScheduleTree& tree,
                                        const std::string& symbol) {
  TRY(const Question q, about(dependences, lifted, tree, symbol));
  const auto known = q.tree.carried.find(symbol);
  if (known != q.tree.carried.end()) return known->second;
  return q.tree.carried.emplace(symbol, carried_by(q, lifted)).first->second;
}

Result<bool> reads_own_values(const Dependences& dependences, const Lifted& lifted, const ScheduleTree& tree,
                              const std::string& symbol, const std::string& container) {
  TRY(const Question q, about(dependences, lifted, tree, symbol));
  auto own = reads_own_values(q.data, q.times(), q.loop(), container);
  TRY_VOID(q.data.context.ok());
  return own;
}

Result<bool> reads_older_values(const Dependences& dependences, const Lifted& lifted, const ScheduleTree& tree,
                                const std::string& symbol, const std::string& container) {
  TRY(const Question q, about(dependences, lifted, tree, symbol));
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
  TRY_VOID(q.data.context.ok());
  return true;
}

Result<bool> privatizable(const Dependences& dependences, const Lifted& lifted, const ScheduleTree& tree,
                          const std::string& symbol, const std::string& container) {
  const Container* c = lifted.frame.find(container);
  if (!c || !c->transient) return false;
  TRY(const Question q, about(dependences, lifted, tree, symbol));
  auto own = covered(q.data, q.times(), q.loop(), container);
  TRY_VOID(q.data.context.ok());
  return own;
}

}  // namespace sous::sdfg
