#include "sdfg/times.h"

#include <algorithm>

namespace sous::sdfg {

namespace {

constexpr std::size_t most_on_time = 4096;

std::size_t depth(const ScheduleTree& tree) {
  std::size_t deepest = 0;
  for (const ScheduleNode& n : tree)
    deepest = std::max(deepest, match(
                                    n.value, [](const ScheduleLoop& l) { return 2 + depth(l.children); },
                                    [](const ScheduleGuard& g) { return 1 + depth(g.children); },
                                    [](const ScheduleLeaf&) -> std::size_t { return 1; }));
  return deepest;
}

}  // namespace

Times::Times(const Dependences::Data& data, const Scop& scop, const ScheduleTree& tree)
    : data_(data), length_(depth(tree)), maps_(scop.statements.size()), leaves_(scop.statements.size()) {
  all_pairs_ = data.read_map(tuple("t", length_) + " -> " + tuple("u", length_));
  // The same context as that of the domains: `respects` compares the two.
  walk(tree, {.names = data.parameters, .constraints = assumed(scop, data.parameters), .time = {}, .positions = {}});
  for (std::size_t s = 0; s < maps_.size(); ++s)
    if (!maps_[s] && data.known(s)) {
      const std::string dims = tuple("o", scop.statements[s].iterators.size());
      maps_[s] = data.read_map(numbered("S", s) + dims + " -> " + tuple("t", length_) + " : false");
    }
}

const IslMap& Times::dependence_on_time(std::size_t k) const {
  const Dependence& d = data_.dependences[k];
  const auto [known, is_new] = dependences_.try_emplace(data_.same_relation[k]);
  if (!is_new) return known->second;
  const IslMap &source = of(d.source), &target = of(d.target);
  const std::tuple key(data_.same_relation[k], source.get(), target.get());
  if (const auto before = data_.on_time.find(key); before != data_.on_time.end())
    return known->second = before->second.pairs;
  known->second = on_time(data_.relations[k], d.source, d.target);
  // Without budget it is none.
  if (known->second) {
    if (data_.on_time.size() >= most_on_time) data_.on_time.clear();
    data_.on_time.emplace(key, Dependences::Data::OnTime{source, target, known->second});
  }
  return known->second;
}

IslMap Times::agree(std::size_t count) const {
  return IslMap(isl_map_from_basic_map(isl_basic_map_equal(space(), static_cast<unsigned>(count))));
}

namespace {

// One dimension after the other: most of what is asked is decided in the first two or three.
bool part_in_order(IslBasicMap part, std::size_t count, std::size_t length) {
  for (std::size_t i = 0; i < length; ++i) {
    const int at = static_cast<int>(i);
    if (const auto apart = fixed_difference(part, i)) {
      if (*apart == 0) continue;
      return i < count || *apart > 0;
    }
    if (i >= count && !is_empty(IslBasicMap(isl_basic_map_order_gt(part.copy(), isl_dim_in, at, isl_dim_out, at))))
      return false;
    part = IslBasicMap(isl_basic_map_equate(part.release(), isl_dim_in, at, isl_dim_out, at));
    if (is_empty(part)) return true;
  }
  return false;
}

}  // namespace

bool Times::in_order(const IslMap& pairs, std::size_t count) const {
  // Most of them are, and few are empty: those are found out last.
  return std::ranges::all_of(
      parts_of(pairs), [&](const IslBasicMap& part) { return part_in_order(part, count, length_) || is_empty(part); });
}

IslMap Times::both_inside(const LoopTime& l) const {
  IslMap pairs = all_pairs_;
  for (auto [dimension, value] : l.positions)
    for (isl_dim_type side : {isl_dim_in, isl_dim_out})
      pairs = IslMap(isl_map_fix_si(pairs.release(), side, static_cast<unsigned>(dimension), static_cast<int>(value)));
  return pairs;
}

IslMap Times::carried(const LoopTime& l, std::int64_t within) const {
  if (within == 0) {
    const auto [known, is_new] = carried_.try_emplace(l.loop->symbol);
    if (is_new) known->second = carried_within(l, 0);
    return known->second;
  }
  return carried_within(l, within);
}

IslMap Times::carried_within(const LoopTime& l, std::int64_t within) const {
  const auto at = static_cast<unsigned>(l.index);
  IslMap pairs(isl_map_from_basic_map(isl_basic_map_less_at(space(), at)));
  if (within > 0) {  // within - 1 + t - u >= 0
    isl_constraint* near = isl_constraint_alloc_inequality(isl_local_space_from_space(space()));
    near = isl_constraint_set_coefficient_si(near, isl_dim_in, static_cast<int>(at), 1);
    near = isl_constraint_set_coefficient_si(near, isl_dim_out, static_cast<int>(at), -1);
    near = isl_constraint_set_constant_si(near, static_cast<int>(within - 1));
    pairs = IslMap(isl_map_add_constraint(pairs.release(), near));
  }
  return intersect(pairs, both_inside(l));
}

IslMap Times::not_after_inside(const LoopTime& l, bool or_equal) const {
  IslMap result(isl_map_empty(space())), equal = all_pairs_;
  for (std::size_t i = l.index + 1; i < length_; ++i) {
    const int at = static_cast<int>(i);
    IslMap later(isl_map_order_gt(equal.copy(), isl_dim_in, at, isl_dim_out, at));
    result = IslMap(isl_map_union(result.release(), later.release()));
    equal = IslMap(isl_map_equate(equal.release(), isl_dim_in, at, isl_dim_out, at));
  }
  return or_equal ? IslMap(isl_map_union(result.release(), equal.release())) : result;
}

void Times::walk(const ScheduleTree& tree, const Place& place) {
  for (std::size_t k = 0; k < tree.size(); ++k) {
    Place here = place;
    here.positions.emplace_back(here.time.size(), k);
    here.time.push_back(std::to_string(k));
    match(
        tree[k].value,
        [&](const ScheduleLoop& l) {
          enter(l, here);
          for_each_leaf(l.children, [&](const ScheduleLeaf& leaf) { ++loops_[l.symbol].leaves[leaf.statement]; });
          walk(l.children, here);
        },
        [&](const ScheduleGuard& g) {
          here.constraints.push_back(isl_text(g.condition, here.names));
          walk(g.children, here);
        },
        [&](const ScheduleLeaf& leaf) { add(leaf, here); });
  }
}

void Times::enter(const ScheduleLoop& loop, Place& here) {
  const std::string variable = numbered("t", here.time.size());
  const bool counted =
      std::abs(loop.step) != 1 && max_pieces(loop.begin).size() == 1 && min_pieces(loop.begin).size() == 1;
  loops_[loop.symbol] = {
      .index = here.time.size(), .counted = counted, .positions = here.positions, .loop = &loop, .leaves = {}};
  std::string value = loop.step > 0 ? variable : "(-" + variable + ")";
  std::int64_t step = loop.step;
  if (counted) {
    value = "(" + isl_text(loop.begin, here.names) + " + " + std::to_string(step) + " * " + variable + ")";
    here.constraints.push_back(variable + " >= 0");
    step = step > 0 ? 1 : -1;  // congruent by construction
  }
  here.constraints.push_back(isl_loop(loop.symbol, loop.begin, loop.end, step, here.names, value));
  here.names[loop.symbol] = value;
  here.time.push_back(variable);
}

void Times::add(const ScheduleLeaf& leaf, Place& here) {
  ++leaves_[static_cast<std::size_t>(leaf.statement)];
  if (!data_.known(static_cast<std::size_t>(leaf.statement))) return;
  while (here.time.size() < length_) here.time.emplace_back("0");
  std::vector<std::string> dims;
  for (std::size_t i = 0; i < leaf.iterators.size(); ++i) {
    dims.push_back(numbered("o", i));
    here.constraints.push_back(dims.back() + " = " + isl_text(leaf.iterators[i], here.names));
  }
  auto s = static_cast<std::size_t>(leaf.statement);
  const std::string where = here.constraints.empty() ? "" : " : " + joined(here.constraints, " and ");
  IslMap map = data_.read_map(statement_tuple(s, dims) + " -> [" + joined(here.time, ", ") + "]" + where);
  maps_[s] = maps_[s] ? IslMap(isl_map_union(maps_[s].release(), map.release())) : std::move(map);
}

}  // namespace sous::sdfg
