// `sous bench compile-time`: what Sous adds to each compile, by phase.
#include <algorithm>
#include <array>
#include <cstdio>
#include <map>

#include "benchmarks/bench.h"
#include "benchmarks/build.h"
#include "benchmarks/launcher_report.h"
#include "benchmarks/progress.h"
#include "benchmarks/statistics.h"
#include "benchmarks/table.h"
#include "client/command_line.h"
#include "client/process.h"

namespace sous::benchmarks {
namespace {

using std::string;

// The launcher's phases in the order in which they happen (its report is sorted by name). The first and the last are
// the compiler's own work; a phase that is not here comes behind.
constexpr std::array<std::string_view, 7> known_phases{"preprocess", "lift", "normalize", "query",
                                                       "apply",      "emit", "compile"};
bool is_the_compilers(const string& phase) { return phase == "preprocess" || phase == "compile"; }

struct Times {
  string program;
  std::vector<double> alone, with;
  std::map<string, std::vector<double>> phases;
};

}  // namespace

Result<int> bench_compile_time(const Options& options) {
  TRY(const Suite suite, read_suite("polybench"));
  TRY(const auto programs, select(suite, options.kernels));
  TRY(const auto tests, cases(suite, programs, options.sizes.empty() ? Words{"LARGE"} : options.sizes, options.types));
  const Words flags = client::split_words(options.flags);
  TRY(const auto folder, client::TemporaryFolder::make());
  const string report_file = folder.file("report"), output = folder.file("program");

  std::vector<Times> all;
  std::vector<string> phase_order(known_phases.begin(), known_phases.end());
  {
    Progress progress(tests.size());
    for (const Case& test : tests) {
      Times times{test.program.name, {}, {}, {}};
      for (int run = 1; run <= options.runs; ++run) {
        progress.say(test.label() + ": compile " + std::to_string(run));
        TRY(const auto alone, build(suite, test, {"clang", {"clang-19"}}, flags, output));
        TRY(const auto with, build(suite, test, sous_over_clang({"--report=" + report_file}), flags, output));
        times.alone.push_back(alone.seconds);
        times.with.push_back(with.seconds);
        TRY(const auto text, client::read_file(report_file));
        TRY(const auto report, parse_report(text));
        for (const auto& [phase, seconds] : report.phases) {
          if (std::find(phase_order.begin(), phase_order.end(), phase) == phase_order.end()) {
            phase_order.push_back(phase);
          }
          times.phases[phase].push_back(seconds);
        }
      }
      progress.step();
      all.push_back(std::move(times));
    }
  }
  std::vector<string> head{"program", "clang ms", "with Sous ms", "added ms", "Sous itself ms"};
  for (const auto& phase : phase_order) head.push_back(phase);
  Table table(head);
  for (const auto& times : all) {
    const double alone = median(times.alone), with = median(times.with);
    std::vector<string> row{times.program, fixed(1e3 * alone, 0), fixed(1e3 * with, 0), fixed(1e3 * (with - alone), 0)};
    double own = 0;
    for (const auto& [phase, seconds] : times.phases) own += is_the_compilers(phase) ? 0 : median(seconds);
    row.push_back(fixed(1e3 * own, 0));
    for (const auto& phase : phase_order) {
      const auto found = times.phases.find(phase);
      row.push_back(found == times.phases.end() ? "" : fixed(1e3 * median(found->second), 1));
    }
    table.add(std::move(row));
  }
  std::printf(
      "Compile and link, flags %s; medians of %d in milliseconds. preprocess and compile are the compiler's "
      "own work.\n%s",
      options.flags.c_str(), options.runs, table.to_string().c_str());
  return 0;
}

}  // namespace sous::benchmarks
