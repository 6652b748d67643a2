#include "sdfg/json_internal.h"

#include <algorithm>

namespace sous::sdfg {

std::unexpected<Error> json_error(const std::string& why, const JsonPlace& where) {
  return fail("sdfg.json.shape", why, where.pointer.empty() ? "/" : where.pointer);
}

Result<JsonObject> JsonObject::open(const Json& json, JsonPlace where, std::initializer_list<std::string_view> required,
                                    std::initializer_list<std::string_view> optional) {
  if (!json.is_object()) return json_error("expected an object", where);
  JsonObject object;
  object.json_ = &json;
  object.where_ = std::move(where);
  for (const std::string_view key : required)
    if (!object.find(key)) return json_error("'" + std::string(key) + "' is missing", object.where_);
  for (const auto& item : json.items())
    if (std::ranges::find(required, item.key()) == required.end() &&
        std::ranges::find(optional, item.key()) == optional.end())
      return json_error("unknown key '" + item.key().substr(0, 64) + "'", object.where_);
  return object;
}

const Json* JsonObject::find(std::string_view key) const {
  const auto it = json_->find(std::string(key));
  return it == json_->end() ? nullptr : &*it;
}

const Json& JsonObject::at(std::string_view key) const {
  const Json* value = find(key);
  SOUS_ASSERT(value);
  return *value;
}

Result<std::string> JsonObject::text(std::string_view key) const { return json_text(at(key), place(key)); }

Result<bool> JsonObject::boolean(std::string_view key, bool absent) const {
  const Json* value = find(key);
  if (!value) return absent;
  if (!value->is_boolean()) return json_error("expected true or false", place(key));
  return value->get<bool>();
}

Result<std::int64_t> JsonObject::integer(std::string_view key, std::int64_t absent) const {
  const Json* value = find(key);
  return value ? json_integer(*value, place(key)) : absent;
}

Result<int> JsonObject::small(std::string_view key, int absent) const {
  TRY(const std::int64_t value, integer(key, absent));
  if (value < std::numeric_limits<int>::min() || value > std::numeric_limits<int>::max())
    return json_error("not a 32-bit integer", place(key));
  return static_cast<int>(value);
}

Result<std::string> json_text(const Json& json, const JsonPlace& where) {
  if (!json.is_string()) return json_error("expected a string", where);
  return json.get<std::string>();
}

Result<std::int64_t> json_integer(const Json& json, const JsonPlace& where) {
  // The library holds non-negative numbers as unsigned.
  const bool fits =
      json.is_number_unsigned() ? json.get<std::uint64_t>() <= std::uint64_t{INT64_MAX} : json.is_number_integer();
  if (!fits) return json_error("expected a 64-bit integer", where);
  return json.get<std::int64_t>();
}

int bracket_depth(std::string_view json) {
  int depth = 0, most = 0;
  bool quoted = false;
  for (std::size_t k = 0; k < json.size(); ++k) {
    const char c = json[k];
    if (quoted) {
      if (c == '\\') ++k;
      if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || c == '{') {
      most = std::max(most, ++depth);
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return most;
}

}  // namespace sous::sdfg
