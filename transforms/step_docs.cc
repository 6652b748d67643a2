// What is derived from the steps' declarations: validation, text, JSON schema, help, documentation.
#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "sdfg/suggest.h"
#include "sdfg/text.h"
#include "transforms/step.h"

namespace sous::transforms {

namespace {

using nlohmann::json;

bool has_type(const ParamValue& value, ParamType type) {
  auto list_of = [&](const auto& alternative) {
    using T = std::remove_cvref_t<decltype(alternative)>;
    if (std::holds_alternative<std::vector<T>>(value)) return true;
    // An empty list has no element type.
    const auto* strings = std::get_if<std::vector<std::string>>(&value);
    const auto* numbers = std::get_if<std::vector<std::int64_t>>(&value);
    return (strings && strings->empty()) || (numbers && numbers->empty());
  };
  switch (type) {
    case ParamType::Loop:
    case ParamType::Choice:
      return std::holds_alternative<std::string>(value);
    case ParamType::Loops:
      return std::holds_alternative<std::vector<std::string>>(value);
    case ParamType::Size:
      return std::holds_alternative<std::int64_t>(value) || std::holds_alternative<std::string>(value);
    case ParamType::Sizes:
      return list_of(std::int64_t{}) || list_of(std::string{});
    case ParamType::Integer:
      return std::holds_alternative<std::int64_t>(value);
  }
  __builtin_unreachable();
}

// What may stand for a name, and for a size that is no number: nothing that would mean something else in the text form,
// in a comment of generated code or on a terminal.
bool is_name(const std::string& text) {
  return text.size() <= 256 && !text.empty() && (std::isdigit(static_cast<unsigned char>(text[0])) == 0) &&
         text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == std::string::npos;
}
bool is_size_expression(const std::string& text) {
  constexpr std::string_view allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_ +-*/(),";
  return text.size() <= 256 && !text.empty() && text.find_first_not_of(allowed) == std::string::npos &&
         text[0] != ' ' && text.back() != ' ' && sdfg::parse_expr(text).has_value();
}

std::size_t length(const ParamValue& list) {
  if (const auto* texts = std::get_if<std::vector<std::string>>(&list)) return texts->size();
  return std::get<std::vector<std::int64_t>>(list).size();
}

bool is_number(const std::string& text) { return text.find_first_not_of("-0123456789") == std::string::npos; }

bool in_domain(const ParamValue& value, const ParamInfo& p) {
  auto in_range = [&](std::int64_t v) { return v >= p.low && v <= p.high; };
  if (p.type == ParamType::Choice)
    return std::find(p.choices.begin(), p.choices.end(), std::get<std::string>(value)) != p.choices.end();
  const bool names = p.type == ParamType::Loop || p.type == ParamType::Loops;
  if (p.type == ParamType::Loops && (length(value) == 0 || (p.most > 0 && length(value) > p.most))) return false;
  if (const auto* text = std::get_if<std::string>(&value))
    return names ? is_name(*text) : is_size_expression(*text) && !is_number(*text);
  // Beside an expression, a number of the list is text too; its range is checked when the step is bound.
  if (const auto* texts = std::get_if<std::vector<std::string>>(&value))
    return std::all_of(texts->begin(), texts->end(), names ? is_name : is_size_expression);
  if (const auto* number = std::get_if<std::int64_t>(&value)) return in_range(*number);
  if (const auto* numbers = std::get_if<std::vector<std::int64_t>>(&value))
    return std::all_of(numbers->begin(), numbers->end(), in_range);
  return names;  // an empty list of either type; expressions are evaluated when the step is bound
}

std::string text_of(const ParamValue& value) {
  auto list = [](const auto& items, auto text) {
    std::string joined;
    for (const auto& item : items) joined += (joined.empty() ? "" : ", ") + text(item);
    return "[" + joined + "]";
  };
  return sous::match(
      value, [](const bool& b) { return std::string(b ? "true" : "false"); },
      [](const std::int64_t& n) { return std::to_string(n); }, [](const std::string& s) { return s; },
      [&](const std::vector<std::int64_t>& v) { return list(v, [](std::int64_t n) { return std::to_string(n); }); },
      [&](const std::vector<std::string>& v) { return list(v, [](const std::string& s) { return s; }); });
}

// For a message: of whatever length and characters the value is.
std::string shown(const ParamValue& value) {
  std::string text = text_of(value).substr(0, 256);
  for (char& c : text)
    if (c < ' ' || c > '~') c = '?';
  return text;
}

// What a value of its own must be.
std::string domain_text(const ParamInfo& p) {
  std::string text(to_string(p.type));
  if (p.type == ParamType::Choice) {
    text += " of";
    for (std::string_view c : p.choices) text += " " + std::string(c);
  } else if (p.type == ParamType::Size || p.type == ParamType::Sizes || p.type == ParamType::Integer) {
    text += ", " + std::to_string(p.low) + " to " + std::to_string(p.high);
    if (p.type != ParamType::Integer) text += ", or expressions over the hardware";
  } else if (p.most > 0) {
    text += ", 1 to " + std::to_string(p.most);
  }
  return text;
}

std::string relation_text(Relation relation, const std::string& other) {
  switch (relation) {
    case Relation::Any:
      return "";
    case Relation::OnlyInside:
      return ", the only thing directly inside " + other;
    case Relation::Inside:
      return ", inside " + other;
    case Relation::Around:
      return ", around " + other;
    case Relation::Behind:
      return ", directly behind " + other + " at the same level";
    case Relation::Band:
      return ", each the only thing directly inside the one before";
    case Relation::BandAroundLoop:
      return ", each the only thing directly inside the one before, and one more loop the only thing inside the last";
  }
  __builtin_unreachable();
}

// And what it is beside the others, and where it is not given.
std::string declared_text(const ParamInfo& p) {
  const auto quoted = [](std::string_view name) { return "`" + std::string(name) + "`"; };
  std::string text = domain_text(p) + relation_text(p.relation, quoted(p.to));
  if (!p.length_of.empty()) text += ", as many as " + quoted(p.length_of);
  if (!p.multiple_of.empty())
    text += ", the one that " + quoted(p.multiple_by) + " names a multiple of " + quoted(p.multiple_of);
  if (p.required) return text;
  return text + sous::match(
                    p.default_value, [](std::monostate) { return std::string(", optional"); },
                    [](std::int64_t n) { return ", " + std::to_string(n) + " if not given"; },
                    [](std::string_view c) { return ", " + std::string(c) + " if not given"; });
}

std::string indented(std::string_view text, std::string_view by) {
  std::string result(by);
  for (char c : text) {
    result += c;
    if (c == '\n') result += by;
  }
  return result + "\n";
}

}  // namespace

Result<void> validate(const StepCall& call) {
  const StepInfo* step = find_step(call.step);
  if (!step) {
    std::vector<std::string> known;
    for (const StepInfo* s : steps()) known.emplace_back(s->name);
    return fail("recipe.unknown-step", "there is no step " + shown(call.step) + did_you_mean(call.step, known));
  }
  for (const auto& [name, value] : call.params) {
    const ParamInfo* p = find_param(step->params, name);
    if (p == nullptr) {
      std::vector<std::string> known;
      for (const ParamInfo& i : step->params) known.emplace_back(i.name);
      return fail("recipe.parameter", call.step + " has no parameter " + shown(name) + did_you_mean(name, known));
    }
    if (!has_type(value, p->type) || !in_domain(value, *p))
      return fail("recipe.parameter", call.step + "'s " + name + " takes " + domain_text(*p) + ", not " + shown(value));
  }
  for (const ParamInfo& p : step->params)
    if (p.required && !call.params.contains(std::string(p.name)))
      return fail("recipe.parameter", call.step + " needs the parameter " + std::string(p.name));
  for (const ParamInfo& p : step->params) {
    if (p.length_of.empty()) continue;
    const std::size_t many = length(call.params.at(std::string(p.name)));
    const std::size_t wanted = length(call.params.at(std::string(p.length_of)));
    if (many != wanted)
      return fail(std::string(p.refusal), call.step + "'s " + std::string(p.name) + " are as many as its " +
                                              std::string(p.length_of) + ", not " + std::to_string(many) + " for " +
                                              std::to_string(wanted));
  }
  return {};
}

std::string to_text(const StepCall& call) {
  // In the order of declaration; a step that nobody knows, by name.
  std::vector<std::string> order;
  if (const StepInfo* step = find_step(call.step))
    for (const ParamInfo& p : step->params) order.emplace_back(p.name);
  for (const auto& [name, value] : call.params)
    if (std::find(order.begin(), order.end(), name) == order.end()) order.push_back(name);
  std::string text;
  for (const std::string& name : order)
    if (auto it = call.params.find(name); it != call.params.end())
      text += (text.empty() ? "" : ", ") + name + "=" + text_of(it->second);
  return call.step + "(" + text + ")";
}

namespace {

template <class T>
json list_of(const T& items) {
  json result = json::array();
  for (const auto& item : items) result.push_back(item);
  return result;
}

json param_json(const ParamInfo& p) {
  json one = {{"name", p.name}, {"type", to_string(p.type)}, {"doc", p.doc}, {"required", p.required}};
  if (!p.values.empty()) {
    one["low"] = p.low;
    one["high"] = p.high;
    one["values"] = list_of(p.values);
  }
  if (!p.expressions.empty()) one["expressions"] = list_of(p.expressions);
  if (!p.choices.empty()) one["choices"] = list_of(p.choices);
  if (p.type == ParamType::Loops) one["least"] = 1;
  if (p.most > 0) one["most"] = p.most;
  if (p.relation != Relation::Any) one["relation"] = {{"kind", to_string(p.relation)}};
  if (!p.to.empty()) one["relation"]["to"] = p.to;
  if (!p.length_of.empty()) one["length_of"] = p.length_of;
  if (!p.multiple_of.empty()) one["multiple_of"] = {{"size", p.multiple_of}, {"of_loop", p.multiple_by}};
  if (!p.refusal.empty()) one["refusal"] = p.refusal;
  if (const auto* number = std::get_if<std::int64_t>(&p.default_value)) one["default"] = *number;
  if (const auto* choice = std::get_if<std::string_view>(&p.default_value)) one["default"] = *choice;
  return one;
}

}  // namespace

std::string steps_json() {
  json all = json::array();
  for (const StepInfo* s : steps()) {
    json params = json::array(), refusals = json::array();
    for (const ParamInfo& p : s->params) params.push_back(param_json(p));
    for (const RefusalInfo& r : s->refusals) refusals.push_back({{"code", r.code}, {"when", r.when}});
    all.push_back({{"name", s->name},
                   {"summary", s->summary},
                   {"before", s->before},
                   {"after", s->after},
                   {"names", s->names},
                   {"reassociates", s->reassociates},
                   {"parameters", std::move(params)},
                   {"refusals", std::move(refusals)}});
  }
  return json{{"steps", std::move(all)}, {"hardware", list_of(hardware_names)}}.dump();
}

std::string step_help(const StepInfo& s) {
  std::string text = std::string(s.name) + " - " + std::string(s.summary) + "\n\nParameters\n";
  for (const ParamInfo& p : s.params)
    text += "  " + std::string(p.name) + " (" + declared_text(p) + ")\n" + indented(p.doc, "      ");
  text += "\nBefore\n" + indented(s.before, "  ") + "\nAfter\n" + indented(s.after, "  ") + "\nNames\n" +
          indented(s.names, "  ");
  if (s.reassociates)
    text += "\nMay split floating-point reductions, where -fassociative-math or the like allows it.\n";
  text += "\nRefused with\n";
  for (const RefusalInfo& r : s.refusals) text += "  " + std::string(r.code) + ": " + std::string(r.when) + "\n";
  return text;
}

std::string steps_markdown() {
  std::string text =
      "# Recipe steps\n\nGenerated from the steps' declarations by `sous help steps --markdown`.\n"
      "Every step is proven legal on the nest that it is applied to, or refused with one of its codes.\n";
  for (const StepInfo* s : steps()) {
    text += "\n## " + std::string(s->name) + "\n\n" + std::string(s->summary) + "\n\n";
    text += "| parameter | domain | meaning |\n|---|---|---|\n";
    for (const ParamInfo& p : s->params)
      text += "| `" + std::string(p.name) + "` | " + declared_text(p) + " | " + std::string(p.doc) + " |\n";
    text += "\nBefore:\n\n" + indented(s->before, "    ") + "\nAfter:\n\n" + indented(s->after, "    ") + "\n" +
            std::string(s->names) + "\n\nRefusals:\n\n";
    for (const RefusalInfo& r : s->refusals) text += "- `" + std::string(r.code) + "`: " + std::string(r.when) + "\n";
  }
  return text;
}

}  // namespace sous::transforms
