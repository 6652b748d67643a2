#include "benchmarks/summary.h"

#include <algorithm>
#include <cmath>

#include "benchmarks/harness.h"
#include "benchmarks/table.h"
#include "tuning-db/json_reader.h"

namespace sous::benchmarks {
namespace {

using std::string;
using tuning_db::Json;

bool positive(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double v) { return v > 0; });
}

void relate(Cell& cell, const Line& base) {
  const Line& line = *cell.line;
  if (line.session != base.session || !base.timed() || !positive(base.runs)) return;
  if (line.error && line.limit_seconds > 0) cell.ratio_below = median(base.runs) / line.limit_seconds;
  if (line.timed() && line.right && positive(line.runs)) cell.ratio = median_ratio(base.runs, line.runs);
}

// As is_right does, for lines that were written without the yardstick's: what differs no more than plain clang's result
// of the same session is right.
void judge(Row& row, const std::vector<string>& compilers) {
  const auto at = std::ranges::find(compilers, yardstick) - compilers.begin();
  if (static_cast<std::size_t>(at) == compilers.size()) return;
  const auto own = row.cells[static_cast<std::size_t>(at)].line;
  if (!own || own->error || !std::isfinite(own->difference)) return;
  for (Cell& cell : row.cells) {
    if (!cell.line || cell.line->error || cell.line->session != own->session) continue;
    cell.line->right = cell.line->right || cell.line->difference <= own->difference;
  }
}

string percent(double value) { return fixed(100 * value, 0) + "%"; }

string seconds_cell(const Cell& cell) {
  if (!cell.line) return "–";
  const Line& line = *cell.line;
  if (line.error) return line.error->code;
  if (line.runs.empty()) return "–";
  return seconds_text(median(line.runs)) + " ±" + percent(half_iqr(line.runs) / median(line.runs));
}

string ratio_cell(const Cell& cell) {
  if (!cell.line) return "–";
  const Line& line = *cell.line;
  if (cell.ratio_below) return "<" + fixed(*cell.ratio_below, 2);
  if (line.error) return line.error->code;
  if (!line.right) return "WRONG " + scientific(line.difference, 0);
  if (!cell.ratio) return line.runs.empty() ? "–" : seconds_text(median(line.runs)) + " s";
  const bool fewer = static_cast<int>(line.runs.size()) < line.wanted_runs;
  return fixed(cell.ratio->value, 2) + " ±" + percent(half_iqr(line.runs) / median(line.runs)) + (fewer ? "*" : "");
}

Json interval_json(const Interval& interval) {
  return {{"value", interval.value}, {"low", interval.low}, {"high", interval.high}};
}

Json cell_json(const Cell& cell) {
  if (!cell.line) return nullptr;
  Json out = Json::parse(to_json_line(*cell.line), nullptr, false);
  if (cell.ratio) out["ratio"] = interval_json(*cell.ratio);
  if (cell.ratio_below) out["ratio_below"] = *cell.ratio_below;
  return out;
}

template <typename Values>
std::size_t index_of(Values& values, const string& value) {
  const auto found = std::find(values.begin(), values.end(), value);
  if (found != values.end()) return static_cast<std::size_t>(found - values.begin());
  values.push_back(value);
  return values.size() - 1;
}

}  // namespace

SuiteSummary summarize(const std::vector<Line>& lines, const string& baseline) {
  SuiteSummary out;
  out.baseline = baseline;
  if (baseline.empty() && !lines.empty()) out.baseline = lines[0].compiler;
  for (const Line& line : lines) index_of(out.compilers, line.compiler);
  for (const Line& line : lines) {
    if (out.suite.empty()) out.suite = line.suite;
    auto row = std::find_if(out.rows.begin(), out.rows.end(), [&](const Row& r) { return r.label() == line.label(); });
    if (row == out.rows.end()) {
      out.rows.push_back({line.program, line.size, line.type, std::vector<Cell>(out.compilers.size())});
      row = out.rows.end() - 1;
    }
    row->cells[index_of(out.compilers, line.compiler)].line = line;
  }
  const auto base = static_cast<std::size_t>(std::find(out.compilers.begin(), out.compilers.end(), out.baseline) -
                                             out.compilers.begin());
  std::vector<std::vector<double>> ratios(out.compilers.size());
  for (Row& row : out.rows) {
    judge(row, out.compilers);
    if (base == out.compilers.size() || !row.cells[base].line) continue;
    for (std::size_t c = 0; c < row.cells.size(); ++c) {
      if (c == base || !row.cells[c].line) continue;
      relate(row.cells[c], *row.cells[base].line);
      if (row.cells[c].ratio) ratios[c].push_back(row.cells[c].ratio->value);
    }
  }
  for (const auto& values : ratios) {
    out.means.push_back(values.empty() ? std::nullopt : std::optional(geometric_mean_interval(values)));
  }
  return out;
}

string to_table(const SuiteSummary& summary) {
  std::vector<string> head{"program", "size", "type", summary.baseline + " s"};
  for (const auto& compiler : summary.compilers) {
    if (compiler != summary.baseline) head.push_back(compiler);
  }
  Table table(head, "lll");
  bool fewer = false;
  std::vector<double> worst(summary.compilers.size(), 0);
  for (const Row& row : summary.rows) {
    std::vector<string> cells{row.program, row.size, row.type, "–"};
    for (std::size_t c = 0; c < summary.compilers.size(); ++c) {
      const Cell& cell = row.cells[c];
      if (summary.compilers[c] == summary.baseline) {
        cells[3] = seconds_cell(cell);
      } else {
        cells.push_back(ratio_cell(cell));
      }
      if (!cell.line || cell.line->error) continue;
      fewer |= static_cast<int>(cell.line->runs.size()) < cell.line->wanted_runs;
      if (cell.line->right) worst[c] = std::max(worst[c], cell.line->difference);
    }
    table.add(std::move(cells));
  }
  std::vector<string> means{"geometric mean", "", "", ""}, intervals{"95 % interval", "", "", ""},
      programs{"programs", "", "", std::to_string(summary.rows.size())}, differences{"largest difference", "", "", ""};
  for (std::size_t c = 0; c < summary.compilers.size(); ++c) {
    if (summary.compilers[c] == summary.baseline) {
      differences[3] = scientific(worst[c], 0);
      continue;
    }
    const auto& mean = summary.means[c];
    means.push_back(mean ? fixed(mean->value, 2) : "–");
    intervals.push_back(mean ? fixed(mean->low, 2) + "–" + fixed(mean->high, 2) : "–");
    programs.push_back(std::to_string(std::count_if(summary.rows.begin(), summary.rows.end(),
                                                    [&](const Row& row) { return row.cells[c].ratio.has_value(); })));
    differences.push_back(scientific(worst[c], 0));
  }
  for (auto* row : {&means, &intervals, &programs, &differences}) table.add(std::move(*row));
  return table.to_string() + (fewer ? "* fewer runs than asked for, for want of time\n" : "");
}

string to_json(const SuiteSummary& summary) {
  Json out{{"suite", summary.suite}, {"baseline", summary.baseline}, {"compilers", summary.compilers}};
  out["rows"] = Json::array();
  for (const Row& row : summary.rows) {
    Json cells = Json::array();
    for (const Cell& cell : row.cells) cells.push_back(cell_json(cell));
    out["rows"].push_back({{"program", row.program}, {"size", row.size}, {"type", row.type}, {"cells", cells}});
  }
  out["means"] = Json::array();
  for (const auto& mean : summary.means) out["means"].push_back(mean ? interval_json(*mean) : Json(nullptr));
  return tuning_db::dump(out);
}

}  // namespace sous::benchmarks
