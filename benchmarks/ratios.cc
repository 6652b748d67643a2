#include "benchmarks/ratios.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "client/process.h"
#include "tuning-db/hardware.h"
#include "tuning-db/json_reader.h"

namespace sous::benchmarks {
namespace {

using std::string;
using std::string_view;
using tuning_db::Json;
using tuning_db::ObjectReader;

auto key(const Ratio& r) { return std::tie(r.suite, r.program, r.size, r.type, r.compiler, r.baseline); }

Result<Ratio> parse_ratio(string_view text) {
  constexpr double largest = 1e9;
  TRY(const Json json, tuning_db::parse_json(text, "results", {.bytes = 64 << 10, .depth = 8}));
  TRY(auto in, ObjectReader::of(json, "results", ""));
  Ratio out;
  TRY(out.suite, in.string("suite"));
  TRY(out.program, in.string("program"));
  TRY(out.size, in.string("size"));
  TRY(out.type, in.string("type"));
  TRY(out.compiler, in.string("compiler"));
  TRY(out.baseline, in.string("baseline"));
  TRY(out.machine, in.string("class"));
  TRY(out.date, in.string("date"));
  out.right = json.contains("ratio");
  if (out.right) {
    TRY(out.ratio.value, in.number("ratio", 0, largest));
    TRY(out.ratio.low, in.number("low", 0, largest));
    TRY(out.ratio.high, in.number("high", 0, largest));
    if (out.ratio.value <= 0) return in.refuse("a ratio is above 0");
  }
  TRY_VOID(in.done());
  return out;
}

Change change_between(const Ratio& before, const Ratio& after, double noise) {
  if (before.right != after.right) return after.right ? Change::NowRight : Change::NowWrong;
  if (!before.right) return Change::None;
  const double factor = after.ratio.value / before.ratio.value;
  if (factor > 1 + noise && after.ratio.low > before.ratio.high) return Change::Faster;
  if (factor < 1 / (1 + noise) && after.ratio.high < before.ratio.low) return Change::Slower;
  return Change::None;
}

}  // namespace

std::vector<Ratio> ratios_of(const SuiteSummary& summary) {
  std::vector<Ratio> out;
  for (const Row& row : summary.rows) {
    for (std::size_t c = 0; c < row.cells.size(); ++c) {
      const Cell& cell = row.cells[c];
      if (!cell.line || summary.compilers[c] == summary.baseline) continue;
      const bool failed = cell.line->error.has_value() || !cell.line->right;
      if (!cell.ratio && !failed) continue;
      out.push_back({summary.suite, row.program, row.size, row.type, summary.compilers[c], summary.baseline,
                     tuning_db::hardware_class(cell.line->machine), cell.line->date, cell.ratio.value_or(Interval{}),
                     !failed});
    }
  }
  return out;
}

string to_json_lines(std::vector<Ratio> ratios) {
  std::sort(ratios.begin(), ratios.end(), [](const Ratio& a, const Ratio& b) { return key(a) < key(b); });
  string out;
  for (const Ratio& r : ratios) {
    Json line{{"suite", r.suite},       {"program", r.program},   {"size", r.size},     {"type", r.type},
              {"compiler", r.compiler}, {"baseline", r.baseline}, {"class", r.machine}, {"date", r.date}};
    if (r.right) {
      line["ratio"] = r.ratio.value;
      line["low"] = r.ratio.low;
      line["high"] = r.ratio.high;
    }
    out += tuning_db::dump(line) + "\n";
  }
  return out;
}

Result<std::vector<Ratio>> parse_ratios(string_view text) {
  std::vector<Ratio> out;
  for (int number = 1; !text.empty(); ++number) {
    const auto end = text.find('\n');
    const string_view one = text.substr(0, end);
    text = end == string_view::npos ? string_view{} : text.substr(end + 1);
    if (one.find_first_not_of(" \t\r") == string_view::npos) continue;
    auto ratio = parse_ratio(one);
    if (!ratio) return fail(ratio.error().code, ratio.error().why, "line " + std::to_string(number));
    out.push_back(std::move(*ratio));
  }
  return out;
}

Result<std::vector<Ratio>> read_ratios(const string& path, const string& baseline) {
  TRY(const string text, client::read_file(path));
  const string_view first = string_view(text).substr(0, text.find('\n'));
  // A measurement says in which session it was taken; a kept ratio is of none.
  const Json json = Json::parse(first, nullptr, false);
  const bool measurements = json.is_object() && json.contains("session");
  if (measurements) {
    auto lines = parse_lines(text);
    if (!lines) return fail(lines.error().code, lines.error().why, path + ": " + lines.error().where);
    return ratios_of(summarize(*lines, baseline));
  }
  auto ratios = parse_ratios(text);
  if (!ratios) return fail(ratios.error().code, ratios.error().why, path + ": " + ratios.error().where);
  return ratios;
}

std::vector<Ratio> merged(const std::vector<Ratio>& kept, const std::vector<Ratio>& fresh) {
  std::vector<Ratio> out = fresh;
  for (const Ratio& old : kept) {
    const bool replaced = std::any_of(fresh.begin(), fresh.end(), [&](const Ratio& r) { return key(r) == key(old); });
    if (!replaced) out.push_back(old);
  }
  return out;
}

std::vector<Difference> differences(const std::vector<Ratio>& before, const std::vector<Ratio>& after, double noise) {
  std::vector<Difference> out;
  const auto find = [](const std::vector<Ratio>& in, const Ratio& like) {
    return std::find_if(in.begin(), in.end(), [&](const Ratio& r) { return key(r) == key(like); });
  };
  for (const Ratio& b : before) {
    const auto a = find(after, b);
    if (a == after.end()) {
      out.push_back({b, {}, Change::Gone});
    } else {
      out.push_back({b, *a, change_between(b, *a, noise)});
    }
  }
  for (const Ratio& a : after) {
    if (find(before, a) == before.end()) out.push_back({{}, a, Change::Added});
  }
  return out;
}

}  // namespace sous::benchmarks
