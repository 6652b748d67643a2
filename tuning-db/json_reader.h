// Strict reading of JSON from outside: budgets on size and depth, a coded refusal that names the field, and no
// exceptions. Included by .cc files only (it brings nlohmann/json).
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sdfg/result.h"

namespace sous::tuning_db {

using Json = nlohmann::json;

struct JsonBudget {
  std::size_t bytes = std::size_t{16} << 20;
  int depth = 200;
  std::size_t values = 4'000'000;  // each takes 100 bytes of memory
};

// Errors: <area>.json (malformed), <area>.budget (too large, too deep or too many values).
Result<Json> parse_json(std::string_view text, const std::string& area, const JsonBudget& budget = {});

// One line; bytes that are not UTF-8 become the replacement character.
std::string dump(const Json& json);

// Whether a text that is shown to people is one: no control characters, which a terminal would obey, also those of
// Unicode (C1, the direction of text, separators of lines).
bool is_one_line(std::string_view text);
// The same text with a space for each of them.
std::string as_one_line(std::string text);
// An error about input from outside may quote it, names included.
Error as_one_line(Error error);

// Reads the fields of one object. Every getter refuses with <area>.field; `done` refuses fields that nobody asked for.
class ObjectReader {
 public:
  static Result<ObjectReader> of(const Json& json, const std::string& area, const std::string& where);

  Result<std::string> string(const char* key, std::size_t longest = 4096);
  Result<std::string> line(const char* key, std::size_t longest = 4096);  // without control characters
  Result<std::int64_t> integer(const char* key, std::int64_t least, std::int64_t most);
  Result<bool> boolean(const char* key);
  Result<double> number(const char* key, double least = -1e300, double most = 1e300);  // finite
  Result<std::vector<double>> numbers(const char* key, std::size_t longest, double least, double most);
  Result<const Json*> object(const char* key);
  Result<const Json*> array(const char* key, std::size_t longest);
  // {"n": 2000, …}; names at most 256 bytes, at most 1024 of them.
  Result<std::map<std::string, std::int64_t>> integers(const char* key);
  bool has(const char* key) const { return json_->contains(key); }
  Result<void> done() const;

  std::unexpected<Error> refuse(const std::string& why) const;

 private:
  ObjectReader(const Json* json, std::string area, std::string where)
      : json_(json), area_(std::move(area)), where_(std::move(where)) {}
  Result<const Json*> field(const char* key);

  const Json* json_;
  std::string area_, where_;
  std::set<std::string> asked_;
};

}  // namespace sous::tuning_db
