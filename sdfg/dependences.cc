#include "sdfg/dependences.h"

#include <algorithm>
#include <functional>

#include "sdfg/isl_handle.h"
#include "sdfg/planted_fault.h"
#include "sdfg/polyhedral.h"

namespace sous::sdfg {

namespace {

struct Access {
  int statement = 0;
  std::string container;  // name, for reports
  std::string tuple;      // what isl calls the memory: equal tuples may be the same memory
  bool write = false;
  bool exact = false;  // touches exactly these elements (otherwise perhaps fewer)
  IslMap map;          // statement instance -> element
};

std::string join(const std::vector<std::string>& parts, const char* separator) {
  std::string text;
  for (const std::string& p : parts) text += (text.empty() ? "" : separator) + p;
  return text;
}

std::string numbered(const char* prefix, std::size_t k) { return prefix + std::to_string(k); }

std::string tuple(const char* prefix, std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) names.push_back(numbered(prefix, i));
  return "[" + join(names, ", ") + "]";
}

// What the loop says about its variable, called `v`. `outer` are the names outside it.
std::string loop_constraint(const ScheduleLoop& loop, const IslNames& outer, const std::string& v) {
  return isl_loop(loop.symbol, loop.begin, loop.end, loop.step, outer, v);
}

}  // namespace

struct Dependences::Data {
  explicit Data(const Budget& budget)
      : context(std::getenv("SOUS_BUDGET") ? std::strtoul(std::getenv("SOUS_BUDGET"), nullptr, 10)
                                           : budget.operations) {}

  mutable IslContext context;  // first: everything below lives in it
  IslNames parameters;
  std::string header;  // "[p0, p1] -> "
  std::vector<IslSet> domains;
  std::vector<Access> accesses;
  std::vector<Dependence> dependences;
  std::vector<IslMap> relations;
  std::vector<std::optional<Reduction>> updates;  // self_update of each statement

  IslMap read_map(const std::string& body) const {
    return IslMap(isl_map_read_from_str(context.get(), (header + "{ " + body + " }").c_str()));
  }
  IslSet read_set(const std::string& body) const {
    return IslSet(isl_set_read_from_str(context.get(), (header + "{ " + body + " }").c_str()));
  }
};

namespace {

using Data = Dependences::Data;

std::string statement_tuple(std::size_t statement, const std::vector<std::string>& dims) {
  return numbered("S", statement) + "[" + join(dims, ", ") + "]";
}

// --- Domains and accesses
// -----------------------------------------------------------------------------------------------

// The affine assumptions of an Sdfg, as constraints.
std::vector<std::string> assumed(const Lifted& lifted, const IslNames& names) {
  std::vector<std::string> constraints;
  for (const Expr& a : lifted.frame.assumptions)
    if (is_quasi_affine(a) && names_known(a, names)) constraints.push_back("(" + isl_text(a, names) + ") >= 0");
  return constraints;
}

class Collector {
 public:
  Collector(Data& data, const Lifted& lifted) : data_(data), lifted_(lifted) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < lifted.frame.symbols.size(); ++i) {
      names.push_back(numbered("p", i));
      data.parameters[lifted.frame.symbols[i]] = names.back();
    }
    data.header = "[" + join(names, ", ") + "] -> ";
    std::map<int, int> class_sizes;
    for (const Container& c : lifted.frame.containers) ++class_sizes[c.alias_class];
    for (std::size_t i = 0; i < lifted.frame.containers.size(); ++i) {
      const Container& c = lifted.frame.containers[i];
      bool alone = c.alias_class <= 0 || class_sizes[c.alias_class] == 1;
      alone = alone || planted(Fault::shared_alias_class_apart);
      tuples_[c.name] = alone ? numbered("C", i) : numbered("K", static_cast<std::size_t>(c.alias_class));
      whole_[c.name] = !alone;
    }
    for (std::size_t s = 0; s < lifted.statements.size(); ++s) domain(s);
    bool returns = false;
    for (const Statement& s : lifted.statements) returns = returns || has_return(s);
    for (std::size_t s = 0; s < lifted.statements.size(); ++s) {
      statement_ = s;
      node(lifted.statements[s].node, !lifted.statements[s].opaque);
      // Nothing moves across a return: it writes what every statement reads.
      if (returns) control(has_return(lifted.statements[s]));
    }
  }

 private:
  static bool has_return(const Statement& s) {
    bool found = false;
    visit(Region{{s.node}}, [&](const Node& n) { found = found || std::holds_alternative<Return>(n.value); });
    return found;
  }

  void domain(std::size_t s) {
    IslNames names = data_.parameters;
    std::vector<std::string> dims, constraints;
    constraints = assumed(lifted_, names);
    const ScheduleTree* tree = &lifted_.statements[s].domain;
    while (tree) {
      const ScheduleTree* below = nullptr;
      match(
          tree->at(0).value,
          [&](const ScheduleLoop& l) {
            dims.push_back(numbered("o", dims.size()));
            constraints.push_back(loop_constraint(l, names, dims.back()));
            names[l.symbol] = dims.back();
            below = &l.children;
          },
          [&](const ScheduleGuard& g) {
            constraints.push_back(isl_text(g.condition, names));
            below = &g.children;
          },
          [](const ScheduleLeaf&) {});
      tree = below;
    }
    names_.push_back(names);
    dims_.push_back(dims);
    std::string where = constraints.empty() ? "" : " : " + join(constraints, " and ");
    data_.domains.push_back(data_.read_set(statement_tuple(s, dims) + where));
  }

  void access(const Memlet& m, bool write, bool sure) {
    for (const Dim& d : m.subset) {
      reads(d.begin);
      if (d.end) reads(*d.end);
    }
    const IslNames& names = names_[statement_];
    bool exact = sure && !whole_.at(m.container);
    std::vector<std::string> dims, constraints;
    for (std::size_t d = 0; d < m.subset.size() && !whole_.at(m.container); ++d) {
      dims.push_back(numbered("e", d));
      auto usable = [&](const Expr& e) { return is_quasi_affine(e) && names_known(e, names); };
      const Dim& dim = m.subset[d];
      if (!usable(dim.begin) || (dim.end && !usable(*dim.end))) {
        exact = false;
        if (planted(Fault::indirect_access_fixed)) constraints.push_back(dims.back() + " = 0");
      } else if (dim.end) {
        constraints.push_back("(" + isl_text(dim.begin, names) + ") <= " + dims.back() + " and " + dims.back() +
                              " < (" + isl_text(*dim.end, names) + ")");
        exact = exact && dim.step == 1;
      } else {
        constraints.push_back(dims.back() + " = " + isl_text(dim.begin, names));
      }
    }
    add(m.container, tuples_.at(m.container), dims, constraints, write, exact);
  }

  void add(const std::string& container, const std::string& memory, const std::vector<std::string>& dims,
           const std::vector<std::string>& constraints, bool write, bool exact) {
    std::string where = constraints.empty() ? "" : " : " + join(constraints, " and ");
    IslMap map = data_.read_map(statement_tuple(statement_, dims_[statement_]) + " -> " + memory + "[" +
                                join(dims, ", ") + "]" + where);
    map = IslMap(isl_map_intersect_domain(map.release(), data_.domains[statement_].copy()));
    data_.accesses.push_back({.statement = static_cast<int>(statement_),
                              .container = container,
                              .tuple = memory,
                              .write = write,
                              .exact = exact,
                              .map = std::move(map)});
  }

  void control(bool write) { add("return", "R", {}, {}, write, false); }

  void reads(const Expr& e) {
    e.map_reads([&](const std::string& container, const std::vector<Expr>& subscript) {
      access({.container = container, .subset = point(subscript), .combine = std::nullopt}, false, true);
      return Expr::read(container, subscript);
    });
  }

  void condition(const Condition& c) {
    for (const Memlet& m : c.inputs) access(m, false, true);
  }

  void node(const Node& n, bool sure) {
    match(
        n.value,
        [&](const State& s) {
          for (const Edge& e : s.edges) {
            bool write = std::holds_alternative<AccessNode>(s.nodes[static_cast<std::size_t>(e.target)]);
            if (!write || e.memlet.combine) access(e.memlet, false, sure);
            if (write) access(e.memlet, true, sure);
          }
        },
        [&](const Loop& l) {
          reads(l.begin);
          reads(l.end);
          for (const Node& below : l.body.nodes) node(below, false);
        },
        [&](const If& i) {
          condition(i.condition);
          for (const Node& below : i.then_body.nodes) node(below, false);
          for (const Node& below : i.else_body.nodes) node(below, false);
        },
        [&](const While& w) {
          condition(w.condition);
          for (const Node& below : w.body.nodes) node(below, false);
        },
        [](const Return&) {});
  }

  Data& data_;
  const Lifted& lifted_;
  std::map<std::string, std::string> tuples_;
  std::map<std::string, bool> whole_;  // shares its alias class: any access may touch any of it
  std::vector<IslNames> names_;
  std::vector<std::vector<std::string>> dims_;
  std::size_t statement_ = 0;
};

// --- Schedules
// ------------------------------------------------------------------------------------------------------------

bool empty(const IslMap& map) { return !map || isl_map_is_empty(map.get()) == isl_bool_true; }

IslMap intersect(const IslMap& a, const IslMap& b) { return IslMap(isl_map_intersect(a.copy(), b.copy())); }
IslMap subtract(const IslMap& a, const IslMap& b) { return IslMap(isl_map_subtract(a.copy(), b.copy())); }

// A tree as maps from statement instances to time: the position in each sequence and the value of each loop on the way
// (negated where it counts down), padded with zeros (Kelly and Pugh's 2d+1 form). A loop with another step than one
// counts its iterations instead: with the start of a tile as begin + size * number, isl sees the number as a quotient
// of the point in it, where a congruence over the starts would have to be solved again in every question.
class Times {
 public:
  struct LoopTime {
    std::size_t index = 0;                                       // of its dimension in the time vector
    bool counted = false;                                        // iterations, not values
    std::vector<std::pair<std::size_t, std::size_t>> positions;  // (dimension, value) of the sequences above it
    const ScheduleLoop* loop = nullptr;
  };

  Times(const Data& data, const Lifted& lifted, const ScheduleTree& tree)
      : data_(data), maps_(lifted.statements.size()) {
    length_ = depth(tree);
    all_pairs_ = data.read_map(tuple("t", length_) + " -> " + tuple("u", length_));
    // The same context as that of the domains: `respects` compares the two.
    walk(tree,
         {.names = data.parameters, .constraints = assumed(lifted, data.parameters), .time = {}, .positions = {}});
    for (std::size_t s = 0; s < maps_.size(); ++s)
      if (!maps_[s]) {
        std::string dims = tuple("o", lifted.statements[s].iterators.size());
        maps_[s] = data.read_map(numbered("S", s) + dims + " -> " + tuple("t", length_) + " : false");
      }
  }

  const IslMap& of(int statement) const { return maps_[static_cast<std::size_t>(statement)]; }
  const std::map<std::string, LoopTime>& loops() const { return loops_; }

  // Pairs of times (built, since reading such a relation from text costs more than most questions that use it):
  // all of them,
  IslMap any() const { return all_pairs_; }
  // those that agree in the first `count` dimensions,
  IslMap agree(std::size_t count) const {
    return IslMap(
        isl_map_from_basic_map(isl_basic_map_equal(isl_map_get_space(all_pairs_.get()), static_cast<unsigned>(count))));
  }
  // of which the second is not after the first,
  IslMap not_before() const { return IslMap(isl_map_lex_ge(isl_space_domain(isl_map_get_space(all_pairs_.get())))); }
  // of two times inside the loop,
  IslMap both_inside(const LoopTime& l) const {
    IslMap pairs = all_pairs_;
    for (auto [dimension, value] : l.positions)
      for (isl_dim_type side : {isl_dim_in, isl_dim_out})
        pairs =
            IslMap(isl_map_fix_si(pairs.release(), side, static_cast<unsigned>(dimension), static_cast<int>(value)));
    return pairs;
  }
  // which besides agree on everything before its own dimension,
  IslMap same_before(const LoopTime& l) const { return intersect(agree(l.index), both_inside(l)); }
  // on that too,
  IslMap same_iteration(const LoopTime& l) const { return intersect(agree(l.index + 1), both_inside(l)); }
  // or of which the first is in an earlier iteration, by less than `within` in time (0: any).
  IslMap carried(const LoopTime& l, std::int64_t within = 0) const {
    const auto at = static_cast<unsigned>(l.index);
    IslMap pairs(isl_map_from_basic_map(isl_basic_map_less_at(isl_map_get_space(all_pairs_.get()), at)));
    if (within > 0) {
      isl_constraint* near = isl_constraint_alloc_inequality(
          isl_local_space_from_space(isl_map_get_space(all_pairs_.get())));  // within - 1 + t - u >= 0
      near = isl_constraint_set_coefficient_si(near, isl_dim_in, static_cast<int>(at), 1);
      near = isl_constraint_set_coefficient_si(near, isl_dim_out, static_cast<int>(at), -1);
      near = isl_constraint_set_constant_si(near, static_cast<int>(within - 1));
      pairs = IslMap(isl_map_add_constraint(pairs.release(), near));
    }
    return intersect(pairs, both_inside(l));
  }
  // The second is not after the first in the dimensions behind the loop's own; equal ones only count with `or_equal`.
  IslMap not_after_inside(const LoopTime& l, bool or_equal) const {
    IslMap result = subtract(all_pairs_, all_pairs_), equal = all_pairs_;
    for (std::size_t i = l.index + 1; i < length_; ++i) {
      const int at = static_cast<int>(i);
      IslMap later(isl_map_order_gt(equal.copy(), isl_dim_in, at, isl_dim_out, at));
      result = IslMap(isl_map_union(result.release(), later.release()));
      equal = IslMap(isl_map_equate(equal.release(), isl_dim_in, at, isl_dim_out, at));
    }
    return or_equal ? IslMap(isl_map_union(result.release(), equal.release())) : result;
  }
  // Pairs of instances of s and t whose times are so related.
  IslMap related(int s, int t, const IslMap& times) const {
    return IslMap(isl_map_apply_range(isl_map_apply_range(of(s).copy(), times.copy()), isl_map_reverse(of(t).copy())));
  }
  // A relation between instances as one between their times. Most questions are asked there: each is then a conjunction
  // over the time dimensions instead of a composition with the schedule.
  IslMap on_time(const IslMap& pairs, int s, int t) const {
    return IslMap(isl_map_apply_range(isl_map_apply_domain(pairs.copy(), of(s).copy()), of(t).copy()));
  }
  // s strictly before t.
  IslMap before(int s, int t) const { return IslMap(isl_map_lex_lt_map(of(s).copy(), of(t).copy())); }

  std::size_t length() const { return length_; }

 private:
  struct Place {
    IslNames names;
    std::vector<std::string> constraints;
    std::vector<std::string> time;  // texts of the dimensions so far
    std::vector<std::pair<std::size_t, std::size_t>> positions;
  };

  static std::size_t depth(const ScheduleTree& tree) {
    std::size_t deepest = 0;
    for (const ScheduleNode& n : tree)
      deepest = std::max(deepest, match(
                                      n.value, [](const ScheduleLoop& l) { return 2 + depth(l.children); },
                                      [](const ScheduleGuard& g) { return 1 + depth(g.children); },
                                      [](const ScheduleLeaf&) -> std::size_t { return 1; }));
    return deepest;
  }

  void walk(const ScheduleTree& tree, const Place& place) {
    for (std::size_t k = 0; k < tree.size(); ++k) {
      Place here = place;
      here.positions.emplace_back(here.time.size(), k);
      here.time.push_back(std::to_string(k));
      match(
          tree[k].value,
          [&](const ScheduleLoop& l) {
            std::string variable = numbered("t", here.time.size());
            const bool counted =
                std::abs(l.step) != 1 && max_pieces(l.begin).size() == 1 && min_pieces(l.begin).size() == 1;
            loops_[l.symbol] = {.index = here.time.size(), .counted = counted, .positions = here.positions, .loop = &l};
            std::string value = l.step > 0 ? variable : "(-" + variable + ")";
            if (counted) {
              value = "(" + isl_text(l.begin, here.names) + " + " + std::to_string(l.step) + " * " + variable + ")";
              here.constraints.push_back(variable + " >= 0");
            }
            // What is counted is congruent by construction.
            ScheduleLoop bounds = l;
            if (counted) bounds.step = l.step > 0 ? 1 : -1;
            here.constraints.push_back(loop_constraint(bounds, here.names, value));
            here.names[l.symbol] = value;
            here.time.push_back(variable);
            walk(l.children, here);
          },
          [&](const ScheduleGuard& g) {
            here.constraints.push_back(isl_text(g.condition, here.names));
            walk(g.children, here);
          },
          [&](const ScheduleLeaf& leaf) { add(leaf, here); });
    }
  }

  void add(const ScheduleLeaf& leaf, Place& here) {
    while (here.time.size() < length_) here.time.emplace_back("0");
    std::vector<std::string> dims;
    for (std::size_t i = 0; i < leaf.iterators.size(); ++i) {
      dims.push_back(numbered("o", i));
      here.constraints.push_back(dims.back() + " = " + isl_text(leaf.iterators[i], here.names));
    }
    auto s = static_cast<std::size_t>(leaf.statement);
    std::string where = here.constraints.empty() ? "" : " : " + join(here.constraints, " and ");
    IslMap map = data_.read_map(statement_tuple(s, dims) + " -> [" + join(here.time, ", ") + "]" + where);
    maps_[s] = maps_[s] ? IslMap(isl_map_union(maps_[s].release(), map.release())) : std::move(map);
  }

  const Data& data_;
  std::size_t length_ = 0;
  IslMap all_pairs_;
  std::vector<IslMap> maps_;
  std::map<std::string, LoopTime> loops_;
};

// The differences in time between target and source over the pairs.
IslSet time_deltas(const IslMap& pairs, const Times& times, int s, int t) {
  isl_map* on_time = isl_map_apply_range(isl_map_apply_domain(pairs.copy(), times.of(s).copy()), times.of(t).copy());
  return IslSet(isl_map_deltas(on_time));
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

// Pairs of times that lockstep execution of the loop in groups of `lanes` (0: any number) puts in the wrong order: in
// one group, and the target not after the source in the body; within one statement all reads come before all writes.
IslMap broken_by_lockstep(const Times& times, const Times::LoopTime& l, int lanes, const Dependence& d,
                          const IslMap& pairs) {
  if (planted(Fault::lockstep_unchecked)) return subtract(pairs, pairs);
  const IslMap in_group = intersect(pairs, times.carried(l, l.counted ? lanes : lanes * std::abs(l.loop->step)));
  if (empty(in_group)) return in_group;
  const bool reads_first = d.kind == DependenceKind::Anti && d.source == d.target;
  return intersect(in_group, times.not_after_inside(l, !reads_first));
}

std::string describe(const Dependence& d, const Lifted& lifted) {
  const char* kind = d.kind == DependenceKind::Flow ? "flow" : d.kind == DependenceKind::Anti ? "anti" : "output";
  return std::string(kind) + " dependence " + lifted.statements[static_cast<std::size_t>(d.source)].name + " -> " +
         lifted.statements[static_cast<std::size_t>(d.target)].name + " on " + d.container;
}

// Every read of `container` inside the loop is of an element written before in the same iteration, and no read is
// outside.
Result<bool> covered(const Data& data, const Times& times, const Times::LoopTime& l, const std::string& container) {
  if (planted(Fault::private_not_covered)) return true;
  for (const Access& access : data.accesses) {
    if (access.container != container) continue;
    IslMap inside = times.related(access.statement, access.statement, times.same_iteration(l));
    IslMap outside(isl_map_subtract_domain(access.map.copy(), isl_map_domain(inside.release())));
    if (!empty(outside)) return false;
  }
  for (const Access& read : data.accesses) {
    if (read.write || read.container != container) continue;
    IslMap uncovered = read.map;
    for (const Access& write : data.accesses) {
      if (!write.write || !write.exact || write.container != container) continue;
      IslMap pairs = intersect(times.related(write.statement, read.statement, times.same_iteration(l)),
                               times.before(write.statement, read.statement));
      IslMap written(isl_map_apply_range(isl_map_reverse(pairs.release()), write.map.copy()));
      uncovered = subtract(uncovered, written);
    }
    if (!empty(uncovered)) return false;
  }
  TRY_VOID(data.context.ok());
  return true;
}

Result<void> instances(const Data& data, const Times& times, const Lifted& lifted) {
  if (planted(Fault::instances_unchecked)) return {};
  for (std::size_t s = 0; s < lifted.statements.size(); ++s) {
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

// Whether both trees run the same instances in the same iterations of what they share, each once.
bool same_instances(const Data& data, const Times& before, const Times& after, std::size_t shared,
                    const Lifted& lifted) {
  const auto around = [&](const Times& times, int s) {
    const auto first = static_cast<unsigned>(shared), count = static_cast<unsigned>(times.length() - shared);
    return IslMap(isl_map_project_out(times.of(s).copy(), isl_dim_out, first, count));
  };
  for (std::size_t k = 0; k < lifted.statements.size(); ++k) {
    const int s = static_cast<int>(k);
    if (isl_map_is_equal(around(before, s).get(), around(after, s).get()) != isl_bool_true ||
        isl_map_is_single_valued(after.of(s).get()) != isl_bool_true || !data.context.ok())
      return false;
  }
  return true;
}

// Every dependence keeps its order, and loops that do not run in order carry none; both for pairs of instances that
// agree in the first `shared` time dimensions, and for the loops below those.
Result<void> ordered(const Data& data, const Times& times, std::size_t shared, const Lifted& lifted) {
  const IslMap reversed = intersect(times.not_before(), times.agree(shared));
  for (std::size_t k = 0; k < data.dependences.size(); ++k) {
    const Dependence& d = data.dependences[k];
    IslMap pairs = effective(data, times, k);
    if (!empty(intersect(pairs, reversed)))
      return fail("legality.dependence", "the " + describe(d, lifted) + " would be reversed");
    for (const auto& [symbol, l] : times.loops()) {
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
            return carries(broken_by_lockstep(times, l, simd.lanes, d, effective(data, times, k, &l)));
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

// --- The public functions
// ---------------------------------------------------------------------------------------------------

std::string Dependence::to_string(const Lifted& lifted) const {
  std::string text = describe(*this, lifted) + " (";
  for (std::size_t i = 0; i < distance.size(); ++i)
    text += (i ? ", " : "") + (distance[i] ? std::to_string(*distance[i]) : std::string("*"));
  return text + ")";
}

Result<Dependences> Dependences::compute(const Lifted& lifted, const Budget& budget) {
  auto data = std::make_shared<Data>(budget);
  Collector collector(*data, lifted);
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

Result<void> adds_no_instances(const Dependences& dependences, const Lifted& lifted, const ScheduleTree& tree) {
  const Data& data = dependences.data();
  data.context.restart();
  Times times(data, lifted, tree);
  for (std::size_t s = 0; s < lifted.statements.size(); ++s) {
    IslSet run(isl_map_domain(times.of(static_cast<int>(s)).copy()));
    const bool within = isl_set_is_subset(run.get(), data.domains[s].get()) == isl_bool_true;
    TRY_VOID(data.context.ok());
    if (!within)
      return fail("legality.instances",
                  "statement " + lifted.statements[s].name + " would run for instances it does not have");
  }
  return {};
}

Result<void> respects(const Dependences& dependences, const Lifted& lifted, const ScheduleTree& tree) {
  const Data& data = dependences.data();
  data.context.restart();
  Times times(data, lifted, tree);
  TRY_VOID(instances(data, times, lifted));
  for (const auto& [symbol, l] : times.loops())
    for (const std::string& container : l.loop->privates) {
      TRY(bool ok, covered(data, times, l, container));
      if (!ok)
        return fail("legality.private", "a value of " + container + " crosses the iterations of " + symbol, symbol);
    }
  return ordered(data, times, 0, lifted);
}

Result<void> respects_as(const Dependences& dependences, const Lifted& lifted, const ScheduleTree& legal,
                         const ScheduleTree& tree) {
  const Change change = difference(legal, tree);
  if (!change.local) return respects(dependences, lifted, tree);
  const Data& data = dependences.data();
  data.context.restart();
  const Times before(data, lifted, change.before), after(data, lifted, change.after);
  // Instances may have moved to other iterations of what is around (a reversal): then the change is larger than it
  // looks.
  if (!same_instances(data, before, after, change.shared, lifted)) return respects(dependences, lifted, tree);
  return ordered(data, after, change.shared, lifted);
}

Result<std::vector<Carried>> carried_by(const Dependences& dependences, const Lifted& lifted, const ScheduleTree& tree,
                                        const std::string& symbol) {
  const Data& data = dependences.data();
  data.context.restart();
  Times times(data, lifted, tree);
  auto l = times.loops().find(symbol);
  if (l == times.loops().end()) return fail("legality.no-loop", "there is no loop " + symbol, symbol);
  std::vector<Carried> result;
  for (std::size_t k = 0; k < data.dependences.size(); ++k) {
    const Dependence& d = data.dependences[k];
    IslMap pairs = carried_pairs(times, l->second, effective(data, times, k, &l->second));
    if (empty(pairs)) continue;
    const auto& update = data.updates[static_cast<std::size_t>(d.source)];
    auto distance = constant_distance(IslSet(isl_map_deltas(pairs.release())), times, l->second.index);
    if (distance && !l->second.counted) *distance /= std::abs(l->second.loop->step);
    result.push_back({.dependence = static_cast<int>(k),
                      .self_update = d.source == d.target && update && update->container == d.container,
                      .distance = distance});
  }
  TRY_VOID(data.context.ok());
  return result;
}

Result<bool> privatizable(const Dependences& dependences, const Lifted& lifted, const ScheduleTree& tree,
                          const std::string& symbol, const std::string& container) {
  const Container* c = lifted.frame.find(container);
  if (!c || !c->transient) return false;
  const Data& data = dependences.data();
  data.context.restart();
  Times times(data, lifted, tree);
  auto l = times.loops().find(symbol);
  if (l == times.loops().end()) return fail("legality.no-loop", "there is no loop " + symbol, symbol);
  return covered(data, times, l->second, container);
}

namespace {

ReductionOp reduction_of(ScalarOp op) {
  switch (op) {
    case ScalarOp::mul:
      return ReductionOp::product;
    case ScalarOp::min:
      return ReductionOp::min;
    case ScalarOp::max:
      return ReductionOp::max;
    case ScalarOp::bit_and:
      return ReductionOp::bit_and;
    case ScalarOp::bit_or:
      return ReductionOp::bit_or;
    case ScalarOp::bit_xor:
      return ReductionOp::bit_xor;
    default:
      return ReductionOp::sum;
  }
}

bool associative(ScalarOp op) {
  switch (op) {
    case ScalarOp::add:
    case ScalarOp::mul:
    case ScalarOp::min:
    case ScalarOp::max:
    case ScalarOp::bit_and:
    case ScalarOp::bit_or:
    case ScalarOp::bit_xor:
      return true;
    default:
      return false;
  }
}

// select(a < b, a, b) and its like: min or max of the two, whichever way it is spelled.
std::optional<ReductionOp> selected_extremum(const ScalarExpr& e) {
  if (e.op != ScalarOp::select) return std::nullopt;
  const ScalarExpr& c = e.args[0];
  bool less = c.op == ScalarOp::lt || c.op == ScalarOp::le, greater = c.op == ScalarOp::gt || c.op == ScalarOp::ge;
  if (!less && !greater) return std::nullopt;
  if (c.args[0] == e.args[1] && c.args[1] == e.args[2]) return less ? ReductionOp::min : ReductionOp::max;
  if (c.args[0] == e.args[2] && c.args[1] == e.args[1]) return less ? ReductionOp::max : ReductionOp::min;
  return std::nullopt;
}

}  // namespace

std::optional<Reduction> self_update(const Statement& statement) {
  const auto* state = std::get_if<State>(&statement.node.value);
  if (!state) return std::nullopt;
  auto a = as_assignment(*state);
  if (!a || a->out.combine) return std::nullopt;
  int accumulator = -1;
  for (std::size_t i = 0; i < a->inputs.size(); ++i) {
    if (a->inputs[i].container != a->out.container) continue;
    if (accumulator >= 0 || a->inputs[i] != a->out) return std::nullopt;
    accumulator = static_cast<int>(i);
  }
  if (accumulator < 0) return std::nullopt;
  for (const Dim& d : a->out.subset)
    if (d.begin.reads().contains(a->out.container)) return std::nullopt;
  auto uses = [&](const ScalarExpr& e) {
    int count = 0;
    e.visit([&](const ScalarExpr& n) { count += n.op == ScalarOp::input && n.input == accumulator; });
    return count;
  };
  auto is_accumulator = [&](const ScalarExpr& e) { return e.op == ScalarOp::input && e.input == accumulator; };
  if (auto op = selected_extremum(a->code)) {
    if (uses(a->code) == 2 && (is_accumulator(a->code.args[1]) || is_accumulator(a->code.args[2])))
      return Reduction{.container = a->out.container, .op = *op};
    return std::nullopt;
  }
  if (uses(a->code) != 1) return std::nullopt;
  // Down the spine of one operator to the accumulator; subtracting from it adds to it.
  const ScalarExpr* e = &a->code;
  ScalarOp op = e->op == ScalarOp::sub ? ScalarOp::add : e->op;
  if (!associative(op)) return std::nullopt;
  while (!is_accumulator(*e)) {
    bool step = e->op == op || (op == ScalarOp::add && e->op == ScalarOp::sub);
    if (!step) return std::nullopt;
    if (uses(e->args[0]) == 1)
      e = &e->args[0];
    else if (e->op != ScalarOp::sub)
      e = &e->args[1];
    else
      return std::nullopt;
  }
  return Reduction{.container = a->out.container, .op = reduction_of(op)};
}

}  // namespace sous::sdfg
