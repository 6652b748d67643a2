// A call against its declaration on some hardware and in some nest: sizes, multiples, where loops stand.
#include <algorithm>
#include <cctype>

#include "transforms/step.h"

namespace sous::transforms {
namespace {

using sdfg::ScheduleLoop;
using sdfg::ScheduleNode;
using sdfg::ScheduleTree;

// "register-tile": the area of the step's codes.
std::string area(const StepInfo& step) {
  std::string text(step.name);
  std::ranges::replace(text, '_', '-');
  return text;
}

const ParamValue* value_of(const StepCall& call, std::string_view name) {
  const auto at = call.params.find(std::string(name));
  return at == call.params.end() ? nullptr : &at->second;
}

// The loops that a parameter of that type names.
std::vector<std::string> names_of(const ParamValue& value) {
  if (const auto* one = std::get_if<std::string>(&value)) return {*one};
  if (const auto* many = std::get_if<std::vector<std::string>>(&value)) return *many;
  return {};  // an empty list without a type
}

Result<std::vector<Size>> sizes_of(const ParamInfo& p, const ParamValue& value, const StepContext& context) {
  std::vector<Size> sizes(1);
  if (p.type == ParamType::Size) {
    TRY_VOID(bind(sizes[0], value, context));
  } else {
    sizes.clear();
    TRY_VOID(bind(sizes, value, context));
  }
  return sizes;
}

const ScheduleLoop* only_child(const ScheduleLoop& loop) {
  return loop.children.size() == 1 ? std::get_if<ScheduleLoop>(&loop.children[0].value) : nullptr;
}

// What directly follows the loop in the sequence that holds it; null if nothing does.
const ScheduleNode* next_of(const ScheduleTree& tree, const std::string& symbol) {
  for (std::size_t k = 0; k < tree.size(); ++k) {
    const auto* loop = std::get_if<ScheduleLoop>(&tree[k].value);
    if (loop && loop->symbol == symbol) return k + 1 < tree.size() ? &tree[k + 1] : nullptr;
    if (const ScheduleTree* below = sdfg::children(tree[k]))
      if (const ScheduleNode* found = next_of(*below, symbol)) return found;
  }
  return nullptr;
}

std::string broken(Relation relation, const std::string& loop, const std::string& other) {
  switch (relation) {
    case Relation::OnlyInside:
    case Relation::Band:
    case Relation::BandAroundLoop:
      return loop + " is not the only thing directly inside " + other;
    case Relation::Inside:
      return loop + " is not inside " + other;
    case Relation::Around:
      return loop + " is not around " + other;
    case Relation::Behind:
      return loop + " does not directly follow " + other;
    case Relation::Any:
      break;
  }
  SOUS_ASSERT(false);
}

Result<void> check_band(const ParamInfo& p, const std::vector<std::string>& loops, const ScheduleTree& tree) {
  const std::vector<std::string> band = band_from(tree, loops[0]);
  for (std::size_t k = 1; k < loops.size(); ++k)
    if (k >= band.size() || loops[k] != band[k])
      return fail(std::string(p.refusal), broken(p.relation, loops[k], loops[k - 1]), loops[k]);
  if (p.relation == Relation::BandAroundLoop && band.size() == loops.size())
    return fail(std::string(p.refusal), loops.back() + " does not hold exactly one loop", loops.back());
  return {};
}

// The multiple that `multiple_by` names among the sizes of loops, outermost first. Of a single loop the outer one has
// one iteration.
Result<void> check_multiple(const StepInfo& step, const StepCall& call, const ParamInfo& p,
                            const std::vector<Size>& sizes, const StepContext& context) {
  const ParamInfo& unit = *find_param(step.params, p.multiple_of);
  const ParamInfo& which = *find_param(step.params, p.multiple_by);
  TRY(const std::vector<Size> units, sizes_of(unit, *value_of(call, p.multiple_of), context));
  const ParamValue* given = value_of(call, p.multiple_by);
  const bool outer = given ? std::get<std::string>(*given) == "outer"
                           : std::get<std::string_view>(which.default_value) == std::string_view("outer");
  const std::int64_t size = !outer ? sizes.back().value : sizes.size() > 1 ? sizes[sizes.size() - 2].value : 1;
  if (units[0].value > 0 && size % units[0].value == 0) return {};
  return fail(std::string(p.refusal), "the " + std::string(outer ? "outer" : "inner") + " loop's size, " +
                                          std::to_string(size) + ", is no multiple of " + std::string(unit.name) +
                                          ", " + std::to_string(units[0].value));
}

}  // namespace

std::vector<std::string> band_from(const ScheduleTree& tree, const std::string& loop) {
  std::vector<std::string> band;
  for (const ScheduleLoop* at = sdfg::find_loop(tree, loop); at != nullptr; at = only_child(*at))
    band.push_back(at->symbol);
  return band;
}

std::vector<std::string> related(const ScheduleTree& tree, Relation relation, const std::string& loop) {
  const ScheduleLoop* found = sdfg::find_loop(tree, loop);
  if (found == nullptr) return {};
  const ScheduleLoop* one = nullptr;
  switch (relation) {
    case Relation::OnlyInside:
      one = only_child(*found);
      break;
    case Relation::Inside:
      return sdfg::loop_symbols(found->children);
    case Relation::Around: {
      std::vector<std::string> path = sdfg::path_to(tree, loop);
      path.pop_back();
      return path;
    }
    case Relation::Behind: {
      const ScheduleNode* next = next_of(tree, loop);
      one = next ? std::get_if<ScheduleLoop>(&next->value) : nullptr;
      break;
    }
    case Relation::Any:
    case Relation::Band:
    case Relation::BandAroundLoop:
      SOUS_ASSERT(false);
  }
  return one ? std::vector{one->symbol} : std::vector<std::string>{};
}

Result<void> check_values(const StepInfo& step, const StepCall& call, const StepContext& context) {
  for (const ParamInfo& p : step.params) {
    const ParamValue* value = value_of(call, p.name);
    if (value == nullptr || (p.type != ParamType::Size && p.type != ParamType::Sizes)) continue;
    TRY(const std::vector<Size> sizes, sizes_of(p, *value, context));
    for (const Size& size : sizes)
      if (size.value < p.low || size.value > p.high)
        return fail("recipe.size", std::string(p.name) + " is " + std::to_string(size.value) +
                                       " on this hardware, not " + std::to_string(p.low) + " to " +
                                       std::to_string(p.high));
    if (!p.multiple_of.empty()) TRY_VOID(check_multiple(step, call, p, sizes, context));
  }
  return {};
}

Result<void> check_loops(const StepInfo& step, const StepCall& call, const ScheduleTree& tree) {
  const auto is_loops = [](const ParamInfo& p) { return p.type == ParamType::Loop || p.type == ParamType::Loops; };
  for (const ParamInfo& p : step.params) {
    const ParamValue* value = value_of(call, p.name);
    if (value == nullptr || !is_loops(p)) continue;
    for (const std::string& loop : names_of(*value))
      if (sdfg::find_loop(tree, loop) == nullptr)
        return fail(area(step) + ".no-loop", "the nest has no loop " + loop, loop);
  }
  for (const ParamInfo& p : step.params) {
    const ParamValue* value = value_of(call, p.name);
    if (value == nullptr || p.relation == Relation::Any) continue;
    const std::vector<std::string> loops = names_of(*value);
    if (is_of_lists(p.relation)) {
      TRY_VOID(check_band(p, loops, tree));
      continue;
    }
    const std::string other = names_of(*value_of(call, p.to))[0];
    const std::vector<std::string> fitting = related(tree, p.relation, other);
    if (std::ranges::find(fitting, loops[0]) == fitting.end())
      return fail(std::string(p.refusal), broken(p.relation, loops[0], other), loops[0]);
  }
  return {};
}

}  // namespace sous::transforms
