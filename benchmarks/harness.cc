#include "benchmarks/harness.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <map>
#include <thread>

#include "benchmarks/interrupt.h"
#include "benchmarks/statistics.h"
#include "client/process.h"

namespace sous::benchmarks {
namespace {

using std::string;

// A build that is slower than this is not worth the time of the others.
constexpr double slowest_factor = 4, slowest_seconds = 10;

// Builds are compared that round differently: a program may leave out what rounding alone decides.
constexpr std::pair<const char*, const char*> only_determined{"POLYBENCH_DETERMINED", "1"};

// A file name of its own for each column.
string file_name(const string& compiler) {
  string out = compiler;
  std::replace_if(out.begin(), out.end(), [](char c) { return c == '/' || c == ' '; }, '_');
  return out;
}

int threads_of(const Compiler& compiler, const Plan& plan) {
  return compiler.threads > 0 ? compiler.threads : plan.threads;
}

RunRequest request_of(const Case& test, const Compiler& compiler, const Plan& plan) {
  RunRequest request;
  request.arguments = run_arguments(test);
  request.threads = threads_of(compiler, plan);
  request.environment = compiler.environment;
  return request;
}

// Compilers that differ in nothing but the threads share a build: the index of the first that builds the same.
std::size_t builder_of(const Plan& plan, std::size_t c) {
  for (std::size_t first = 0; first < c; ++first) {
    const Compiler &a = plan.compilers[first], &b = plan.compilers[c];
    if (a.command == b.command && a.steps == b.steps && a.flags == b.flags && a.link == b.link &&
        a.sources == b.sources) {
      return first;
    }
  }
  return c;
}

// Runs the jobs on as many threads as there are cores, in order. Nothing is timed meanwhile.
void run_jobs(const std::vector<std::function<void()>>& jobs) {
  std::atomic<std::size_t> next = 0;
  std::vector<std::jthread> workers;
  for (unsigned w = 0; w < std::max(1U, std::thread::hardware_concurrency()); ++w) {
    workers.emplace_back([&] {
      for (std::size_t j = next++; j < jobs.size(); j = next++) jobs[j]();
    });
  }
}

void keep(Measurement& m, const Suite& suite, const Ran& ran) {
  m.seconds.push_back(ran.seconds);
  if (suite.whole_programs()) m.user.push_back(ran.user);
}

Result<void> build_one(const Suite& suite, const Case& test, const Compiler& compiler, const Plan& plan,
                       const string& binary, Measurement& m) {
  const string report_file = binary + ".report";
  TRY(const auto built, build(suite, test, reporting(compiler, report_file), plan.flags, binary));
  m.build_seconds = built.seconds;
  if (!is_sous(compiler)) return {};
  if (const auto text = client::read_file(report_file)) {
    TRY(m.report, parse_report(*text));
  }
  return {};
}

}  // namespace

double Measurement::median_seconds() const { return median(seconds); }
double Measurement::spread() const { return half_iqr(seconds); }

double tolerance(Element element) {
  switch (element) {
    case Element::f64:
    case Element::text:
      return 1e-8;
    case Element::f32:
      return 1e-2;
    case Element::i64:
    case Element::i32:
      return 0;
  }
  SOUS_ASSERT(false);
}

bool is_right(const Measurement& measurement, const Program& program, Element element, double own) {
  const double least = std::max(tolerance(element), program.tolerance);
  return !measurement.error && measurement.check.difference <= (tolerance(element) > 0 ? std::max(least, own) : least);
}

double own_difference(const CaseResult& result) {
  for (const Measurement& m : result.measurements) {
    if (m.compiler == yardstick && m.applies && !m.error && std::isfinite(m.check.difference))
      return m.check.difference;
  }
  return 0;
}

Result<Prepared> prepare(const Suite& suite, const Case& test, const Plan& plan, const string& folder,
                         Progress& progress) {
  const Element element = suite.types.at(test.type).element;
  const string base = folder + "/" + test.program.name + "." + test.size + "." + test.type;
  const std::size_t count = plan.compilers.size();
  Prepared prepared{{test, std::vector<Measurement>(count)}, std::vector<string>(count)};
  auto& measurements = prepared.result.measurements;

  // The reference runs long, so it comes first; the builds go on beside it.
  Result<string> expected;
  std::vector<std::function<void()>> jobs;
  if (plan.reference) {
    jobs.emplace_back([&] {
      expected = [&]() -> Result<string> {
        const Compiler reference{"reference", {"clang-19"}};
        TRY(const auto built, build(suite, test, reference, plan.reference_flags, base + ".reference"));
        RunRequest request{.arguments = run_arguments(test), .timed = false};
        request.environment.insert(only_determined);
        TRY(auto ran, run_and_dump(suite, built.binary, base + ".reference.outputs", request));
        return std::move(ran.outputs);
      }();
    });
  }
  for (std::size_t c = 0; c < count; ++c) {
    measurements[c].compiler = plan.compilers[c].name;
    measurements[c].wanted_runs = plan.runs;
    measurements[c].applies = applies(plan.compilers[c], test.program);
    prepared.binaries[c] = base + "." + file_name(plan.compilers[builder_of(plan, c)].name);
    if (!measurements[c].applies || builder_of(plan, c) != c) continue;
    jobs.emplace_back([&, c] {
      const auto done = build_one(suite, test, plan.compilers[c], plan, prepared.binaries[c], measurements[c]);
      if (!done) measurements[c].error = done.error();
    });
  }
  progress.say(test.label() + ": builds" + (plan.reference ? " and reference run" : ""));
  run_jobs(jobs);
  if (!expected) return std::unexpected(expected.error());

  double limit = 0;
  for (std::size_t c = 0; c < count; ++c) {
    Measurement& m = measurements[c];
    const Measurement& builder = measurements[builder_of(plan, c)];
    m.error = builder.error;
    m.build_seconds = builder.build_seconds;
    m.report = builder.report;
    if (!m.applies || m.error) continue;
    progress.say(test.label() + ": " + m.compiler + ", warm-up");
    const auto attempt = [&]() -> Result<void> {
      RunRequest request = request_of(test, plan.compilers[c], plan);
      request.limit_seconds = limit;
      request.environment.insert(only_determined);
      TRY(auto ran, run_and_dump(suite, prepared.binaries[c], base + ".outputs", request));
      if (expected->empty()) *expected = ran.outputs;
      TRY(m.check, compare_outputs(*expected, ran.outputs, element));
      m.library = ran.ran.library;
      m.cost = {ran.ran.wall, ran.ran.seconds >= counted_from_seconds};
      if (m.cost.counted) keep(m, suite, ran.ran);
      return {};
    };
    if (const auto done = attempt(); !done) {
      if (done.error().code == "client.stopped") return std::unexpected(done.error());
      m.error = done.error();
      if (done.error().code == "client.limit") m.limit_seconds = limit;
    } else if (c == 0) {
      limit = slowest_factor * m.cost.wall + slowest_seconds;
    }
  }
  return prepared;
}

CaseResult take_turns(const Suite& suite, Prepared prepared, const Plan& plan, const std::vector<int>& further,
                      Progress& progress) {
  auto& measurements = prepared.result.measurements;
  const string label = prepared.result.test.label();
  const int rounds = further.empty() ? 0 : *std::max_element(further.begin(), further.end());
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t c = 0; c < measurements.size(); ++c) {
      Measurement& m = measurements[c];
      if (!m.applies || m.error || round >= further[c]) continue;
      if (stop_requested()) {
        m.complete = false;
        continue;
      }
      progress.say(label + ": " + m.compiler + ", run " + std::to_string(round + 1) + " of " +
                   std::to_string(further[c]));
      const auto ran =
          run_program(suite, prepared.binaries[c], request_of(prepared.result.test, plan.compilers[c], plan));
      if (ran) {
        keep(m, suite, *ran);
      } else if (ran.error().code == "client.stopped") {
        m.complete = false;
      } else {
        m.error = ran.error();
      }
    }
  }
  return std::move(prepared.result);
}

Result<CaseResult> measure(const Suite& suite, const Case& test, const Plan& plan, const string& folder,
                           Progress& progress) {
  TRY(auto prepared, prepare(suite, test, plan, folder, progress));
  std::vector<Cost> costs;
  for (const auto& m : prepared.result.measurements) costs.push_back(m.cost);
  const auto further = further_runs(costs, plan.runs, plan.seconds);
  return take_turns(suite, std::move(prepared), plan, further, progress);
}

}  // namespace sous::benchmarks
