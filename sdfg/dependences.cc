#include "sdfg/dependences.h"

#include <algorithm>

#include "sdfg/dependence_data.h"
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
      // Of two containers that may be the same memory, the one that is read: only an update's own element is its
      // reduction.
      const std::string& container = a.write || planted(Fault::shared_read_taken_as_update) ? b.container : a.container;
      auto [it, is_new] = index.try_emplace({container, a.statement, b.statement, kind}, data->relations.size());
      if (is_new) {
        data->dependences.push_back({.kind = kind,
                                     .source = a.statement,
                                     .target = b.statement,
                                     .container = container,
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
