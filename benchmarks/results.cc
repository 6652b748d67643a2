#include "benchmarks/results.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <initializer_list>
#include <utility>

#include "client/process.h"
#include "tuning-db/json_reader.h"

namespace sous::benchmarks {
namespace {

using std::string;
using std::string_view;
using tuning_db::Json;
using tuning_db::ObjectReader;

constexpr double longest_seconds = 1e7;
constexpr std::size_t most_runs = 10'000;
constexpr std::size_t longest_text = 64 << 10;

// Lines of later versions may have more fields: those that are not known are passed over.
bool boolean(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_boolean() && found->get<bool>();
}

Result<void> read_failure(Line& line, const Json& error) {
  TRY(auto in, ObjectReader::of(error, "results", "error"));
  Error out;
  TRY(out.code, in.string("code", longest_text));
  TRY(out.why, in.string("why", longest_text));
  line.error = std::move(out);
  if (error.contains("limit_seconds")) {
    TRY(line.limit_seconds, in.number("limit_seconds", 0, longest_seconds));
  }
  return {};
}

Result<void> read_times(std::vector<double>& times, ObjectReader& in, const char* key) {
  TRY(const Json* list, in.array(key, most_runs));
  for (const Json& time : *list) {
    if (!time.is_number() || !(time.get<double>() >= 0) || time.get<double>() > longest_seconds) {
      return in.refuse("\"" + string(key) + "\" holds what is no time");
    }
    times.push_back(time.get<double>());
  }
  return {};
}

Result<void> read_names(std::vector<string>& names, ObjectReader& in, const Json& json, const char* key) {
  if (!json.contains(key)) return {};
  TRY(const Json* list, in.array(key, most_runs));
  for (const Json& name : *list) {
    if (name.is_string()) names.push_back(name.get<string>());
  }
  return {};
}

Result<void> read_figures(Line& line, ObjectReader& in, const Json& json) {
  TRY_VOID(read_times(line.runs, in, "runs"));
  if (json.contains("user")) {
    TRY_VOID(read_times(line.user, in, "user"));
  }
  TRY(const auto wanted, in.integer("wanted_runs", 1, most_runs));
  line.wanted_runs = static_cast<int>(wanted);
  TRY(line.build_seconds, in.number("build_seconds", 0, longest_seconds));
  // JSON has no infinity: a missing difference is one.
  line.difference = HUGE_VAL;
  if (json.contains("difference") && !json["difference"].is_null()) {
    TRY(line.difference, in.number("difference", 0, 1e300));
  }
  line.warmup_counted = boolean(json, "warmup_counted");
  line.complete = boolean(json, "complete");
  line.bit_equal = boolean(json, "bit_equal");
  line.right = boolean(json, "right");
  TRY_VOID(read_names(line.recipes, in, json, "recipes"));
  return read_names(line.functions, in, json, "functions");
}

bool same_measurement(const Line& a, const Line& b) {
  return a.suite == b.suite && a.program == b.program && a.size == b.size && a.type == b.type &&
         a.compiler == b.compiler;
}

}  // namespace

string to_json_line(const Line& line) {
  Json out{{"suite", line.suite},        {"program", line.program},   {"size", line.size},
           {"type", line.type},          {"compiler", line.compiler}, {"identity", line.identity},
           {"threads", line.threads},    {"session", line.session},   {"date", line.date},
           {"fast_math", line.fast_math}};
  out["commands"] = Json::parse(line.commands, nullptr, false);
  out["machine"] = Json::parse(tuning_db::to_json(line.machine), nullptr, false);
  if (!line.library.empty()) out["library"] = line.library;
  if (line.error) {
    out["error"] = {{"code", line.error->code}, {"why", line.error->why}};
    if (line.limit_seconds > 0) out["error"]["limit_seconds"] = line.limit_seconds;
    return tuning_db::dump(out);
  }
  out["runs"] = line.runs;
  if (!line.user.empty()) out["user"] = line.user;
  out["wanted_runs"] = line.wanted_runs;
  out["warmup_counted"] = line.warmup_counted;
  out["complete"] = line.complete;
  if (!line.runs.empty()) {  // for readers that do not compute
    out["seconds"] = median(line.runs);
    out["spread"] = half_iqr(line.runs);
  }
  out["build_seconds"] = line.build_seconds;
  out["bit_equal"] = line.bit_equal;
  out["difference"] = line.difference;
  out["right"] = line.right;
  if (!line.recipes.empty()) out["recipes"] = line.recipes;
  if (!line.functions.empty()) out["functions"] = line.functions;
  return tuning_db::dump(out);
}

Result<Line> parse_line(string_view text) {
  TRY(const Json json, tuning_db::parse_json(text, "results", {.bytes = 1 << 20, .depth = 16}));
  TRY(auto in, ObjectReader::of(json, "results", ""));
  Line line;
  for (const auto& [key, member] : std::initializer_list<std::pair<const char*, string*>>{{"suite", &line.suite},
                                                                                          {"program", &line.program},
                                                                                          {"size", &line.size},
                                                                                          {"type", &line.type},
                                                                                          {"compiler", &line.compiler},
                                                                                          {"identity", &line.identity},
                                                                                          {"session", &line.session},
                                                                                          {"date", &line.date}}) {
    TRY(*member, in.string(key));
  }
  TRY(const Json* commands, in.array("commands", most_runs));
  line.commands = tuning_db::dump(*commands);
  TRY(const auto threads, in.integer("threads", 0, 1 << 16));
  line.threads = static_cast<int>(threads);
  line.fast_math = boolean(json, "fast_math");
  TRY(const Json* machine, in.object("machine"));
  TRY(line.machine, tuning_db::hardware_from_json(tuning_db::dump(*machine)));
  if (json.contains("library")) {
    TRY(line.library, in.string("library"));
  }
  if (json.contains("error")) {
    TRY(const Json* error, in.object("error"));
    TRY_VOID(read_failure(line, *error));
    return line;
  }
  TRY_VOID(read_figures(line, in, json));
  return line;
}

Result<std::vector<Line>> parse_lines(string_view text) {
  std::vector<Line> out;
  for (int number = 1; !text.empty(); ++number) {
    const auto end = text.find('\n');
    const bool whole = end != string_view::npos;
    const string_view one = text.substr(0, end);
    text = whole ? text.substr(end + 1) : string_view{};
    if (one.find_first_not_of(" \t\r") == string_view::npos) continue;
    auto line = parse_line(one);
    if (!line && !whole) break;
    if (!line) {
      return fail(line.error().code, line.error().why, "line " + std::to_string(number) + " " + line.error().where);
    }
    const auto earlier =
        std::find_if(out.begin(), out.end(), [&](const Line& other) { return same_measurement(other, *line); });
    if (earlier != out.end()) out.erase(earlier);
    out.push_back(std::move(*line));
  }
  return out;
}

Result<std::vector<Line>> read_lines(const string& path) {
  TRY(const string text, client::read_file(path));
  auto lines = parse_lines(text);
  if (!lines) return fail(lines.error().code, lines.error().why, path + ": " + lines.error().where);
  return lines;
}

Result<void> drop_half_line(const string& path) {
  const auto text = client::read_file(path);
  if (!text || text->empty() || text->back() == '\n') return {};
  const auto last = text->rfind('\n');
  std::error_code error;
  std::filesystem::resize_file(path, last == string::npos ? 0 : last + 1, error);
  if (error) return fail("bench.out", error.message(), path);
  return {};
}

}  // namespace sous::benchmarks
