#include "benchmarks/transfer.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <map>
#include <optional>

#include "benchmarks/bench.h"
#include "benchmarks/gains.h"
#include "benchmarks/seeds.h"
#include "benchmarks/statistics.h"
#include "benchmarks/table.h"
#include "transforms/strategies/strategy.h"
#include "tuning-db/belief.h"
#include "tuning-db/features.h"

namespace sous::benchmarks {
namespace {

using std::string;
using tuning_db::Entry;

double gain(const Entry& e) { return e.tuned_seconds > 0 ? e.baseline_seconds / e.tuned_seconds : 1; }

bool is_strategy(const string& name) {
  return std::ranges::any_of(transforms::strategies(), [&](const auto* s) { return s->name == name; });
}

Result<double> distance(const Entry& a, const Entry& b) {
  const auto embedding = tuning_db::static_embedding();
  TRY(const auto x, embedding->embed(a.nest, a.sizes));
  TRY(const auto y, embedding->embed(b.nest, b.sizes));
  double sum = 0;
  for (std::size_t k = 0; k < x.size(); ++k) sum += (x[k] - y[k]) * (x[k] - y[k]);
  return std::sqrt(sum);
}

// Of a choice for each nest: how many were served and slowed down, and the gain over all.
struct Choices {
  std::vector<double> served, all, of_best;

  void add(std::optional<double> found, double best) {
    if (found) served.push_back(*found);
    all.push_back(found.value_or(1));
    of_best.push_back(found.value_or(1) / best);
  }
  std::vector<string> row(const string& name) const {
    const auto lost = std::ranges::count_if(served, [](double g) { return g < slower; });
    return {name, std::to_string(served.size()), std::to_string(lost), fixed(geometric_mean(all), 2),
            fixed(geometric_mean(of_best), 2)};
  }
};

using Rule = std::function<std::optional<double>(const TriedNest&)>;

// As a build chooses: the nearest neighbour that promises enough.
Rule by_promise(double reach, bool other_families) {
  return [=](const TriedNest& nest) -> std::optional<double> {
    for (const Trial& t : nest.trials) {
      if ((other_families && t.same_family) || !t.complete || t.distance > reach) continue;
      if (tuning_db::promised(t.believed, t.distance, reach) >= tuning_db::least_promised(t.distance, reach))
        return t.found;
    }
    return std::nullopt;
  };
}

Rule nearest(bool other_families) {
  return [=](const TriedNest& nest) -> std::optional<double> {
    for (const Trial& t : nest.trials)
      if (!other_families || !t.same_family) return t.found;
    return std::nullopt;
  };
}

string by_distance(const std::vector<TriedNest>& nests, bool complete) {
  constexpr double edges[] = {0.5, 1, 1.5, 2, 3, 4, 6, 1e9};
  Table table({"distance", "recipes", "believed", "found", "of the best", "slower"}, "l");
  double from = 0;
  for (const double to : edges) {
    std::vector<double> believed, found, of_best;
    int lost = 0;
    for (const TriedNest& nest : nests) {
      for (const Trial& t : nest.trials) {
        if (t.complete != complete || t.distance < from || t.distance >= to) continue;
        believed.push_back(t.believed);
        found.push_back(t.found);
        of_best.push_back(t.found / nest.best);
        lost += t.found < slower ? 1 : 0;
      }
    }
    table.add({fixed(from, 1) + (to < 1e9 ? " to " + fixed(to, 1) : " and more"), std::to_string(found.size()),
               fixed(geometric_mean(believed), 2), fixed(geometric_mean(found), 2), fixed(geometric_mean(of_best), 2),
               std::to_string(lost)});
    from = to;
  }
  return table.to_string();
}

}  // namespace

Result<std::vector<TriedNest>> tried_nests(const std::vector<Entry>& samples, const std::vector<Entry>& seeds) {
  std::multimap<string, const Entry*> by_name;
  for (const Entry& seed : seeds) by_name.emplace(seed.name, &seed);
  // Smaller sizes follow, of what was found alone.
  std::map<string, std::vector<const Entry*>> groups;
  for (const Entry& sample : samples) {
    auto& group = groups[sample.name];
    if (group.empty() || group[0]->sizes == sample.sizes) group.push_back(&sample);
  }
  std::vector<TriedNest> result;
  for (const auto& [name, tried] : groups) {
    TriedNest nest{.name = name, .trials = {}};
    bool strategy = false;
    for (const Entry* sample : tried) {
      const string origin = origin_of(*sample);
      nest.best = std::max(nest.best, gain(*sample));
      if (is_strategy(origin) && !std::exchange(strategy, true)) nest.by_strategy = gain(*sample);
      // Of several measurements of the neighbour, the nearest one.
      std::optional<Trial> trial;
      for (auto [at, end] = by_name.equal_range(origin); at != end; ++at) {
        const Entry& there = *at->second;
        if (there.structural_hash == sample->structural_hash) continue;  // its own
        TRY(const double d, distance(*sample, there));
        if (trial && trial->distance <= d) continue;
        const auto belief = tuning_db::believe(tuning_db::evidence(there), tuning_db::hardware_class(sample->hardware));
        trial = Trial{origin,
                      d,
                      belief.ratio,
                      gain(*sample),
                      family_of(origin) == family_of(sample->name),
                      sample->recipe.steps.size() == there.recipe.steps.size()};
      }
      const bool known =
          trial && std::ranges::any_of(nest.trials, [&](const Trial& t) { return t.neighbour == origin; });
      if (trial && !known) nest.trials.push_back(std::move(*trial));
    }
    std::ranges::sort(nest.trials, {}, [](const Trial& t) { return std::pair(t.distance, t.neighbour); });
    result.push_back(std::move(nest));
  }
  return result;
}

string transfer_report(const std::vector<TriedNest>& nests, double reach) {
  const std::vector<std::pair<string, Rule>> rules{
      {"the original", [](const TriedNest&) { return std::nullopt; }},
      {"a strategy's first recipe", [](const TriedNest& n) { return std::optional(n.by_strategy); }},
      {"the nearest neighbour's", nearest(false)},
      {"the same, of another family", nearest(true)},
      {"as builds choose", by_promise(reach, false)},
      {"the same, of another family", by_promise(reach, true)},
      {"as builds choose, reaching twice as far", by_promise(2 * reach, false)},
      {"the best known", [](const TriedNest& n) { return std::optional(n.best); }}};
  Table table({"recipe", "served", "slower", "gain", "of the best"}, "l");
  for (const auto& [name, rule] : rules) {
    Choices choices;
    for (const TriedNest& nest : nests) choices.add(rule(nest), nest.best);
    table.add(choices.row(name));
  }
  return "Recipes of other nests that apply as a whole, by distance:\n\n" + by_distance(nests, true) +
         "\nThose of which steps are left out:\n\n" + by_distance(nests, false) + "\n" + std::to_string(nests.size()) +
         " nests, each with one recipe (geometric means over all of them, 1 for a nest that is not served):\n\n" +
         table.to_string();
}

Result<int> bench_transfer(const Options& options) {
  if (options.words.size() < 2) return fail("cli.value", "transfer takes files that sous tune --samples wrote");
  TRY(const auto files, seed_files(seed_folder(options.recipes)));
  TRY(const auto seeds, seed_entries(files));
  TRY(const auto samples, seed_entries({options.words.begin() + 1, options.words.end()}));
  TRY(const auto nests, tried_nests(samples, seeds));
  std::fputs(transfer_report(nests, tuning_db::static_embedding()->reach()).c_str(), stdout);
  return 0;
}

}  // namespace sous::benchmarks
