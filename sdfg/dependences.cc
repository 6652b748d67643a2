#include "sdfg/dependences.h"

#include <algorithm>

#include "sdfg/dependence_data.h"
#include "sdfg/dependence_memory.h"
#include "sdfg/extremum.h"
#include "sdfg/loop_relations.h"
#include "sdfg/planted_fault.h"
#include "sdfg/times.h"

namespace sous::sdfg {
namespace {

using Data = Dependences::Data;

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
  Pairs(const Times& times, const Scop& scop) : times_(times), scop_(scop), paths_(scop.statements.size()) {
    find_paths(scop.tree, {}, paths_);
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
    if (is_new) {
      known->second.pairs = compute(c, a, b);
      known->second.any = !empty(known->second.pairs);
    }
    return known->second.any;
  }
  // All pairs of these classes, as ones of the statements.
  IslMap together(const std::set<PairClass>& classes, int s, int t) {
    const auto [known, is_new] = unions_.try_emplace(classes);
    IslMap& all = known->second;
    if (is_new) {
      for (const PairClass& c : classes) {
        IslMap one = named(known_.at(c).pairs, s, t);
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

  // Loop by loop: those of which the first is in an earlier iteration, and go on with those that are in the same.
  IslMap compute(const PairClass& c, const Access& a, const Access& b) const {
    IslMap same(isl_map_apply_range(a.map.copy(), isl_map_reverse(b.map.copy())));
    IslMap pairs(isl_map_empty(isl_map_get_space(same.get())));
    const auto& loops = scop_.statements[static_cast<std::size_t>(a.statement)].iterators;
    for (std::size_t k = 0; k < c.common_loops && !empty(same); ++k) {
      const bool up = times_.loops().at(loops[k]).loop->step > 0;
      pairs = IslMap(isl_map_union(pairs.release(), (up ? increasing(same, k) : decreasing(same, k)).release()));
      same = equal_in(same, k);
    }
    if (c.order == -1) pairs = IslMap(isl_map_union(pairs.release(), same.release()));
    return empty(pairs) ? pairs : IslMap(isl_map_coalesce(pairs.release()));
  }

  const Times& times_;
  const Scop& scop_;
  std::vector<Path> paths_;
  struct Known {
    IslMap pairs;
    bool any = false;
  };
  std::map<PairClass, Known> known_;
  std::map<std::set<PairClass>, IslMap> unions_;
};

// How far the target is from the source in the loop, along its direction.
std::optional<std::int64_t> distance_in(const Times::LoopTime& l, const IslMap& relation, std::size_t loop,
                                        const Times& times) {
  // What is counted from another place in each iteration around is no distance between values.
  if (l.counted)
    for (const std::string& symbol : l.loop->begin.symbols())
      if (times.loops().contains(symbol)) return std::nullopt;
  const auto difference = constant_difference(relation, loop);
  return difference && l.loop->step < 0 ? -*difference : difference;
}

void measure_distance(Dependence& d, const IslMap& relation, const Times& times, const Scop& scop) {
  const auto& s = scop.statements[static_cast<std::size_t>(d.source)].iterators;
  const auto& t = scop.statements[static_cast<std::size_t>(d.target)].iterators;
  IslMap equal = relation;  // in all loops so far
  for (std::size_t i = 0; i < s.size() && i < t.size() && s[i] == t[i]; ++i) {
    d.distance.push_back(distance_in(times.loops().at(s[i]), relation, i, times));
    if (d.equal_loops < i || (d.distance.back() && *d.distance.back() != 0)) continue;
    if (!d.distance.back()) equal = equal_in(equal, i);
    if (!empty(equal)) d.equal_loops = i + 1;
  }
}

Commutes commuting(const Statement& statement, const Scop& scop) {
  const auto update = commuting_update(statement);
  const Container* container = update ? scop.frame.find(update->container) : nullptr;
  if (!container) return Commutes::Never;
  if (!is_float(container->type)) return Commutes::Always;
  return keeps_first_extremum(statement) ? Commutes::InParts : Commutes::Never;
}

// Whether two accesses are of the elements that the same kind of update combines into, and these may change places.
class Commuting {
 public:
  explicit Commuting(const Scop& scop) {
    for (const Statement& s : scop.statements) {
      updates_.push_back(commuting_update(s));
      commutes_.push_back(commuting(s, scop));
    }
  }
  Commutes of(const Access& a, const Access& b) const {
    const auto s = static_cast<std::size_t>(a.statement), t = static_cast<std::size_t>(b.statement);
    const bool both = (a.update && b.update) || planted(Fault::other_element_taken_as_update);
    return both && updates_[s] && updates_[s] == updates_[t] ? std::min(commutes_[s], commutes_[t]) : Commutes::Never;
  }

 private:
  std::vector<std::optional<Reduction>> updates_;
  std::vector<Commutes> commutes_;  // of each statement: with others that are the same update
};

// Fills the dependences and their relations.
void relate(Data& data, const Times& times, const Scop& scop) {
  Pairs pairs(times, scop);
  const Commuting commuting(scop);
  // (container, source, target, kind, whether they commute) -> index of the dependence that collects these pairs
  std::map<std::tuple<std::string, int, int, DependenceKind, Commutes>, std::size_t> index;
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
      const Commutes order = commuting.of(a, b);
      const auto [it, is_new] = index.try_emplace({container, a.statement, b.statement, kind, order}, classes.size());
      if (is_new) {
        data.dependences.push_back({.kind = kind,
                                    .source = a.statement,
                                    .target = b.statement,
                                    .container = container,
                                    .distance = {},
                                    .equal_loops = 0});
        data.commutes.push_back(order);
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
      measure_distance(d, data.relations[k], times, scop);
    }
  }
}

}  // namespace

std::string Dependence::to_string(const Scop& scop) const {
  std::string text = describe(*this, scop) + " (";
  for (std::size_t i = 0; i < distance.size(); ++i)
    text += (i ? ", " : "") + (distance[i] ? std::to_string(*distance[i]) : std::string("*"));
  return text + ")";
}

Result<Dependences> Dependences::compute(const Scop& scop, const Budget& budget) {
  std::set<int> all;
  for (std::size_t s = 0; s < scop.statements.size(); ++s) all.insert(static_cast<int>(s));
  return compute_among(scop, all, budget);
}

bool Dependences::cover(const std::set<int>& statements) const {
  return data_ && (!data_->among || std::ranges::includes(*data_->among, statements));
}

Result<Dependences> Dependences::compute_among(const Scop& scop, const std::set<int>& statements,
                                               const Budget& budget) {
  const auto compute = [&]() -> Result<Dependences> {
    auto data = std::make_shared<Data>(budget);
    if (statements.size() < scop.statements.size()) data->among = statements;
    collect(*data, scop);
    TRY_VOID(data->context.ok());
    for (const Statement& s : scop.statements) data->updates.push_back(self_update(s));
    const Times times(*data, scop, scop.tree);
    relate(*data, times, scop);
    TRY_VOID(data->context.ok());
    Dependences result;
    result.data_ = std::move(data);
    return result;
  };
  DependenceMemory* memory = DependenceMemory::here();
  if (memory == nullptr) return compute();
  if (const auto* known = memory->find(scop, statements, budget)) return *known;
  Result<Dependences> result = compute();
  memory->keep(scop, statements, budget, result);
  return result;
}

const std::vector<Dependence>& Dependences::all() const { return data_->dependences; }

std::string Dependences::relation(std::size_t k) const {
  char* text = isl_map_to_str(data_->relations[k].get());
  std::string result = text ? text : "";
  std::free(text);
  return result;
}

}  // namespace sous::sdfg
