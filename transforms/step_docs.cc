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

bool is_number(const std::string& text) { return text.find_first_not_of("-0123456789") == std::string::npos; }

bool in_domain(const ParamValue& value, const ParamInfo& p) {
  auto in_range = [&](std::int64_t v) { return v >= p.low && v <= p.high; };
  if (p.type == ParamType::Choice)
    return std::find(p.choices.begin(), p.choices.end(), std::get<std::string>(value)) != p.choices.end();
  const bool names = p.type == ParamType::Loop || p.type == ParamType::Loops;
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

std::string domain_text(const ParamInfo& p) {
  std::string text(to_string(p.type));
  if (p.type == ParamType::Choice) {
    text += " of";
    for (std::string_view c : p.choices) text += " " + std::string(c);
  } else if (p.type == ParamType::Size || p.type == ParamType::Sizes || p.type == ParamType::Integer) {
    text += ", " + std::to_string(p.low) + " to " + std::to_string(p.high);
    if (p.type != ParamType::Integer) text += ", or expressions over the hardware";
  }
  if (!p.required) text += ", optional";
  return text;
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
    auto p = std::find_if(step->params.begin(), step->params.end(), [&](const ParamInfo& i) { return i.name == name; });
    if (p == step->params.end()) {
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

std::string steps_json() {
  json all = json::array();
  for (const StepInfo* s : steps()) {
    json params = json::array(), refusals = json::array();
    for (const ParamInfo& p : s->params) {
      json one = {{"name", p.name}, {"type", to_string(p.type)}, {"doc", p.doc}, {"required", p.required}};
      if (!p.values.empty()) {
        one["low"] = p.low;
        one["high"] = p.high;
        one["values"] = std::vector<std::int64_t>(p.values.begin(), p.values.end());
      }
      if (!p.choices.empty()) one["choices"] = std::vector<std::string>(p.choices.begin(), p.choices.end());
      params.push_back(std::move(one));
    }
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
  return json{{"steps", std::move(all)}}.dump();
}

std::string step_help(const StepInfo& s) {
  std::string text = std::string(s.name) + " - " + std::string(s.summary) + "\n\nParameters\n";
  for (const ParamInfo& p : s.params)
    text += "  " + std::string(p.name) + " (" + domain_text(p) + ")\n" + indented(p.doc, "      ");
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
      text += "| `" + std::string(p.name) + "` | " + domain_text(p) + " | " + std::string(p.doc) + " |\n";
    text += "\nBefore:\n\n" + indented(s->before, "    ") + "\nAfter:\n\n" + indented(s->after, "    ") + "\n" +
            std::string(s->names) + "\n\nRefusals:\n\n";
    for (const RefusalInfo& r : s->refusals) text += "- `" + std::string(r.code) + "`: " + std::string(r.when) + "\n";
  }
  return text;
}

}  // namespace sous::transforms
