#include "transforms/recipe.h"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "sdfg/json_position.h"
#include "sdfg/suggest.h"
#include "transforms/step.h"

namespace sous::transforms {

namespace {

using nlohmann::json;

constexpr std::size_t max_bytes = std::size_t{256} * 1024;
constexpr std::size_t max_steps = 256;
constexpr int max_depth = 8;

// A piece of the recipe for a message.
std::string shown(std::string_view text) {
  std::string result(text.substr(0, 64));
  for (char& c : result)
    if (c < ' ' || c > '~') c = '?';
  return result;
}

json value_json(const ParamValue& value) {
  return std::visit([](const auto& v) { return json(v); }, value);
}

Result<ParamValue> value_from_json(const json& j, const std::string& name) {
  auto wrong = [&] {
    return fail("recipe.parameter", "the value of " + shown(name) + " has a type that no parameter has");
  };
  if (j.is_boolean()) return j.get<bool>();
  if (j.is_number_integer()) {
    if (j.is_number_unsigned() && j.get<std::uint64_t>() > INT64_MAX) return wrong();
    return j.get<std::int64_t>();
  }
  if (j.is_string()) return j.get<std::string>();
  if (!j.is_array()) return wrong();
  if (std::all_of(j.begin(), j.end(), [](const json& e) { return e.is_number_integer(); }))
    return j.get<std::vector<std::int64_t>>();
  if (std::all_of(j.begin(), j.end(), [](const json& e) { return e.is_string(); }))
    return j.get<std::vector<std::string>>();
  return wrong();
}

Result<void> check_target(const std::string& target) {
  std::vector<std::string> known(std::begin(target_names), std::end(target_names));
  if (std::find(known.begin(), known.end(), target) != known.end()) return {};
  return fail("recipe.unknown-target", "there is no target " + shown(target) + did_you_mean(target, known));
}

Result<void> check_recipe(const Recipe& recipe) {
  if (recipe.steps.size() > max_steps)
    return fail("recipe.budget", "a recipe has at most " + std::to_string(max_steps) + " steps");
  TRY_VOID(check_target(recipe.target));
  for (const StepCall& call : recipe.steps) TRY_VOID(validate(call));
  return {};
}

// Nesting of brackets outside of strings, before a recursive parser sees the text.
bool too_deep(std::string_view text) {
  int depth = 0, deepest = 0;
  bool quoted = false;
  for (std::size_t k = 0; k < text.size(); ++k) {
    const char c = text[k];
    if (c == '"') quoted = !quoted;
    if (quoted && c == '\\') ++k;
    if (quoted) continue;
    if (c == '[' || c == '{') deepest = std::max(deepest, ++depth);
    if (c == ']' || c == '}') --depth;
  }
  return deepest > max_depth;
}

}  // namespace

std::string to_json(const Recipe& recipe) {
  json steps = json::array();
  for (const StepCall& call : recipe.steps) {
    json step = json::object();
    for (const auto& [name, value] : call.params) step[name] = value_json(value);
    step["step"] = call.step;
    steps.push_back(std::move(step));
  }
  json j = {{"version", recipe.version}, {"target", recipe.target}, {"steps", std::move(steps)}};
  return j.dump(-1, ' ', false, json::error_handler_t::replace);
}

Result<Recipe> recipe_from_json(std::string_view text) {
  if (text.size() > max_bytes || too_deep(text))
    return fail("recipe.budget", "the recipe is too large or nested too deeply");
  json j = json::parse(text, nullptr, false);
  if (j.is_discarded()) return fail("recipe.json", "not well-formed JSON" + sdfg::json_error_position(text));
  if (!j.is_object()) return fail("recipe.json", "the recipe is not a JSON object");
  for (const auto& [key, value] : j.items())
    if (key != "version" && key != "target" && key != "steps")
      return fail("recipe.json",
                  "a recipe has no member " + shown(key) + did_you_mean(key, {"version", "target", "steps"}));
  if (!j.contains("version") || !j["version"].is_number_integer() || j["version"] != 1)
    return fail("recipe.version", "only recipes of version 1 are understood");
  if (!j.contains("target") || !j["target"].is_string()) return fail("recipe.json", "the recipe names no target");
  if (!j.contains("steps") || !j["steps"].is_array()) return fail("recipe.json", "the recipe has no list of steps");
  Recipe recipe{.version = 1, .target = j["target"].get<std::string>(), .steps = {}};
  if (j["steps"].size() > max_steps)
    return fail("recipe.budget", "a recipe has at most " + std::to_string(max_steps) + " steps");
  for (const json& step : j["steps"]) {
    if (!step.is_object() || !step.contains("step") || !step["step"].is_string())
      return fail("recipe.json", "a step is an object with a member step");
    StepCall call{.step = step["step"].get<std::string>(), .params = {}};
    for (const auto& [name, value] : step.items()) {
      if (name == "step") continue;
      TRY(call.params[name], value_from_json(value, name));
    }
    recipe.steps.push_back(std::move(call));
  }
  TRY_VOID(check_recipe(recipe));
  return recipe;
}

std::string to_text(const Recipe& recipe) {
  std::string text;
  for (const StepCall& call : recipe.steps) text += (text.empty() ? "" : "; ") + to_text(call);
  return text + (text.empty() ? "-> " : " -> ") + recipe.target;
}

namespace {

// tile(loops=[i0, i1], sizes=[32, l2_bytes floordiv 8]); parallelize(loop=i0_t) -> openmp
class TextReader {
 public:
  explicit TextReader(std::string_view text) : text_(text) {}

  Result<Recipe> recipe() {
    Recipe recipe;
    skip();
    while (!looking_at("->")) {
      TRY(StepCall call, step());
      recipe.steps.push_back(std::move(call));
      if (!accept(";") && !looking_at("->")) return error("; or ->");
    }
    accept("->");
    TRY(recipe.target, word());
    if (at_ < text_.size()) return error("the end");
    TRY_VOID(check_recipe(recipe));
    return recipe;
  }

 private:
  Result<StepCall> step() {
    StepCall call;
    TRY(call.step, word());
    if (!accept("(")) return error("(");
    while (!accept(")")) {
      TRY(std::string name, word());
      if (!accept("=")) return error("=");
      TRY(call.params[name], value());
      if (!accept(",") && !looking_at(")")) return error(", or )");
    }
    return call;
  }

  Result<ParamValue> value() {
    if (!accept("[")) {
      TRY(std::string one, item());
      if (auto number = integer(one)) return *number;
      return one;
    }
    std::vector<std::string> items;
    while (!accept("]")) {
      TRY(std::string one, item());
      items.push_back(std::move(one));
      if (!accept(",") && !looking_at("]")) return error(", or ]");
    }
    std::vector<std::int64_t> numbers;
    for (const std::string& one : items)
      if (auto number = integer(one)) numbers.push_back(*number);
    if (numbers.size() == items.size()) return numbers;
    return items;
  }

  static std::optional<std::int64_t> integer(const std::string& text) {
    std::size_t used = text.starts_with('-');
    if (text.size() == used || text.size() > 18) return std::nullopt;
    for (std::size_t i = used; i < text.size(); ++i)
      if (!std::isdigit(static_cast<unsigned char>(text[i]))) return std::nullopt;
    return std::stoll(text);
  }

  // Up to , ] ) ; outside parentheses.
  Result<std::string> item() {
    std::string text;
    int depth = 0;
    while (at_ < text_.size()) {
      char c = text_[at_];
      if (depth == 0 && (c == ',' || c == ']' || c == ')' || c == ';')) break;
      depth += (c == '(') - (c == ')');
      text += c;
      ++at_;
    }
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.pop_back();
    if (text.empty()) return error("a value");
    return text;
  }

  Result<std::string> word() {
    std::string text;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_' || text_[at_] == '-'))
      text += text_[at_++];
    skip();
    if (text.empty()) return error("a name");
    return text;
  }

  bool looking_at(std::string_view s) const { return text_.substr(at_).starts_with(s); }
  bool accept(std::string_view s) {
    if (!looking_at(s)) return false;
    at_ += s.size();
    skip();
    return true;
  }
  void skip() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  std::unexpected<Error> error(std::string_view expected) const {
    return fail("recipe.text", "expected " + std::string(expected), "recipe:1:" + std::to_string(at_ + 1));
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

Result<Recipe> recipe_from_text(std::string_view text) {
  if (text.size() > max_bytes) return fail("recipe.budget", "the recipe is too large");
  return TextReader(text).recipe();
}

Result<Recipe> parse_recipe(std::string_view text) {
  const std::size_t at = text.find_first_not_of(" \t\r\n");
  return at != text.npos && text[at] == '{' ? recipe_from_json(text) : recipe_from_text(text);
}

}  // namespace sous::transforms
