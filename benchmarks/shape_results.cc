#include "benchmarks/shape_results.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "benchmarks/statistics.h"
#include "benchmarks/table.h"
#include "tuning-db/belief.h"
#include "tuning-db/evidence.h"
#include "tuning-db/json_reader.h"
#include "tuning-db/shape.h"
#include "tuning-db/size_class.h"

namespace sous::benchmarks {
namespace {

using std::string;
using tuning_db::ObjectReader;

// Contraction and the order of a tile's sums move results by as much.
constexpr double most_different = 1e-2;
// Where rounding is magnified, contraction alone is one sample of what it comes to; another order is another one.
constexpr double samples_apart = 8;
constexpr std::size_t worst_shown = 25;
// Seconds that an entry takes to leave a call to the original: a call, a few comparisons and products.
constexpr double entry_check = 10e-9;
// A threshold holds on machines that it was not measured on: what gains less here may lose there.
constexpr double clear_gain = 1.2;
// The same nest may stand in another order in a program, in one that is better for a thin shape than the normal form
// that was measured: a product with one row or column as dot products (benchmarks/shapes has some). So no loop's
// threshold is below this, and the work has a margin.
constexpr std::int64_t thin = 32;
constexpr double work_margin = 2;
// Of a program's shapes: a few may fail for want of memory or time.
constexpr double measured_enough = 0.95;

string time_text(double seconds) { return seconds < 1e-3 ? fixed(seconds * 1e6, 3) + " us" : seconds_text(seconds); }

string text_of(const std::map<string, std::int64_t>& shape) {
  string out;
  for (const auto& [symbol, value] : shape) out += (out.empty() ? "" : " ") + symbol + "=" + std::to_string(value);
  return out;
}

Result<ShapeResult> parsed(const tuning_db::Json& json, const string& where) {
  TRY(auto in, ObjectReader::of(json, "bench.results", where));
  ShapeResult r;
  TRY(r.nest, in.line("nest", 512));
  TRY(r.entry, in.line("entry", 64));
  TRY(const auto threads, in.integer("threads", 1, 4096));
  r.threads = static_cast<int>(threads);
  TRY(const auto least, in.integer("least_threads", 1, 1 << 16));
  r.least_threads = static_cast<int>(least);
  TRY(const auto shapes, in.integer("shapes", 0, 1'000'000));
  r.shapes = static_cast<std::size_t>(shapes);
  TRY(r.shape, in.integers("shape"));
  TRY(const auto path, in.integer("path", 0, 1));
  r.generated = path == 1;
  const auto get = [&](double& to, const char* key) -> Result<void> {
    TRY(to, in.number(key, 0, 1e9));
    return {};
  };
  TRY_VOID(get(r.difference, "difference"));
  if (in.has("own")) TRY_VOID(get(r.own, "own"));  // older results have none
  TRY_VOID(get(r.original, "original"));
  TRY_VOID(get(r.guarded, "guarded"));
  TRY_VOID(get(r.recipe, "recipe"));
  TRY_VOID(get(r.original_spread, "original_spread"));
  TRY_VOID(get(r.guarded_spread, "guarded_spread"));
  TRY_VOID(get(r.recipe_spread, "recipe_spread"));
  TRY_VOID(get(r.first_original, "first_original"));
  TRY_VOID(get(r.first_guarded, "first_guarded"));
  return r;
}

// One shape over all numbers of threads with which a build may use the recipe.
struct Outcome {
  std::map<string, std::int64_t> shape;
  double work = 0;
  bool gains = true;
};

std::vector<Outcome> outcomes_of(const tuning_db::Entry& entry, const std::vector<ShapeResult>& results) {
  const string id = tuning_db::entry_id(entry);
  std::map<std::map<string, std::int64_t>, Outcome> by_shape;
  std::size_t all = 1;
  for (const ShapeResult& r : results) {
    if (r.entry != id || r.threads < r.least_threads) continue;
    all = std::max(all, r.shapes);
    Outcome& outcome = by_shape[r.shape];
    outcome.shape = r.shape;
    outcome.work = tuning_db::work(entry.nest, r.shape).value_or(0);
    outcome.gains = outcome.gains && r.recipe_gains(clear_gain) && !r.is_wrong();
  }
  std::vector<Outcome> out;
  if (static_cast<double>(by_shape.size()) < measured_enough * static_cast<double>(all)) return out;
  for (auto& [shape, outcome] : by_shape) out.push_back(std::move(outcome));
  return out;
}

// With these extents at least: how many shapes gain once the work is so much that none loses, and that work.
struct Admitted {
  int gaining = 0;
  double work = 0;
};
Admitted admitted(const std::vector<Outcome>& outcomes, const std::map<string, std::int64_t>& least) {
  std::vector<std::pair<double, bool>> inside;
  for (const Outcome& o : outcomes) {
    const bool fits = std::ranges::all_of(o.shape, [&](const auto& s) { return s.second >= least.at(s.first); });
    if (fits) inside.emplace_back(o.work, o.gains);
  }
  std::ranges::sort(inside);
  Admitted result;
  for (std::size_t k = inside.size(); k-- > 0 && inside[k].second; ++result.gaining) result.work = inside[k].first;
  // Shapes of equal work, one of which loses.
  const auto losing = std::ranges::count_if(inside, [&](const auto& s) { return !s.second && s.first >= result.work; });
  return losing > 0 ? Admitted{} : result;
}

}  // namespace

bool ShapeResult::is_slower(double noise) const {
  return guarded * (1 - guarded_spread) > original * (1 + original_spread) * (1 + noise) + entry_check;
}

bool ShapeResult::recipe_gains(double times) const {
  return recipe * (1 + recipe_spread) * times < original * (1 - original_spread);
}

bool ShapeResult::is_wrong() const { return difference > std::max(most_different, samples_apart * own); }

Result<std::vector<ShapeResult>> shape_results(std::string_view text, const string& file) {
  std::vector<ShapeResult> out;
  for (int line = 1; !text.empty(); ++line) {
    const auto end = std::min(text.find('\n'), text.size());
    const std::string_view one = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (one.find_first_not_of(" \t\r") == one.npos) continue;
    const string where = file + ":" + std::to_string(line);
    const auto json = tuning_db::parse_json(one, "bench.results");
    if (!json) return fail("bench.results", json.error().why, where);
    TRY(auto result, parsed(*json, where));
    out.push_back(std::move(result));
  }
  return out;
}

ShapeSummary summarize(const std::vector<ShapeResult>& results, double noise) {
  ShapeSummary summary;
  std::vector<const ShapeResult*> slower;
  std::vector<double> gains;
  int generated = 0, missed = 0;
  double first_loss = 0;
  string wrong;
  for (const ShapeResult& r : results) {
    if (r.is_slower(noise)) slower.push_back(&r);
    if (r.generated) {
      ++generated;
      if (r.guarded > 0) gains.push_back(r.original / r.guarded);
      first_loss = std::max(first_loss, r.first_guarded - r.first_original);
    } else {
      missed += r.recipe_gains(tuning_db::least_gain) ? 1 : 0;
    }
    if (r.is_wrong()) {
      ++summary.wrong;
      wrong +=
          "sous: " + r.nest + " " + text_of(r.shape) + ": the results differ by " + scientific(r.difference, 1) + "\n";
    }
  }
  summary.slower = static_cast<int>(slower.size());
  std::ranges::sort(slower,
                    [](const auto* a, const auto* b) { return a->original * b->guarded < b->original * a->guarded; });
  Table table({"nest", "shape", "threads", "path", "original", "guarded", "ratio", "±", "recipe alone"}, "llrl");
  for (std::size_t k = 0; k < std::min(slower.size(), worst_shown); ++k) {
    const ShapeResult& r = *slower[k];
    table.add({r.nest, text_of(r.shape), std::to_string(r.threads), r.generated ? "generated" : "original",
               time_text(r.original), time_text(r.guarded), fixed(r.original / r.guarded, 2),
               fixed(100 * (r.original_spread + r.guarded_spread), 0) + "%", fixed(r.original / r.recipe, 2)});
  }
  summary.text = std::to_string(results.size()) + " shapes: " + std::to_string(generated) + " ran generated code (" +
                 fixed(geometric_mean(gains), 2) + " times as fast, geometric mean), the others the original; " +
                 std::to_string(missed) + " of those would have gained\n" + std::to_string(summary.slower) +
                 " slower than the original by more than " + fixed(100 * noise, 0) +
                 " % and the spread; the first call at most " + time_text(first_loss) + " slower\n" +
                 (slower.empty() ? "" : "\n" + table.to_string()) + wrong;
  return summary;
}

bool set_thresholds(tuning_db::Entry& entry, const std::vector<ShapeResult>& results) {
  const auto outcomes = outcomes_of(entry, results);
  if (outcomes.empty()) return false;
  std::map<string, std::set<std::int64_t>> values;
  for (const Outcome& o : outcomes) {
    for (const auto& [symbol, value] : o.shape) {
      const auto measured = entry.sizes.find(symbol);
      if (value >= (measured == entry.sizes.end() ? thin : std::min(thin, measured->second)))
        values[symbol].insert(value);
    }
  }
  std::vector<std::map<string, std::int64_t>> candidates{{}};
  for (const auto& [symbol, of_symbol] : values) {
    std::vector<std::map<string, std::int64_t>> longer;
    for (const auto& candidate : candidates)
      for (const std::int64_t value : of_symbol) {
        longer.push_back(candidate);
        longer.back()[symbol] = value;
      }
    candidates = std::move(longer);
  }
  Admitted best;
  const std::map<string, std::int64_t>* at = nullptr;
  for (const auto& candidate : candidates) {
    const Admitted here = admitted(outcomes, candidate);
    // Of equals the last, which has the longest loops: between the shapes that were measured it promises least.
    if (here.gaining == 0 || here.gaining < best.gaining) continue;
    best = here;
    at = &candidate;
  }
  if (at == nullptr) return false;
  entry.least_extents = tuning_db::extents(entry.nest, *at);
  const double measured = tuning_db::work(entry.nest, entry.sizes).value_or(work_margin * best.work);
  entry.least_work = std::min(work_margin * best.work, measured);
  return true;
}

}  // namespace sous::benchmarks
