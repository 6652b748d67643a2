// `sous bench spellings`: programs of polybench beside the same computations spelled differently (arrays renamed, loops
// permuted, statements split, temporaries introduced, subscripts linearized). The outputs must be equal, and Sous
// should find the same recipes and reach the same time.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>

#include "benchmarks/bench.h"
#include "benchmarks/harness.h"
#include "benchmarks/interrupt.h"
#include "benchmarks/statistics.h"
#include "benchmarks/table.h"
#include "client/command_line.h"
#include "client/process.h"
#include "tuning-db/hardware.h"

namespace sous::benchmarks {
namespace {

using std::string;

constexpr double default_noise = 0.05;

// One of the two programs, built through Sous.
struct Spelling {
  const Suite* suite;
  Case test;
  string binary;
  std::set<string> recipes;  // as text: of the timed functions
  std::vector<double> seconds;
  string outputs;  // of an unoptimized build without Sous
};

Result<Spelling> make(const Suite& suite, const Case& test, const Options& options, const string& folder) {
  Spelling out{&suite, test, folder + "/" + suite.name + "." + test.program.name, {}, {}, {}};
  const Compiler plain{"reference", {"clang-19"}};
  TRY(const auto reference,
      build(suite, test, plain, client::split_words(options.reference), out.binary + ".reference"));
  TRY(auto ran, run_and_dump(suite, reference.binary, folder + "/outputs", {.timed = false}));
  out.outputs = std::move(ran.outputs);
  const string report_file = out.binary + ".report";
  TRY_VOID(
      build(suite, test, sous_over_clang({"--report=" + report_file}), client::split_words(options.flags), out.binary));
  TRY(const string text, client::read_file(report_file));
  TRY(const auto report, parse_report(text));
  for (const auto& nest : report.nests) {
    if (!nest.served || !nest.function.starts_with(suite.kernel)) continue;
    for (const auto& used : nest.used) out.recipes.insert(used.recipe);
  }
  return out;
}

Result<void> run_in_turns(Spelling& a, Spelling& b, const Options& options, Progress& progress) {
  for (int run = 0; run <= options.runs; ++run) {
    for (Spelling* spelling : {&a, &b}) {
      progress.say(spelling->suite->name + " " + spelling->test.label() + ", run " + std::to_string(run));
      TRY(const auto ran, run_program(*spelling->suite, spelling->binary, {.threads = options.threads}));
      if (run > 0) spelling->seconds.push_back(ran.seconds);  // the first is the warm-up
    }
  }
  return {};
}

}  // namespace

Result<int> bench_spellings(const Options& options) {
  TRY(const Suite originals, read_suite("polybench"));
  TRY(const Suite variants, read_suite("polybench-variants"));
  TRY(const auto programs, select(variants, options.kernels));
  TRY(const auto tests,
      cases(variants, programs, options.sizes.empty() ? Words{"LARGE"} : options.sizes, options.types));
  TRY(const auto folder, client::TemporaryFolder::make());
  const double noise = options.noise.value_or(default_noise);
  Table table({"program", "size", "type", "original s", "other s", "ratio", "95 % interval", "recipes", "outputs"},
              "lllrrrlll");
  int wrong = 0, other_recipes = 0, other_time = 0;
  {
    const InterruptGuard guard;
    Progress progress(tests.size());
    for (const Case& test : tests) {
      const Program* original = originals.find(test.program.name);
      if (original == nullptr) return fail("suite.name", "polybench has no program " + test.program.name);
      progress.say(test.label() + ": builds");
      auto a = make(originals, {*original, test.size, test.type}, options, folder.path());
      auto b = make(variants, test, options, folder.path());
      Result<void> done = !a ? std::unexpected(a.error()) : !b ? std::unexpected(b.error()) : Result<void>{};
      if (done) done = run_in_turns(*a, *b, options, progress);
      progress.step();
      if (stop_requested()) break;
      if (!done) {
        ++wrong;
        progress.line(test.label() + ": " + done.error().to_string());
        continue;
      }
      const Element element = originals.types.at(test.type).element;
      TRY(const auto outputs, compare_outputs(a->outputs, b->outputs, element));
      const bool right = outputs.difference <= tolerance(element);
      const Interval ratio = median_ratio(a->seconds, b->seconds);
      const bool same_time = std::abs(std::log(ratio.value)) <= std::log1p(noise);
      wrong += right ? 0 : 1;
      other_recipes += a->recipes == b->recipes ? 0 : 1;
      other_time += same_time ? 0 : 1;
      table.add({test.program.name, test.size, test.type, seconds_text(median(a->seconds)),
                 seconds_text(median(b->seconds)), fixed(ratio.value, 2) + (same_time ? "" : " !"),
                 fixed(ratio.low, 2) + "–" + fixed(ratio.high, 2),
                 a->recipes == b->recipes
                     ? (a->recipes.empty() ? "none" : "same")
                     : std::to_string(a->recipes.size()) + " and " + std::to_string(b->recipes.size()) + " !",
                 outputs.bit_equal ? "equal"
                 : right           ? scientific(outputs.difference, 0)
                                   : "WRONG"});
    }
  }
  std::printf("%s%zu programs: %d wrong, %d with other recipes, %d with a time that differs by over %.0f %%\n",
              table.to_string().c_str(), table.rows(), wrong, other_recipes, other_time, 100 * noise);
  return wrong + other_recipes + other_time == 0 ? 0 : 1;
}

}  // namespace sous::benchmarks
