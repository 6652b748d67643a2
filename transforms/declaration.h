// What a step declares of its parameters and refusals. Everything that must know of a parameter derives from this:
// validation, help, docs/steps.md, GET /v1/steps and the search space (transforms/search_space.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <variant>

namespace sous::transforms {

enum class ParamType : std::uint8_t { Loop, Loops, Size, Sizes, Integer, Choice };
std::string_view to_string(ParamType type);

// Where a loop stands: in relation to the one that another parameter names (`ParamInfo::to`), or the loops of a list to
// each other.
enum class Relation : std::uint8_t {
  Any,
  OnlyInside,      // the only thing directly inside that loop
  Inside,          // inside it, at any depth
  Around,          // around it, at any distance
  Behind,          // directly behind it, at the same level
  Band,            // a list: each the only thing directly inside the one before
  BandAroundLoop,  // such a list, whose last loop holds nothing but one more loop
};
std::string_view to_string(Relation relation);

// What a value does to the loop that the step names, or to each of those that `length_of` lists: for guards, which ask
// what becomes of loops that run short.
enum class Effect : std::uint8_t {
  None,
  Cuts,    // it is cut into pieces of so many iterations
  Shares,  // threads take so many of its iterations at a time, one at least
  Joins,   // of a loop: its iterations become those of the loop that `to` names
};

// What a parameter that is not given stands for; nothing: it must be given, or the step does without.
using DefaultValue = std::variant<std::monostate, std::int64_t, std::string_view>;

// All of it is checked: what does not depend on a nest by `validate`, the rest when the step is planned.
struct ParamInfo {
  std::string_view name;
  ParamType type = ParamType::Integer;
  std::string_view doc;  // without what the members below say
  bool required = true;
  std::int64_t low = 0, high = 0;                      // Size, Sizes, Integer: least and greatest value
  std::span<const std::int64_t> values = {};           // what samplers and tuners try, cheap to dear
  std::span<const std::string_view> expressions = {};  // Size, Sizes: and these, over `hardware_names`
  std::size_t most = 0;                                // Loops: how many there are at most; 0: any number, never none
  Relation relation = Relation::Any;                   // Loop, Loops
  std::string_view to = {};                            // Loop: the parameter that names the other loop
  std::string_view length_of = {};                     // Sizes: the list of loops that has as many
  std::string_view multiple_of = {};                   // Sizes: the Size that one of them is a multiple of,
  std::string_view multiple_by = {};                   // and the Choice of inner (the last) and outer that says which
  std::string_view refusal = {};                       // the code where a relation, a length or a multiple is not so
  std::span<const std::string_view> choices = {};      // Choice
  DefaultValue default_value = std::monostate{};       // Integer, Choice: makes it optional
  Effect effect = Effect::None;
};

// What size expressions may name, sorted: those of a StepContext's `hardware` (tuning_db::size_values gives them).
inline constexpr std::string_view hardware_names[] = {"cores", "l1_bytes", "l2_bytes", "l3_bytes", "simd_bits"};

struct RefusalInfo {
  std::string_view code;
  std::string_view when;
};

// --- Whether a declaration is one -----------------------------------------------------------------------------------

constexpr const ParamInfo* find_param(std::span<const ParamInfo> params, std::string_view name) {
  const auto at = std::ranges::find(params, name, &ParamInfo::name);
  return at == params.end() ? nullptr : &*at;
}

constexpr bool is_of_lists(Relation relation) {
  return relation == Relation::Band || relation == Relation::BandAroundLoop;
}

// What is wrong with the values of a parameter; "" if nothing is.
constexpr std::string_view domain_fault(const ParamInfo& p) {
  const bool sized = p.type == ParamType::Size || p.type == ParamType::Sizes;
  if (sized || p.type == ParamType::Integer) {
    if (p.values.empty()) return "a number without values to try";
    if (std::ranges::any_of(p.values, [&](std::int64_t v) { return v < p.low || v > p.high; }))
      return "a value outside of its domain";
  }
  if (!sized && !p.expressions.empty()) return "expressions for what is no size";
  if ((p.type == ParamType::Choice) == p.choices.empty()) return "a choice and its choices";
  if (p.required) return "";
  const auto* number = std::get_if<std::int64_t>(&p.default_value);
  const auto* choice = std::get_if<std::string_view>(&p.default_value);
  switch (p.type) {
    case ParamType::Loop:
      return number || choice ? "a default for a loop" : "";
    case ParamType::Integer:
      return number && *number >= p.low && *number <= p.high ? "" : "no default in the domain";
    case ParamType::Choice:
      return choice && std::ranges::find(p.choices, *choice) != p.choices.end() ? "" : "no default among the choices";
    case ParamType::Loops:
    case ParamType::Size:
    case ParamType::Sizes:
      return "a list or a size that may be left out";
  }
  return "";
}

// The same of what relates it to others.
constexpr std::string_view relation_fault(const ParamInfo& p, std::span<const ParamInfo> params,
                                          std::span<const RefusalInfo> refusals) {
  const auto type_of = [&](std::string_view name, ParamType type) {
    const ParamInfo* other = find_param(params, name);
    return other != nullptr && other->required && other->type == type;
  };
  if (p.relation != Relation::Any && (p.type == ParamType::Loops) != is_of_lists(p.relation))
    return "a relation of another type";
  const bool of_two = p.relation != Relation::Any && p.type == ParamType::Loop;
  if (of_two != !p.to.empty() || (of_two && !type_of(p.to, ParamType::Loop))) return "a relation to no loop";
  if (of_two && find_param(params, p.to)->relation != Relation::Any) return "a relation to a related loop";
  if ((p.type == ParamType::Sizes) != type_of(p.length_of, ParamType::Loops)) return "sizes for no list of loops";
  if (p.multiple_of.empty() != p.multiple_by.empty()) return "a multiple of what, or which one";
  if (!p.multiple_of.empty()) {
    const ParamInfo* which = find_param(params, p.multiple_by);
    if (p.type != ParamType::Sizes || !type_of(p.multiple_of, ParamType::Size)) return "a multiple of no size";
    if (which == nullptr || which->type != ParamType::Choice || which->required ||
        std::ranges::any_of(which->choices, [](std::string_view c) { return c != "inner" && c != "outer"; }))
      return "which of the sizes is a multiple";
  }
  const bool numbered = p.type == ParamType::Sizes || p.type == ParamType::Size || p.type == ParamType::Integer;
  if (p.effect != Effect::None && (p.effect == Effect::Joins ? !of_two : !numbered))
    return "an effect of what it is not";
  const bool related = p.relation != Relation::Any || !p.length_of.empty();
  const bool refused = std::ranges::find(refusals, p.refusal, &RefusalInfo::code) != refusals.end();
  return related != refused ? "relations and refusals do not go together" : "";
}

// What is wrong with a step's declaration; "" if nothing is.
constexpr std::string_view declaration_fault(std::span<const ParamInfo> params, std::span<const RefusalInfo> refusals) {
  for (const ParamInfo& p : params) {
    if (const auto fault = domain_fault(p); !fault.empty()) return fault;
    if (const auto fault = relation_fault(p, params, refusals); !fault.empty()) return fault;
  }
  return "";
}

}  // namespace sous::transforms
