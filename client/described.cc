#include "client/described.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "client/promise.h"
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

}  // namespace

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
