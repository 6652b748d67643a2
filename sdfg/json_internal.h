// Internal to the JSON form: reading JSON values without exceptions, with the place in every error.
#pragma once

#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "sdfg/result.h"

namespace sous::sdfg {

// Sorted keys: insertion into nlohmann's ordered objects is linear, which a hostile document would make quadratic.
using Json = nlohmann::json;

// Where reading stands: a JSON pointer, and the budget that all symbolic expressions of the document share.
struct JsonPlace {
  std::string pointer;
  std::size_t* work = nullptr;
  friend JsonPlace operator+(const JsonPlace& place, const std::string& more) {
    return {.pointer = place.pointer + more, .work = place.work};
  }
};

// An object whose keys must be these: reports what is missing, unknown or of the wrong kind.
class JsonObject {
 public:
  // `optional` keys may be absent.
  static Result<JsonObject> open(const Json& json, JsonPlace where, std::initializer_list<std::string_view> required,
                                 std::initializer_list<std::string_view> optional = {});

  const Json* find(std::string_view key) const;  // null if absent
  const Json& at(std::string_view key) const;    // a required key
  JsonPlace place(std::string_view key) const { return where_ + ("/" + std::string(key)); }

  Result<std::string> text(std::string_view key) const;
  Result<bool> boolean(std::string_view key, bool absent) const;
  Result<std::int64_t> integer(std::string_view key, std::int64_t absent) const;
  Result<int> small(std::string_view key, int absent) const;

 private:
  const Json* json_ = nullptr;
  JsonPlace where_;
};

// Deepest nesting of brackets outside of strings: known before the library builds anything.
int bracket_depth(std::string_view json);

std::unexpected<Error> json_error(const std::string& why, const JsonPlace& where);
Result<std::string> json_text(const Json& json, const JsonPlace& where);
Result<std::int64_t> json_integer(const Json& json, const JsonPlace& where);

// The elements of an array, each read by f(element, where).
template <class T, class F>
Result<std::vector<T>> json_list(const Json& json, const JsonPlace& where, F&& f) {
  if (!json.is_array()) return json_error("expected an array", where);
  std::vector<T> list;
  list.reserve(json.size());
  for (std::size_t k = 0; k < json.size(); ++k) {
    TRY(T element, f(json[k], where + ("/" + std::to_string(k))));
    list.push_back(std::move(element));
  }
  return list;
}

}  // namespace sous::sdfg
