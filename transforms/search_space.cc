#include "transforms/search_space.h"

#include <algorithm>
#include <functional>

namespace sous::transforms {
namespace {

// Draws until values go together (a size that is a multiple of the lanes): more than half of them do for all steps.
constexpr int most_draws = 32;

std::uint64_t next_random(std::uint64_t& state) {  // splitmix64 (Steele, Lea, Flood 2014)
  std::uint64_t z = (state += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

template <class T>
const T& pick(const std::vector<T>& from, std::uint64_t& random) {
  return from[next_random(random) % from.size()];
}

bool is_loops(const ParamInfo& p) { return p.type == ParamType::Loop || p.type == ParamType::Loops; }

using Placement = std::map<std::string, ParamValue>;
using Value = std::variant<std::monostate, std::int64_t, std::string>;

// What the parameter may be once those it is related to are placed.
std::vector<ParamValue> candidates(const ParamInfo& p, const sdfg::ScheduleTree& tree, const Placement& placed) {
  std::vector<ParamValue> result;
  if (p.type == ParamType::Loop) {
    const bool free = p.relation == Relation::Any;
    for (std::string& loop : free ? sdfg::loop_symbols(tree)
                                  : related(tree, p.relation, std::get<std::string>(placed.at(std::string(p.to)))))
      result.emplace_back(std::move(loop));
    return result;
  }
  for (const std::string& first : sdfg::loop_symbols(tree)) {
    const std::vector<std::string> band = band_from(tree, first);
    const std::size_t longest = p.relation == Relation::BandAroundLoop ? band.size() - 1 : band.size();
    for (std::size_t many = 1; many <= longest && (p.most == 0 || many <= p.most); ++many)
      result.emplace_back(std::vector<std::string>(band.begin(), band.begin() + static_cast<std::ptrdiff_t>(many)));
  }
  return result;
}

// Every way in which the parameters from `next` on can name loops. Those of `order` come behind what they relate to.
void place(const std::vector<const ParamInfo*>& order, std::size_t next, const sdfg::ScheduleTree& tree,
           Placement& placed, std::vector<Placement>& result) {
  if (next == order.size()) {
    result.push_back(placed);
    return;
  }
  const ParamInfo& p = *order[next];
  if (!p.required) place(order, next + 1, tree, placed, result);
  for (ParamValue& value : candidates(p, tree, placed)) {
    placed[std::string(p.name)] = std::move(value);
    place(order, next + 1, tree, placed, result);
  }
  placed.erase(std::string(p.name));
}

// The values that are tried for a parameter, the cheapest first: its default is to be left out.
std::vector<Value> values_of(const ParamInfo& p, const StepContext& context) {
  std::vector<Value> result;
  if (!p.required) result.emplace_back(std::monostate{});
  for (const std::int64_t value : p.values)
    if (p.default_value != DefaultValue(value)) result.emplace_back(value);
  for (const std::string_view choice : p.choices)
    if (p.default_value != DefaultValue(choice)) result.emplace_back(std::string(choice));
  for (const std::string_view expression : p.expressions) {
    Size size;
    if (transforms::bind(size, std::string(expression), context) && size.value >= p.low && size.value <= p.high)
      result.emplace_back(std::string(expression));
  }
  return result;
}

// The value of a slot in a call; nothing where it is left out or the default.
Value value_in(const StepCall& call, const ParamInfo& p, std::size_t at) {
  const auto found = call.params.find(std::string(p.name));
  if (found == call.params.end()) return std::monostate{};
  if (const auto* numbers = std::get_if<std::vector<std::int64_t>>(&found->second))
    return at < numbers->size() ? Value((*numbers)[at]) : Value();
  if (const auto* texts = std::get_if<std::vector<std::string>>(&found->second)) {
    if (at >= texts->size()) return std::monostate{};
    const std::string& text = (*texts)[at];
    const bool number = text.size() < 18 && text.find_first_not_of("0123456789") == std::string::npos;
    return number ? Value(std::int64_t{std::stoll(text)}) : Value(text);
  }
  if (const auto* number = std::get_if<std::int64_t>(&found->second))
    return p.default_value == DefaultValue(*number) ? Value() : Value(*number);
  const auto& text = std::get<std::string>(found->second);
  return p.default_value == DefaultValue(std::string_view(text)) ? Value() : Value(text);
}

// Half of the draws leave out what may be.
Value draw(const std::vector<Value>& values, std::uint64_t& random) {
  const bool optional = std::holds_alternative<std::monostate>(values[0]);
  if (!optional || values.size() == 1) return pick(values, random);
  if (next_random(random) % 2 == 0) return values[0];
  return values[1 + next_random(random) % (values.size() - 1)];
}

// Another value than this one: half of the time of a number the next larger or smaller one, which for most parameters
// makes a small difference. Itself where there is no other.
Value other_value(const Value& value, const std::vector<Value>& values, std::uint64_t& random) {
  std::vector<Value> others;
  const Value *below = nullptr, *above = nullptr;
  for (const Value& other : values) {
    if (other == value) continue;
    others.push_back(other);
    const auto* number = std::get_if<std::int64_t>(&other);
    const auto* here = std::get_if<std::int64_t>(&value);
    if (number == nullptr || here == nullptr) continue;
    if (*number < *here && (below == nullptr || *number > std::get<std::int64_t>(*below))) below = &other;
    if (*number > *here && (above == nullptr || *number < std::get<std::int64_t>(*above))) above = &other;
  }
  if (others.empty()) return value;
  const std::uint64_t how = next_random(random) % 4;
  if (how == 0 && below != nullptr) return *below;
  if (how == 1 && above != nullptr) return *above;
  return pick(others, random);
}

}  // namespace

SearchSpace::SearchSpace(const StepInfo& step, const sdfg::ScheduleTree& tree, const StepContext& context)
    : step_(&step), context_(context) {
  std::vector<const ParamInfo*> order;
  // What others relate to relates to nothing itself (declaration.h).
  for (const bool related : {false, true})
    for (const ParamInfo& p : step.params)
      if (is_loops(p) && p.to.empty() != related) order.push_back(&p);
  Placement placed;
  place(order, 0, tree, placed, placements_);
  for (const ParamInfo& p : step.params) values_.push_back(is_loops(p) ? std::vector<Value>{} : values_of(p, context));
}

std::vector<SearchSpace::Slot> SearchSpace::slots_of(const Placement& placement) const {
  std::vector<Slot> slots;
  for (std::size_t k = 0; k < values_.size(); ++k) {
    const ParamInfo& p = step_->params[k];
    if (is_loops(p)) continue;
    std::size_t many = 1;
    if (p.type == ParamType::Sizes)
      many = std::get<std::vector<std::string>>(placement.at(std::string(p.length_of))).size();
    for (std::size_t at = 0; at < many; ++at) slots.push_back({.param = &p, .at = at, .values = &values_[k]});
  }
  return slots;
}

StepCall SearchSpace::call_of(const Placement& placement, const std::vector<Slot>& slots,
                              const std::vector<Value>& values) const {
  StepCall call{.step = std::string(step_->name), .params = placement};
  std::map<std::string, std::vector<Value>> lists;
  for (std::size_t k = 0; k < slots.size(); ++k) {
    const std::string name(slots[k].param->name);
    if (slots[k].param->type == ParamType::Sizes)
      lists[name].push_back(values[k]);
    else if (const auto* number = std::get_if<std::int64_t>(&values[k]))
      call.params[name] = *number;
    else if (const auto* text = std::get_if<std::string>(&values[k]))
      call.params[name] = *text;
  }
  // Beside an expression numbers are text, too (recipe.h).
  for (const auto& [name, list] : lists) {
    std::vector<std::int64_t> numbers;
    std::vector<std::string> texts;
    for (const Value& value : list) {
      const auto* number = std::get_if<std::int64_t>(&value);
      if (number) numbers.push_back(*number);
      texts.push_back(number ? std::to_string(*number) : std::get<std::string>(value));
    }
    if (numbers.size() == list.size())
      call.params[name] = std::move(numbers);
    else
      call.params[name] = std::move(texts);
  }
  return call;
}

void SearchSpace::enumerate_rank(const Placement& placement, std::size_t rank, std::size_t limit,
                                 std::vector<StepCall>& calls) const {
  const std::vector<Slot> slots = slots_of(placement);
  std::vector<std::size_t> most(slots.size() + 1, 0);  // ranks that the slots from k on can take
  for (std::size_t k = slots.size(); k-- > 0;) most[k] = most[k + 1] + slots[k].values->size() - 1;
  std::vector<Value> values(slots.size());
  const std::function<void(std::size_t, std::size_t)> choose = [&](std::size_t k, std::size_t left) {
    if (left > most[k] || calls.size() >= limit) return;
    if (k == slots.size()) {
      StepCall call = call_of(placement, slots, values);
      if (fits(call)) calls.push_back(std::move(call));
      return;
    }
    for (std::size_t at = 0; at < slots[k].values->size() && at <= left; ++at) {
      values[k] = (*slots[k].values)[at];
      choose(k + 1, left - at);
    }
  };
  choose(0, rank);
}

std::vector<StepCall> SearchSpace::enumerate(std::size_t limit) const {
  std::size_t highest = 0;
  for (const Placement& placement : placements_) {
    std::size_t sum = 0;
    for (const Slot& slot : slots_of(placement)) sum += slot.values->size() - 1;
    highest = std::max(highest, sum);
  }
  std::vector<StepCall> calls;
  for (std::size_t rank = 0; rank <= highest && calls.size() < limit; ++rank)
    for (const Placement& placement : placements_) enumerate_rank(placement, rank, limit, calls);
  return calls;
}

std::optional<StepCall> SearchSpace::sample(std::uint64_t& random) const {
  if (placements_.empty()) return std::nullopt;
  const Placement& placement = pick(placements_, random);
  const std::vector<Slot> slots = slots_of(placement);
  for (int draws = 0; draws < most_draws; ++draws) {
    std::vector<Value> values;
    for (const Slot& slot : slots) values.push_back(draw(*slot.values, random));
    StepCall call = call_of(placement, slots, values);
    if (fits(call)) return call;
  }
  return std::nullopt;
}

std::optional<StepCall> SearchSpace::mutate(const StepCall& call, std::uint64_t& random) const {
  if (placements_.empty() || call.step != step_->name || !validate(call)) return std::nullopt;
  Placement here;
  for (const ParamInfo& p : step_->params)
    if (const auto at = call.params.find(std::string(p.name)); is_loops(p) && at != call.params.end()) here.insert(*at);
  const bool placed = std::ranges::find(placements_, here) != placements_.end();
  const std::size_t places = placements_.size() > 1 ? 1 : 0;
  for (int draws = 0; draws < most_draws; ++draws) {
    // Which slot changes; past them, the loops.
    const std::size_t known = placed ? slots_of(here).size() : 0;
    if (placed && known + places == 0) return std::nullopt;
    const std::size_t which = placed ? next_random(random) % (known + places) : 0;
    const bool moves = which == known;
    const Placement& placement = moves ? pick(placements_, random) : here;
    if (moves && placement == here) continue;
    const std::vector<Slot> slots = slots_of(placement);
    std::vector<Value> values;
    for (std::size_t k = 0; k < slots.size(); ++k) {
      const Slot& slot = slots[k];
      Value value = value_in(call, *slot.param, slot.at);
      if (slot.param->required && std::holds_alternative<std::monostate>(value)) value = draw(*slot.values, random);
      if (!moves && k == which) value = other_value(value, *slot.values, random);
      values.push_back(std::move(value));
    }
    StepCall result = call_of(placement, slots, values);
    const bool same = placement == here && std::ranges::equal(slots, values, [&](const Slot& slot, const Value& value) {
                        return value_in(call, *slot.param, slot.at) == value;
                      });
    if (!same && fits(result)) return result;
  }
  return std::nullopt;
}

}  // namespace sous::transforms
