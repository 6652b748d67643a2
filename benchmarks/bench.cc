#include "benchmarks/bench.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>

#include "benchmarks/harness.h"
#include "benchmarks/table.h"
#include "client/command_line.h"
#include "client/options.h"
#include "client/process.h"
#include "tuning-db/hardware.h"

namespace sous::benchmarks {
namespace {

using std::string;

struct Command {
  std::string_view name, help;
  Result<int> (*run)(const Options&);
};
constexpr auto commands = std::to_array<Command>({
    {"polybench", "the suite of that name (or a suite file, *.json), built by each compiler, run in turns",
     [](const Options& options) { return bench_suite("polybench", options); }},
    {"demo", "eight programs with clang-19 alone and through Sous, with the recipes that were used", bench_demo},
    {"verify", "every program through Sous, bit for bit against clang-19, with every target and recipe", bench_verify},
    {"compile-time", "what Sous adds to each compile, by phase", bench_compile_time},
    {"asm", "KERNEL or FILE.c: its hot loops as built through Sous, with counts", bench_asm},
});

Result<int> dispatch(const Options& options) {
  if (options.words.empty()) {
    std::fputs(bench_help().c_str(), stdout);
    return 0;
  }
  const string& name = options.words[0];
  if (name.ends_with(".json")) return bench_suite(name, options);
  const auto found = std::find_if(commands.begin(), commands.end(), [&](const Command& c) { return c.name == name; });
  if (found != commands.end()) return found->run(options);
  Words known;
  for (const Command& command : commands) known.emplace_back(command.name);
  return fail("cli.unknown-command", "sous bench has no command " + name + client::did_you_mean(name, known));
}

}  // namespace

string bench_help() {
  string out = "sous bench COMMAND [options]\n\n";
  for (const Command& command : commands) {
    string left = "  " + string(command.name);
    left.resize(16, ' ');
    out += left + string(command.help) + "\n";
  }
  return out + "\n" + options_help();
}

Result<int> bench_suite(const string& name, const Options& options) {
  TRY(const Suite suite, read_suite(name));
  TRY(const auto programs, select(suite, options.kernels));
  Plan plan;
  TRY(plan.cases, cases(suite, programs, options.sizes.empty() ? Words{"LARGE"} : options.sizes, options.types));
  TRY(plan.compilers, parse_compilers(options.compilers));
  plan.flags = client::split_words(options.flags);
  plan.reference_flags = client::split_words(options.reference);
  plan.reference = options.check;
  plan.runs = options.runs;
  plan.threads = options.threads;
  TRY(const auto folder, client::TemporaryFolder::make());
  std::ofstream lines;
  if (!options.out.empty()) {
    lines.open(options.out, std::ios::app);
    if (!lines) return fail("bench.out", "cannot be written", options.out);
  }
  const auto hardware = tuning_db::local_hardware();
  std::vector<CaseResult> results;
  bool good = true;
  {
    Progress progress(plan.cases.size());
    for (const Case& test : plan.cases) {
      auto result = measure(suite, test, plan, folder.path(), progress);
      progress.step();
      if (!result) {
        progress.line(test.label() + ": " + result.error().to_string());
        good = false;
        continue;
      }
      for (const auto& m : result->measurements) {
        if (m.error) progress.line(test.label() + ", " + m.compiler + ": " + m.error->to_string());
        good &= is_right(m, suite.types.at(test.type).element);
        // Line by line, so that what was measured is kept whatever comes.
        if (lines.is_open()) lines << to_json_line(suite, plan, *result, m, hardware) << "\n" << std::flush;
      }
      results.push_back(std::move(*result));
    }
  }
  if (lines.is_open() && !lines) return fail("bench.out", "cannot be written", options.out);
  const string& baseline = plan.compilers[0].name;
  std::printf("%s on %s, %s; medians of %d, ± half the interquartile range\n%s", suite.name.c_str(),
              hardware.model.c_str(), tuning_db::hardware_class(hardware).c_str(), plan.runs,
              summary_table(suite, plan, results, baseline).c_str());
  return good ? 0 : 1;
}

int bench_main(const std::vector<string>& arguments) {
  const auto options = parse_options(arguments);
  const Result<int> status = options ? dispatch(*options) : std::unexpected(options.error());
  if (status) return *status;
  std::fprintf(stderr, "sous: %s\n", status.error().to_string().c_str());
  const auto& code = status.error().code;
  return code.starts_with("cli.") || code.starts_with("suite.") || code == "bench.compiler" ? 2 : 1;
}

}  // namespace sous::benchmarks
