#include "client/described.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "client/promise.h"
#include "sdfg/inspection.h"
#include "sdfg/unknown_extent.h"
#include "tuning-db/shape.h"
#include "tuning-db/size_class.h"

namespace sous::client {

using std::string;
using transforms::Match;

namespace {

string fixed(double value, const char* pattern = "%.2f") {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, pattern, value);
  return buffer;
}

// What one thread has to gain where the entry looks at as much data as the nest does: that took a third of the time of
// a product with a matrix of sparse rows (Emerald Rapids).
constexpr double more_than_a_look = 1.6;

bool looks_at_all_data(const sdfg::Sdfg& nest) {
  return std::ranges::any_of(nest.disjoint, [&](const auto& pair) {
    return std::ranges::any_of(std::array{pair.first, pair.second}, [&](const string& name) {
      const sdfg::Container* c = nest.find(name);
      if (c == nullptr || !sdfg::ends_by_data(*c)) return false;
      const auto reaches = sdfg::reaches(nest, name);
      return reaches && sdfg::meets_each_once(*reaches);
    });
  });
}

}  // namespace

void set_aside(UnitReport& report, const string& why) {
  for (CandidateReport& candidate : report.candidates) {
    if (!candidate.used) continue;
    candidate.used = false;
    candidate.why_not = why;
  }
  report.steps.clear();
}

void describe(Chosen& chosen, const PreparedNest& nest) {
  chosen.expected_ratio = 0;
  for (const auto& choice : chosen.choices) {
    const auto& e = choice.match.evidence;
    const double ratio = choice.match.believed;
    chosen.expected_ratio = chosen.expected_ratio == 0 ? ratio : std::min(chosen.expected_ratio, ratio);
    chosen.threads = std::max(chosen.threads, e.threads);
    chosen.least_threads = std::max(chosen.least_threads, tuning_db::least_threads(e));
    const Unit& unit = nest.unit(choice.unit);
    if (!sizes_known(unit)) {
      const auto first = nest.form_of(unit).root.nodes.begin();
      sdfg::Region original;
      original.nodes.assign(first + static_cast<std::ptrdiff_t>(unit.first),
                            first + static_cast<std::ptrdiff_t>(unit.last));
      chosen.guards.push_back(guard_of(unit.nest, std::move(original), choice.match));
    }
    if (!chosen.why.empty()) chosen.why += "; ";
    chosen.why += unit.label + " by " + choice.match.name + " (" + string(to_string(choice.match.origin)) +
                  ", distance " + fixed(choice.match.distance, "%.3g") + ", " +
                  (choice.match.belief.empty() ? "measured " + speed(ratio) : choice.match.belief) + ")";
  }
  if (!looks_at_all_data(nest.lifted->sdfg)) return;
  if (chosen.threads > 1) {
    chosen.least_threads = std::max(chosen.least_threads, 2);
  } else if (!chosen.choices.empty() && chosen.expected_ratio < more_than_a_look) {
    const string why = "too little is gained for looking at data ahead, which say how far pointers go that may overlap";
    for (UnitReport& report : chosen.units) set_aside(report, why);
    Chosen none;
    none.units = std::move(chosen.units);
    none.why = why;
    chosen = std::move(none);
  }
}

int threads_to_beat(const Match& threads, const Match& alone, int cores) {
  const int most = std::min(threads.evidence.threads, cores);
  if (!(threads.believed > 0)) return 1;
  return std::clamp(static_cast<int>(std::ceil(most * alone.believed / threads.believed)), 1, std::max(1, most));
}

UnitReport unit_report(const Unit& unit) {
  UnitReport report;
  report.label = unit.label;
  report.structural_hash = unit.structural_hash;
  report.size_class = size_class_of(unit);
  report.work = unit_work(unit);
  return report;
}

std::vector<UnitReport> unit_reports(const PreparedNest& nest) {
  std::vector<UnitReport> reports;
  for (const Unit& unit : nest.units) reports.push_back(unit_report(unit));
  return reports;
}

}  // namespace sous::client
