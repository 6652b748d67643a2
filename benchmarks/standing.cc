#include "benchmarks/standing.h"

#include <algorithm>

#include "benchmarks/table.h"

namespace sous::benchmarks {
namespace {

using std::string;

bool is_ours(const string& column) { return column.starts_with("sous"); }

bool counts(const Cell& cell) { return cell.line && cell.line->timed() && cell.line->right; }

string joined(const std::vector<string>& words) {
  string out;
  for (const auto& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

template <typename Wanted>
std::size_t number_of(const std::vector<Standing>& all, Wanted wanted) {
  return static_cast<std::size_t>(std::count_if(all.begin(), all.end(), wanted));
}

string mean_of(const std::vector<double>& ratios) {
  const Interval mean = geometric_mean_interval(ratios);
  return fixed(mean.value, 2) + " (" + fixed(mean.low, 2) + "–" + fixed(mean.high, 2) + ")";
}

// What the table says in sentences.
string verdict(const std::vector<Standing>& all, const string& column, const string& baseline) {
  std::vector<double> to_best, to_baseline;
  string slower, other;
  for (const Standing& s : all) {
    to_best.push_back(s.ratio.value);
    if (s.to_baseline) to_baseline.push_back(s.to_baseline->value);
    if (s.to_baseline && is_slower(*s.to_baseline)) slower += " " + s.program;
    if (!s.same_output) other += " " + s.program;
  }
  const auto faster = number_of(all, [](const Standing& s) { return is_faster(s.ratio); });
  string out =
      column + ": geometric mean " + mean_of(to_best) + " over the best of the others, " + mean_of(to_baseline) +
      " over " + baseline + "; faster than the best: " + std::to_string(faster) + " of " + std::to_string(all.size()) +
      "; served: " + std::to_string(number_of(all, [](const Standing& s) { return !s.functions.empty(); })) + "\n";
  out += column + ": slower than " + baseline + " by more than " + fixed(100 * slower_by, 0) +
         " % and the 95 % interval:" + (slower.empty() ? " none" : slower) + "\n";
  if (!other.empty()) out += column + ": prints other bytes than the first compiler's program:" + other + "\n";
  return out;
}

}  // namespace

bool is_faster(const Interval& ratio) { return ratio.low > 1; }
bool is_slower(const Interval& ratio) { return ratio.value < 1 / (1 + slower_by) && ratio.high < 1; }

std::vector<Standing> standings(const SuiteSummary& summary, const string& column) {
  std::vector<Standing> out;
  const auto at = [&](const string& compiler) {
    return static_cast<std::size_t>(std::ranges::find(summary.compilers, compiler) - summary.compilers.begin());
  };
  const std::size_t ours = at(column), base = at(summary.baseline);
  if (ours == summary.compilers.size()) return out;
  for (const Row& row : summary.rows) {
    if (!counts(row.cells[ours])) continue;
    const Line& line = *row.cells[ours].line;
    const Line* best = nullptr;
    for (std::size_t c = 0; c < row.cells.size(); ++c) {
      const Cell& cell = row.cells[c];
      if (is_ours(summary.compilers[c]) || !counts(cell) || cell.line->session != line.session) continue;
      if (best == nullptr || median(cell.line->runs) < median(best->runs)) best = &*cell.line;
    }
    if (best == nullptr || median(line.runs) <= 0 || median(best->runs) <= 0) continue;
    Standing standing{row.program,    best->compiler, median_ratio(best->runs, line.runs), row.cells[ours].ratio, {},
                      line.bit_equal, line.functions};
    const auto* baseline = base < row.cells.size() && row.cells[base].line ? &*row.cells[base].line : nullptr;
    if (baseline != nullptr && !baseline->user.empty() && !line.user.empty() && median(baseline->user) > 0) {
      standing.user = median(line.user) / median(baseline->user);
    }
    out.push_back(std::move(standing));
  }
  return out;
}

string against_the_best(const SuiteSummary& summary) {
  string out;
  for (const string& column : summary.compilers) {
    if (!is_ours(column)) continue;
    const auto all = standings(summary, column);
    if (std::none_of(all.begin(), all.end(), [](const Standing& s) { return s.user.has_value(); })) continue;
    Table table({"program", column + "/" + summary.baseline, "best other", column + "/best", "user time", "served"},
                "lrlrrl");
    for (const Standing& s : all) {
      table.add({s.program, s.to_baseline ? fixed(s.to_baseline->value, 2) : "–", s.best, fixed(s.ratio.value, 2),
                 s.user ? fixed(*s.user, 2) : "–", joined(s.functions)});
    }
    out += "\n" + table.to_string() + verdict(all, column, summary.baseline);
  }
  return out;
}

}  // namespace sous::benchmarks
