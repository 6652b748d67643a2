#include "sdfg/json_position.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace sous::sdfg {
namespace {

using nlohmann::json;

// Takes everything and keeps where the parser stopped.
struct Stop : nlohmann::json_sax<json> {
  std::size_t position = 0;

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return true; }
  bool key(string_t&) override { return true; }
  bool end_object() override { return true; }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t at, const std::string&, const nlohmann::detail::exception&) override {
    position = at;
    return false;
  }
};

}  // namespace

std::string json_error_position(std::string_view text) {
  Stop stop;
  if (json::sax_parse(text.begin(), text.end(), &stop)) return "";
  // The position counts the characters that were read, the one that does not fit included.
  const std::string_view before = text.substr(0, std::min(text.size(), stop.position > 0 ? stop.position - 1 : 0));
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const auto start = before.rfind('\n');
  const std::size_t column = before.size() - (start == std::string_view::npos ? 0 : start + 1) + 1;
  return ": line " + std::to_string(line) + ", column " + std::to_string(column);
}

}  // namespace sous::sdfg
