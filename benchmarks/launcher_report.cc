#include "benchmarks/launcher_report.h"

#include <algorithm>

#include "tuning-db/json_reader.h"

namespace sous::benchmarks {
namespace {

using std::string;
using tuning_db::Json;

// The member of that name if it has the type of `otherwise`, else `otherwise`: reports of later versions may differ in
// what is not essential.
string text(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<string>() : "";
}
double number(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_number() ? found->get<double>() : 0;
}
bool boolean(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_boolean() && found->get<bool>();
}
std::vector<Json> objects(const Json& json, const char* key) {
  std::vector<Json> out;
  const auto found = json.find(key);
  if (found == json.end() || !found->is_array()) return out;
  std::copy_if(found->begin(), found->end(), std::back_inserter(out),
               [](const Json& item) { return item.is_object(); });
  return out;
}

NestSummary nest_of(const Json& json) {
  NestSummary nest;
  nest.function = text(json, "function");
  nest.line = static_cast<int>(number(json, "line"));
  nest.served = boolean(json, "served");
  nest.why = text(json, "why");
  nest.target = text(json, "target");
  nest.threads = static_cast<int>(number(json, "threads"));
  for (const Json& unit : objects(json, "units")) {
    for (const Json& candidate : objects(unit, "candidates")) {
      if (!boolean(candidate, "used")) continue;
      nest.used.push_back({text(candidate, "name"), text(candidate, "recipe"), number(candidate, "distance"),
                           text(candidate, "hardware")});
    }
    const auto steps = unit.find("steps");
    if (steps == unit.end() || !steps->is_array()) continue;
    nest.applied_steps += static_cast<int>(std::count_if(steps->begin(), steps->end(), [](const Json& step) {
      return step.is_string() && step.get<string>().find(": applied") != string::npos;
    }));
  }
  return nest;
}

}  // namespace

int LauncherReport::served() const {
  return static_cast<int>(std::count_if(nests.begin(), nests.end(), [](const NestSummary& n) { return n.served; }));
}

Result<LauncherReport> parse_report(std::string_view json) {
  TRY(const Json document, tuning_db::parse_json(json, "bench.report"));
  if (!document.is_object() || !document.contains("nests") || !document["nests"].is_array()) {
    return fail("bench.report", "the launcher's report has no list of nests");
  }
  LauncherReport report;
  for (const Json& nest : objects(document, "nests")) report.nests.push_back(nest_of(nest));
  for (const Json& reason : objects(document, "reasons")) {
    report.reasons.push_back(text(reason, "function") + ": " + text(reason, "why") + " [" + text(reason, "code") + "]");
  }
  if (const auto phases = document.find("phases"); phases != document.end() && phases->is_object()) {
    for (const auto& [name, seconds] : phases->items()) {
      if (seconds.is_number()) report.phases.emplace_back(name, seconds.get<double>());
    }
  }
  return report;
}

}  // namespace sous::benchmarks
