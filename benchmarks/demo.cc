// `sous bench demo`: eight programs, compiled by clang-19 alone and through Sous, run in turns on the same input.
#include <algorithm>
#include <cstdio>
#include <map>

#include "benchmarks/bench.h"
#include "benchmarks/harness.h"
#include "benchmarks/statistics.h"
#include "benchmarks/table.h"
#include "client/command_line.h"
#include "client/commands.h"
#include "client/process.h"
#include "tuning-db/build_isa.h"

namespace sous::benchmarks {
namespace {

using std::string;

constexpr double demo_tolerance = 1e-10;
constexpr double setup_minutes = 5;  // of the six that the demonstration may take beyond the build
// For the runs of one program beside the first: floyd-warshall takes ten seconds and more each time.
constexpr double seconds_for_one = 25;
constexpr double noise = 0.05;  // slower by less is not slower

// Of the timed nests that were served, the one with most steps stands for the program; the others are counted.
struct Used {
  string recipe = "–", neighbour = "–", distance = "–", threads = "–", measured = "–";
};

Used used_by(const Measurement& m, const string& kernel_prefix, const string& here) {
  Used out;
  if (!m.report) return out;
  const NestSummary* best = nullptr;
  int served = 0, threads = 0;
  for (const auto& nest : m.report->nests) {
    // Initialisation may be served too, but it is not what is timed.
    if (!nest.served || nest.used.empty() || !nest.function.starts_with(kernel_prefix)) continue;
    ++served;
    threads = std::max(threads, nest.threads);
    if (best == nullptr || nest.applied_steps > best->applied_steps) best = &nest;
  }
  if (best == nullptr) return out;
  const auto longest = std::max_element(best->used.begin(), best->used.end(),
                                        [](const auto& a, const auto& b) { return a.recipe.size() < b.recipe.size(); });
  out.recipe = longest->recipe + (served > 1 ? " (+" + std::to_string(served - 1) + " more)" : "");
  out.neighbour = longest->name;
  out.distance = fixed(longest->distance, 3);
  out.measured = longest->hardware == here ? "here" : "elsewhere";
  out.threads = std::to_string(std::max(1, threads));
  return out;
}

// Recipes are long; the table has their steps, the lines below it their parameters.
string step_names(const string& recipe) {
  string out;
  int depth = 0;
  for (char c : recipe) {
    if (c == '(' && depth++ == 0 && recipe.find(')') != string::npos) continue;
    if (c == ')' && --depth == 0) continue;
    if (depth == 0) out += c;
  }
  return out;
}

// Measures here what the database knows from other machines of these programs, if it is not known yet.
Result<void> set_up(const std::vector<Program>& programs, const Words& flags) {
  client::Invocation setup;
  TRY(setup.options, client::options_from_environment());
  setup.options.budget_minutes = setup_minutes;
  for (const Program& program : programs) setup.options.only += (setup.options.only.empty() ? "" : ",") + program.name;
  setup.after = {"clang-19"};
  setup.after.insert(setup.after.end(), flags.begin(), flags.end());
  TRY(const int status, client::command_setup(setup));
  if (status != 0) return fail("bench.stopped", "stopped while measuring the recipes; what was measured is kept");
  return {};
}

}  // namespace

Result<int> bench_demo(const Options& options) {
  TRY(const Suite suite, read_suite("polybench"));
  TRY(const auto programs, select(suite, options.kernels.empty() ? "demo" : options.kernels));
  Plan plan;
  TRY(plan.cases, cases(suite, programs, options.sizes.empty() ? Words{"LARGE"} : options.sizes, options.types));
  plan.compilers = {{"clang-19", {"clang-19"}}, sous_over_clang()};
  plan.flags = client::split_words(options.flags);
  plan.reference = false;  // both are compiled with the same flags: Sous's output is held against clang's
  plan.runs = options.runs;
  plan.threads = options.threads;
  plan.seconds = seconds_for_one;
  TRY(const auto folder, client::TemporaryFolder::make());
  const auto hardware = tuning_db::local_hardware();
  const auto as_built = tuning_db::as_built(hardware, plan.flags);
  TRY_VOID(set_up(programs, plan.flags));

  Table table({"kernel", "clang-19 s", "with Sous s", "ratio", "±", "difference", "recipe", "neighbour", "distance",
               "threads", "measured"},
              "lrrrrrllrrl");
  std::vector<double> ratios;
  std::vector<string> problems, recipes;
  int faster = 0;
  {
    Progress progress(plan.cases.size());
    for (const Case& test : plan.cases) {
      const auto result = measure(suite, test, plan, folder.path(), progress);
      progress.step();
      if (!result) return std::unexpected(result.error());
      const auto& base = result->measurements[0];
      const auto& ours = result->measurements[1];
      if (base.error) return std::unexpected(*base.error);
      if (ours.error) {
        problems.push_back(test.label() + ": " + ours.error->to_string());
        continue;
      }
      const double ratio = base.median_seconds() / ours.median_seconds();
      // Relative spreads of independent figures add in squares; their sum is the cautious bound.
      const double spread = base.spread() / base.median_seconds() + ours.spread() / ours.median_seconds();
      ratios.push_back(ratio);
      faster += ratio > 1 + noise ? 1 : 0;
      if (!(ours.check.difference < demo_tolerance)) {
        problems.push_back(test.label() + ": the outputs differ by " + scientific(ours.check.difference, 1));
      }
      if (ratio < 1 - noise - spread) problems.push_back(test.label() + ": slower with Sous");
      const Used used = used_by(ours, suite.kernel, tuning_db::hardware_class(as_built));
      recipes.push_back("  " + test.program.name + ": " + used.recipe);
      table.add({test.program.name, seconds_text(base.median_seconds()), seconds_text(ours.median_seconds()),
                 fixed(ratio, 2), fixed(100 * spread, 0) + "%",
                 ours.check.bit_equal ? "0" : scientific(ours.check.difference, 1), step_names(used.recipe),
                 used.neighbour, used.distance, used.threads, used.measured});
    }
  }
  std::printf("%s, %s; flags %s; medians of up to %d interleaved runs; double, floyd-warshall int\n\n%s\n",
              hardware.model.c_str(), tuning_db::hardware_class(hardware).c_str(), options.flags.c_str(), plan.runs,
              table.to_string().c_str());
  std::printf("%d of %zu faster (by more than %.0f %%), geometric mean of the ratios %.2f\nRecipes in full:\n", faster,
              ratios.size(), 100 * noise, geometric_mean(ratios));
  for (const auto& line : recipes) std::printf("%s\n", line.c_str());
  for (const auto& problem : problems) std::fprintf(stderr, "sous: %s\n", problem.c_str());
  return problems.empty() ? 0 : 1;
}

}  // namespace sous::benchmarks
