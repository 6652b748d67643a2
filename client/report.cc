#include "client/report.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <tuple>

namespace sous::client {
namespace {

using nlohmann::json;
using std::string;

[[gnu::format(printf, 1, 2)]] string format(const char* pattern, ...) {
  va_list list, again;
  va_start(list, pattern);
  va_copy(again, list);
  string out(static_cast<std::size_t>(std::vsnprintf(nullptr, 0, pattern, list)), ' ');
  std::vsnprintf(out.data(), out.size() + 1, pattern, again);
  va_end(again);
  va_end(list);
  return out;
}

string head_of(const CandidateReport& c) {
  const auto& m = c.match;
  string line = "    " + string(c.used ? "used     " : "not used ") + m.name + " (" + string(to_string(m.origin)) + ")";
  line += format(", distance %.3g", m.distance);
  if (m.evidence.tuned_seconds > 0)
    line += (m.origin == transforms::Origin::Strategy ? ", predicted " : ", measured ") + speed(m.evidence.ratio());
  return line;
}

string text_of(const CandidateReport& c) {
  const auto& m = c.match;
  string line = head_of(c);
  line += ": " + transforms::to_text(m.recipe);
  if (!c.used) line += "\n             " + c.why_not;
  return line + "\n";
}

json json_of(const CandidateReport& c) {
  return {{"source", to_string(c.match.origin)},
          {"name", c.match.name},
          {"id", c.match.id},
          {"distance", c.match.distance},
          {"ratio", c.match.evidence.ratio()},
          {"threads", c.match.evidence.threads},
          {"hardware", c.match.evidence.hardware},
          {"size_class", c.match.evidence.size_class},
          {"recipe", transforms::to_text(c.match.recipe)},
          {"used", c.used},
          {"why_not", c.why_not}};
}

}  // namespace

string place_of(const NestReport& nest) { return nest.file.substr(nest.file.rfind('/') + 1) + ": " + nest.function; }

string speed(double ratio) { return format("%.2f times as fast", ratio); }

bool nearer(const CandidateReport* a, const CandidateReport* b) {
  return std::tie(a->match.distance, a->match.name, a->match.id) <
         std::tie(b->match.distance, b->match.name, b->match.id);
}

std::vector<const CandidateReport*> nearest_unused(const UnitReport& unit, std::size_t most) {
  std::vector<const CandidateReport*> out;
  for (const auto& candidate : unit.candidates) {
    if (!candidate.used) out.push_back(&candidate);
  }
  std::ranges::sort(out, nearer);
  if (out.size() > most) out.resize(most);
  return out;
}

// Units are left unasked where the whole, which stands first, is served, or where hardly any of the nest's work is.
string why_without_candidates(const NestReport& nest, const UnitReport& unit) {
  if (unit.asked) return "no recipe known for anything near it";
  const bool whole = std::ranges::any_of(nest.units.front().candidates, &CandidateReport::used);
  return whole ? "not asked for: the whole has a recipe" : "not asked for: hardly any of the work is here";
}

string to_text(const Report& report, std::optional<std::size_t> most_unused) {
  string out;
  for (const auto& nest : report.nests) {
    out += format("%s:%d: %s, lines %d to %d: ", nest.file.c_str(), nest.line, nest.function.c_str(), nest.line,
                  nest.end_line);
    out += string(nest.served ? "served" : "left as it is") + ": " + nest.why + "\n";
    string names;
    for (const auto& name : nest.dead) names += (names.empty() ? "" : ", ") + name;
    if (!names.empty()) out += "  not needed afterwards: what is in " + names + "\n";
    for (const auto& why : nest.unfollowed) out += "  but " + why + "\n";
    for (const auto& unit : nest.units) {
      if (most_unused && !unit.asked) continue;
      out += "  " + unit.label + ", hash " + unit.structural_hash + ", size " + unit.size_class + "\n";
      if (unit.candidates.empty()) {
        out += "    " + why_without_candidates(nest, unit) + "\n";
      }
      for (const auto& candidate : unit.candidates) {
        if (candidate.used || !most_unused) out += text_of(candidate);
      }
      const auto unused = nearest_unused(unit, most_unused.value_or(0));
      for (const auto* candidate : unused) out += head_of(*candidate) + ": " + candidate->why_not + "\n";
      for (const auto& step : unit.steps) {
        if (!most_unused || !step.ends_with(": applied")) out += "      " + step + "\n";
      }
    }
  }
  for (const auto& r : report.reasons) {
    out += format("%s:%d:%d: ", report.file.c_str(), r.line, r.column) + r.function + ": not lifted: " + r.why + " [" +
           r.code + "]\n";
  }
  if (report.nests.empty()) out += report.file + ": no loop nest found\n";
  for (const auto& note : report.notes) out += report.file + ": " + note + "\n";
  string times;
  for (const auto& [phase, seconds] : report.phases) {
    times += (times.empty() ? "" : ", ") + phase + format(" %.1f ms", seconds * 1e3);
  }
  if (!times.empty() && !most_unused) out += report.file + ": " + times + "\n";
  return out;
}

string to_json(const Report& report) {
  json nests = json::array();
  for (const auto& nest : report.nests) {
    json units = json::array();
    for (const auto& unit : nest.units) {
      json candidates = json::array();
      for (const auto& candidate : unit.candidates) candidates.push_back(json_of(candidate));
      units.push_back({{"label", unit.label},
                       {"hash", unit.structural_hash},
                       {"size_class", unit.size_class},
                       {"work", unit.work},
                       {"candidates", candidates},
                       {"steps", unit.steps}});
    }
    nests.push_back({{"file", nest.file},
                     {"function", nest.function},
                     {"line", nest.line},
                     {"end_line", nest.end_line},
                     {"served", nest.served},
                     {"why", nest.why},
                     {"generated", nest.generated},
                     {"target", nest.target},
                     {"expected_ratio", nest.expected_ratio},
                     {"min_work", nest.min_work},
                     {"threads", nest.threads},
                     {"work", nest.work},
                     {"sizes_known", nest.sizes_known},
                     {"unfollowed", nest.unfollowed},
                     {"dead", nest.dead},
                     {"units", units},
                     {"normal_form", nest.normal_form}});
  }
  json reasons = json::array();
  for (const auto& r : report.reasons) {
    reasons.push_back(
        {{"code", r.code}, {"why", r.why}, {"function", r.function}, {"line", r.line}, {"column", r.column}});
  }
  json phases = json::object();
  for (const auto& [phase, seconds] : report.phases) phases[phase] = seconds;
  return json{{"file", report.file},   {"functions_with_loops", report.functions_with_loops},
              {"nests", nests},        {"reasons", reasons},
              {"notes", report.notes}, {"phases", phases}}
             .dump(1, ' ', false, json::error_handler_t::replace) +
         "\n";
}

}  // namespace sous::client
