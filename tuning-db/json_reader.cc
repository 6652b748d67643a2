#include "tuning-db/json_reader.h"

#include <algorithm>
#include <cmath>

#include "sdfg/json_position.h"

namespace sous::tuning_db {
namespace {

struct Shape {
  int depth = 0;
  std::size_t values = 0;  // at least as many as there are
};
// The deepest nesting of brackets outside strings, and how much stands in them, without building anything: a hostile
// text costs one pass.
Shape shape_of(std::string_view text) {
  int depth = 0, deepest = 0;
  std::size_t values = 1;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || c == '{') {
      deepest = std::max(deepest, ++depth);
      ++values;
    } else if (c == ',') {
      ++values;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return {deepest, values};
}

}  // namespace

Result<Json> parse_json(std::string_view text, const std::string& area, const JsonBudget& budget) {
  if (text.size() > budget.bytes)
    return fail(area + ".budget", "the JSON text has " + std::to_string(text.size()) + " bytes; " +
                                      std::to_string(budget.bytes) + " are allowed");
  const Shape shape = shape_of(text);
  if (shape.values > budget.values)
    return fail(area + ".budget", "the JSON text has more than " + std::to_string(budget.values) + " values");
  if (shape.depth > budget.depth)
    return fail(area + ".budget", "the JSON text is nested deeper than " + std::to_string(budget.depth));
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) return fail(area + ".json", "not well-formed JSON" + sdfg::json_error_position(text));
  return json;
}

std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

namespace {

// The bytes of the control character that the text begins with; 0: it begins with another one. In UTF-8, what is not
// one byte: the further controls (U+0080 to U+009F, which terminals may take for escape sequences), separators of lines
// (U+2028, U+2029), and what turns the direction of the text around it (U+061C, U+200E, U+200F, U+202A to U+202E,
// U+2066 to U+2069).
std::size_t control_at(std::string_view text) {
  const auto byte = [&](std::size_t k) {
    return k < text.size() ? static_cast<unsigned char>(text[k]) : static_cast<unsigned char>(0);
  };
  const unsigned char a = byte(0), b = byte(1), c = byte(2);
  if (a < ' ' || a == 127) return 1;
  if (a == 0xC2 && b >= 0x80 && b <= 0x9F) return 2;
  if (a == 0xD8 && b == 0x9C) return 2;
  if (a != 0xE2) return 0;
  const bool is_control =
      (b == 0x80 && ((c >= 0x8E && c <= 0x8F) || (c >= 0xA8 && c <= 0xAE))) || (b == 0x81 && c >= 0xA6 && c <= 0xA9);
  return is_control ? 3 : 0;
}

}  // namespace

bool is_one_line(std::string_view text) {
  for (std::size_t k = 0; k < text.size(); ++k)
    if (control_at(text.substr(k)) > 0) return false;
  return true;
}

std::string as_one_line(std::string text) {
  for (std::size_t k = 0; k < text.size(); ++k)
    if (const std::size_t bytes = control_at(std::string_view(text).substr(k)); bytes > 0) text.replace(k, bytes, " ");
  return text;
}

Error as_one_line(Error error) {
  error.why = as_one_line(std::move(error.why));
  error.where = as_one_line(std::move(error.where));
  return error;
}

Result<ObjectReader> ObjectReader::of(const Json& json, const std::string& area, const std::string& where) {
  if (!json.is_object()) return fail(area + ".field", "a JSON object is expected", where);
  return ObjectReader(&json, area, where);
}

std::unexpected<Error> ObjectReader::refuse(const std::string& why) const {
  return fail(area_ + ".field", why, where_);
}

Result<const Json*> ObjectReader::field(const char* key) {
  asked_.insert(key);
  const auto at = json_->find(key);
  if (at == json_->end()) return refuse(std::string("the field \"") + key + "\" is missing");
  return &*at;
}

Result<std::string> ObjectReader::string(const char* key, std::size_t longest) {
  TRY(const Json* value, field(key));
  if (!value->is_string()) return refuse(std::string("\"") + key + "\" must be a string");
  const std::string& text = *value->get_ptr<const std::string*>();
  if (text.size() > longest)
    return refuse(std::string("\"") + key + "\" is longer than " + std::to_string(longest) + " bytes");
  return text;
}

Result<std::string> ObjectReader::line(const char* key, std::size_t longest) {
  TRY(std::string text, string(key, longest));
  if (!is_one_line(text)) return refuse(std::string("\"") + key + "\" holds a control character");
  return text;
}

Result<std::int64_t> ObjectReader::integer(const char* key, std::int64_t least, std::int64_t most) {
  TRY(const Json* value, field(key));
  const bool fits = value->is_number_integer() &&
                    !(value->is_number_unsigned() && value->get<std::uint64_t>() > std::uint64_t{INT64_MAX});
  if (!fits || value->get<std::int64_t>() < least || value->get<std::int64_t>() > most)
    return refuse(std::string("\"") + key + "\" must be an integer from " + std::to_string(least) + " to " +
                  std::to_string(most));
  return value->get<std::int64_t>();
}

Result<bool> ObjectReader::boolean(const char* key) {
  TRY(const Json* value, field(key));
  if (!value->is_boolean()) return refuse(std::string("\"") + key + "\" must be true or false");
  return value->get<bool>();
}

Result<double> ObjectReader::number(const char* key, double least, double most) {
  TRY(const Json* value, field(key));
  if (!value->is_number() || !std::isfinite(value->get<double>()) || value->get<double>() < least ||
      value->get<double>() > most)
    return refuse(std::string("\"") + key + "\" must be a number in its range");
  return value->get<double>();
}

Result<std::vector<double>> ObjectReader::numbers(const char* key, std::size_t longest, double least, double most) {
  TRY(const Json* value, array(key, longest));
  std::vector<double> result;
  for (const Json& one : *value) {
    const double number = one.is_number() ? one.get<double>() : NAN;
    if (!(number >= least && number <= most))
      return refuse(std::string("\"") + key + "\" must hold numbers in their range");
    result.push_back(number);
  }
  return result;
}

Result<const Json*> ObjectReader::object(const char* key) {
  TRY(const Json* value, field(key));
  if (!value->is_object()) return refuse(std::string("\"") + key + "\" must be an object");
  return value;
}

Result<const Json*> ObjectReader::array(const char* key, std::size_t longest) {
  TRY(const Json* value, field(key));
  if (!value->is_array()) return refuse(std::string("\"") + key + "\" must be an array");
  if (value->size() > longest)
    return refuse(std::string("\"") + key + "\" has more than " + std::to_string(longest) + " elements");
  return value;
}

Result<std::map<std::string, std::int64_t>> ObjectReader::integers(const char* key) {
  TRY(const Json* value, object(key));
  if (value->size() > 1024) return refuse(std::string("\"") + key + "\" has more than 1024 members");
  std::map<std::string, std::int64_t> result;
  TRY(auto members, ObjectReader::of(*value, area_, where_.empty() ? key : where_ + "." + key));
  for (const auto& [name, member] : value->items()) {
    if (name.size() > 256) return refuse(std::string("a name in \"") + key + "\" is longer than 256 bytes");
    TRY(result[name], members.integer(name.c_str(), INT64_MIN, INT64_MAX));
  }
  return result;
}

Result<void> ObjectReader::done() const {
  for (const auto& [key, value] : json_->items())
    if (!asked_.contains(key)) return refuse("unknown field \"" + key.substr(0, 64) + "\"");
  return {};
}

}  // namespace sous::tuning_db
