#include "benchmarks/bench.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "client/options.h"

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
    {"programs", "whole programs as people write them (--kernels judging or development: one half), against the best",
     [](const Options& options) { return bench_suite("programs", options); }},
    {"demo", "eight programs with clang-19 alone and through Sous, with the recipes that were used", bench_demo},
    {"verify", "every program through Sous, bit for bit against clang-19, with every target and recipe", bench_verify},
    {"compile-time", "what Sous adds to each compile, by phase", bench_compile_time},
    {"report", "FILE.jsonl…: the table of measurements that --out wrote; --json for programs that draw", bench_report},
    {"compare", "A B: what changed beyond noise between two files of measurements, or of kept ratios", bench_compare},
    {"keep", "FILE.jsonl…: their ratios into the file of this class of machines, for later comparisons", bench_keep},
    {"spellings", "the programs of polybench and their differently spelled versions: same recipes, same time?",
     bench_spellings},
    {"shapes", "each nest of the seeds at many shapes, as it was, behind its guard and without: is none slower?",
     bench_shapes},
    {"transfer", "SAMPLES.jsonl…: how far recipes of one nest serve another, by what sous tune --samples measured",
     bench_transfer},
    {"gains", "SAMPLES.jsonl… --out GAINS.jsonl: what the gain model is trained on", bench_gains},
    {"train", "GAINS.jsonl… [--out MODEL.json]: how well gains are predicted for families left out, and the model",
     bench_train},
    {"serve",
     "[URL]: how a server answers at --rate requests a second, over --entries synthetic entries (in a file, or there)",
     bench_serve},
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

int bench_main(const std::vector<string>& arguments) {
  if (std::ranges::find(arguments, "--help") != arguments.end() ||
      std::ranges::find(arguments, "-h") != arguments.end()) {
    std::fputs(bench_help().c_str(), stdout);
    return 0;
  }
  const auto options = parse_options(arguments);
  const Result<int> status = options ? dispatch(*options) : std::unexpected(options.error());
  if (status) return *status;
  std::fprintf(stderr, "sous: %s\n", status.error().to_string().c_str());
  const auto& code = status.error().code;
  return code.starts_with("cli.") || code.starts_with("suite.") || code.starts_with("compilers.") ||
                 code == "bench.compiler" || code == "bench.missing" || code == "bench.resume"
             ? 2
             : 1;
}

}  // namespace sous::benchmarks
