// `sous bench SUITE`.
#include "benchmarks/session.h"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <iterator>
#include <optional>

#include "benchmarks/bench.h"
#include "benchmarks/interrupt.h"
#include "benchmarks/standing.h"
#include "benchmarks/summary.h"
#include "client/command_line.h"
#include "client/process.h"
#include "tuning-db/json_reader.h"

namespace sous::benchmarks {
namespace {

using std::string;
using tuning_db::Json;

string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char buffer[32];
  std::strftime(buffer, sizeof buffer, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return buffer;
}

// Appends lines to a file, each at once, so that what was measured is kept whatever comes.
class Writer {
 public:
  static Result<Writer> open(const string& path) {
    Writer out;
    out.path_ = path;
    if (path.empty()) return out;
    TRY_VOID(drop_half_line(path));
    out.stream_.open(path, std::ios::app);
    if (!out.stream_) return fail("bench.out", "cannot be written", path);
    return out;
  }
  Result<void> write(const Line& line) {
    if (path_.empty()) return {};
    stream_ << to_json_line(line) << "\n" << std::flush;
    if (!stream_) return fail("bench.out", "cannot be written", path_);
    return {};
  }

 private:
  string path_;
  std::ofstream stream_;
};

class Session {
 public:
  Session(const Suite& suite, const Plan& plan, const Options& options, Writer& writer, std::vector<Line>& lines)
      : suite_(suite),
        plan_(plan),
        options_(options),
        writer_(writer),
        lines_(lines),
        hardware_(tuning_db::describe()) {
    facts_.session = utc_now();
    for (const auto& compiler : plan.compilers) facts_.identities.push_back(identity(compiler));
  }

  // Returns whether every result was right. Errors: bench.out, client.write.
  Result<bool> run(const std::vector<Case>& cases) {
    TRY(const auto folder, client::TemporaryFolder::make());
    Progress progress(cases.size());
    if (options_.budget > 0) {
      TRY_VOID(run_within(options_.budget, cases, folder.path(), progress));
      return good_;
    }
    for (const Case& test : cases) {
      auto prepared = prepare(suite_, test, plan_, folder.path(), progress);
      if (!prepared) {
        if (stop_requested()) break;
        refuse(test, prepared.error(), progress);
        continue;
      }
      const auto further = further_runs(costs(*prepared), plan_.runs, -1);
      TRY_VOID(finish(std::move(*prepared), further, progress));
      if (stop_requested()) break;
    }
    return good_;
  }

 private:
  // All builds and warm-ups first: then it is known what the runs cost, and the seconds that are left are shared.
  Result<void> run_within(double seconds, const std::vector<Case>& cases, const string& folder, Progress& progress) {
    const double start = client::now();
    std::vector<Prepared> all;
    for (const Case& test : cases) {
      auto prepared = prepare(suite_, test, plan_, folder, progress);
      if (stop_requested()) break;
      if (prepared) {
        all.push_back(std::move(*prepared));
      } else {
        refuse(test, prepared.error(), progress);
      }
    }
    std::vector<Cost> every;
    for (const auto& prepared : all) {
      const auto own = costs(prepared);
      every.insert(every.end(), own.begin(), own.end());
    }
    const double left = std::max(0.0, seconds - (client::now() - start));
    const auto further = further_runs(every, plan_.runs, left);
    auto next = further.begin();
    for (auto& prepared : all) {
      const auto count = static_cast<std::ptrdiff_t>(prepared.result.measurements.size());
      TRY_VOID(finish(std::move(prepared), {next, next + count}, progress));
      next += count;
    }
    return {};
  }

  static std::vector<Cost> costs(const Prepared& prepared) {
    std::vector<Cost> out;
    for (const auto& m : prepared.result.measurements) out.push_back(m.cost);
    return out;
  }

  void refuse(const Case& test, const Error& error, Progress& progress) {
    progress.step();
    progress.line(test.label() + ": " + error.to_string());
    good_ = false;
  }

  Result<void> finish(Prepared prepared, const std::vector<int>& further, Progress& progress) {
    // The peaks of right now: a shared machine has faster and slower minutes. Not after a stop: it wants an end.
    auto machine = hardware_;
    if (!stop_requested()) {
      progress.say(prepared.result.test.label() + ": peaks of the machine");
      machine = tuning_db::run_microbenchmarks(hardware_);
    }
    const auto result = take_turns(suite_, std::move(prepared), plan_, further, progress);
    progress.step();
    const Element element = suite_.types.at(result.test.type).element;
    for (const auto& m : result.measurements) {
      if (!m.applies) continue;
      if (m.error) progress.line(result.test.label() + ", " + m.compiler + ": " + m.error->to_string());
      // What was stopped for being slow is a finding about that compiler, no fault of the session.
      good_ &= is_right(m, result.test.program, element, own_difference(result)) || (m.error && m.limit_seconds > 0);
    }
    for (const Line& line : lines_of(suite_, plan_, result, machine, facts_)) {
      TRY_VOID(writer_.write(line));
      std::erase_if(lines_,
                    [&](const Line& old) { return old.label() == line.label() && old.compiler == line.compiler; });
      lines_.push_back(line);
    }
    return {};
  }

  const Suite& suite_;
  const Plan& plan_;
  const Options& options_;
  Writer& writer_;
  std::vector<Line>& lines_;
  tuning_db::Hardware hardware_;
  SessionFacts facts_;
  bool good_ = true;
};

}  // namespace

string written_commands(const Suite& suite, const Case& test, const Compiler& compiler, const Words& flags) {
  Json out = Json::array();
  for (Words& command : build_commands(suite, test, compiler, flags, test.program.name, "scratch")) {
    // The same program, wherever it was built.
    if (is_sous(compiler)) command[0] = "sous";
    out.push_back(command);
  }
  if (const Words arguments = run_arguments(test); !arguments.empty()) {
    Words run{test.program.name};
    run.insert(run.end(), arguments.begin(), arguments.end());
    out.push_back(run);
  }
  return tuning_db::dump(out);
}

std::vector<Line> lines_of(const Suite& suite, const Plan& plan, const CaseResult& result,
                           const tuning_db::Hardware& machine, const SessionFacts& facts) {
  std::vector<Line> out;
  for (std::size_t c = 0; c < plan.compilers.size(); ++c) {
    const Compiler& compiler = plan.compilers[c];
    const Measurement& m = result.measurements[c];
    if (!m.applies) continue;
    Line line;
    line.suite = suite.name;
    line.program = result.test.program.name;
    line.size = result.test.size;
    line.type = result.test.type;
    line.compiler = compiler.name;
    line.commands = written_commands(suite, result.test, compiler, plan.flags);
    line.identity = facts.identities[c];
    line.library = m.library;
    line.session = facts.session;
    line.date = utc_now();
    line.threads = compiler.threads > 0 ? compiler.threads : plan.threads;
    line.fast_math = compiler.fast_math;
    line.machine = machine;
    line.error = m.error;
    line.limit_seconds = m.limit_seconds;
    line.runs = m.seconds;
    line.user = m.user;
    line.wanted_runs = m.wanted_runs;
    line.warmup_counted = m.cost.counted;
    line.complete = m.complete;
    line.build_seconds = m.build_seconds;
    line.difference = m.check.difference;
    line.bit_equal = m.check.bit_equal;
    line.right = is_right(m, result.test.program, suite.types.at(result.test.type).element, own_difference(result));
    if (m.report) {
      for (const auto& nest : m.report->nests) {
        if (!nest.served || !nest.function.starts_with(suite.kernel)) continue;
        for (const auto& used : nest.used) line.recipes.push_back(used.name);
        if (std::ranges::find(line.functions, nest.function) == line.functions.end()) {
          line.functions.push_back(nest.function);
        }
      }
    }
    out.push_back(std::move(line));
  }
  return out;
}

bool is_done(const Suite& suite, const Plan& plan, const Case& test, const std::vector<Line>& lines) {
  std::optional<string> session;
  for (const auto& compiler : plan.compilers) {
    if (!applies(compiler, test.program)) continue;
    const auto line = std::find_if(lines.begin(), lines.end(), [&](const Line& l) {
      return l.suite == suite.name && l.label() == test.label() && l.compiler == compiler.name;
    });
    if (line == lines.end() || session.value_or(line->session) != line->session) return false;
    session = line->session;
    const int threads = compiler.threads > 0 ? compiler.threads : plan.threads;
    if (line->commands != written_commands(suite, test, compiler, plan.flags) || line->threads != threads) return false;
    // What failed is tried again; what took too long would do so again.
    if (line->error && line->limit_seconds == 0) return false;
    if (!line->error && (!line->complete || line->wanted_runs != plan.runs)) return false;
  }
  return true;
}

Result<void> check_machine(const std::vector<Line>& lines, const tuning_db::Hardware& here) {
  for (const Line& line : lines) {
    if (line.machine.model == here.model &&
        tuning_db::hardware_class(line.machine) == tuning_db::hardware_class(here)) {
      continue;
    }
    return fail("bench.resume", "it was begun on another machine: " + line.machine.model + ", " +
                                    tuning_db::hardware_class(line.machine) + "; this is " + here.model + ", " +
                                    tuning_db::hardware_class(here));
  }
  return {};
}

Result<int> bench_suite(const string& name, const Options& options) {
  TRY(const Suite suite, read_suite(name));
  TRY(const auto programs, select(suite, options.kernels));
  const auto hardware = tuning_db::describe();
  Plan plan;
  TRY(plan.cases, cases(suite, programs, options.sizes.empty() ? Words{"LARGE"} : options.sizes, options.types));
  TRY(const auto known, known_compilers(options.config));
  const string own = suite.compilers.empty() ? "clang,gcc,sous" : suite.compilers;
  const string& asked = options.compilers.empty() ? own : options.compilers;
  TRY(plan.compilers, parse_compilers(asked, known, options.threads > 0 ? options.threads : hardware.cores));
  if (!plan.compilers[0].sources.empty()) {
    return fail("bench.compiler", "the first compiler is what the others are held against: one for every program",
                plan.compilers[0].name);
  }
  if (const string lacking = missing(plan.compilers); !lacking.empty()) return fail("bench.missing", lacking);
  plan.flags = client::split_words(options.flags);
  plan.reference_flags = client::split_words(options.reference);
  // An unoptimized run of a whole program takes minutes, and what contraction changes in a printed sum says nothing.
  plan.reference = options.check && !suite.whole_programs();
  plan.runs = options.runs;
  plan.threads = options.threads;

  std::vector<Line> lines;
  if (options.resume) {
    if (options.out.empty()) return fail("cli.value", "--resume goes on with the file of --out");
    TRY_VOID(drop_half_line(options.out));
    if (client::read_file(options.out)) {
      TRY(lines, read_lines(options.out));
    }
    TRY_VOID(check_machine(lines, hardware));
  }
  std::vector<Case> left;
  std::vector<Line> done;
  for (const Case& test : plan.cases) {
    if (!is_done(suite, plan, test, lines)) {
      left.push_back(test);
      continue;
    }
    std::copy_if(lines.begin(), lines.end(), std::back_inserter(done),
                 [&](const Line& line) { return line.label() == test.label(); });
  }
  lines = std::move(done);
  if (left.size() < plan.cases.size()) {
    std::fprintf(stderr, "%zu of %zu cases are in %s already\n", plan.cases.size() - left.size(), plan.cases.size(),
                 options.out.c_str());
  }
  TRY(auto writer, Writer::open(options.out));
  bool good = true, stopped = false;
  {
    const InterruptGuard guard;
    Session session(suite, plan, options, writer, lines);
    TRY(good, session.run(left));
    stopped = stop_requested();
  }
  const SuiteSummary summary = summarize(lines, plan.compilers[0].name);
  std::printf("%s on %s, %s; medians of %d runs, ± half the interquartile range; ratios are times faster\n%s%s",
              suite.name.c_str(), hardware.model.c_str(), tuning_db::hardware_class(hardware).c_str(), plan.runs,
              to_table(summary).c_str(), against_the_best(summary).c_str());
  if (stopped) {
    std::fprintf(stderr, "sous: stopped%s\n", options.out.empty() ? "" : "; --resume goes on with what is left");
    return 130;
  }
  return good ? 0 : 1;
}

}  // namespace sous::benchmarks
