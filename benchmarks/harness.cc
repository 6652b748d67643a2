#include "benchmarks/harness.h"

#include <algorithm>
#include <ctime>

#include "benchmarks/statistics.h"
#include "benchmarks/table.h"
#include "client/process.h"
#include "tuning-db/json_reader.h"

namespace sous::benchmarks {
namespace {

using std::string;
using tuning_db::Json;

bool is_sous(const Compiler& compiler) { return compiler.command[0] == client::own_path(); }

// The compiler with --report, where it is ours.
Compiler reporting(const Compiler& compiler, const string& report_file) {
  Compiler out = compiler;
  if (is_sous(compiler)) out.command.insert(out.command.begin() + 1, "--report=" + report_file);
  return out;
}

string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char buffer[32];
  std::strftime(buffer, sizeof buffer, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return buffer;
}

}  // namespace

double Measurement::median_seconds() const { return median(seconds); }
double Measurement::spread() const { return half_iqr(seconds); }

const Measurement* CaseResult::find(const string& compiler) const {
  const auto found = std::find_if(measurements.begin(), measurements.end(), [&](const Measurement& m) {
    return m.compiler == compiler && !m.error && !m.seconds.empty();
  });
  return found == measurements.end() ? nullptr : &*found;
}

double tolerance(Element element) {
  switch (element) {
    case Element::f64:
      return 1e-8;
    case Element::f32:
      return 1e-2;
    case Element::i64:
    case Element::i32:
      return 0;
  }
  SOUS_ASSERT(false);
}

bool is_right(const Measurement& measurement, Element element) {
  return !measurement.error && measurement.check.difference <= tolerance(element);
}

Result<CaseResult> measure(const Suite& suite, const Case& test, const Plan& plan, const string& folder,
                           Progress& progress) {
  const Element element = suite.types.at(test.type).element;
  const string dump = folder + "/outputs";
  RunRequest request;
  request.threads = plan.threads;
  string expected;
  if (plan.reference) {
    progress.say(test.label() + ": reference build");
    TRY(const auto built,
        build(suite, test, {"reference", {"clang-19"}}, plan.reference_flags, folder + "/" + test.program.name));
    progress.say(test.label() + ": reference run");
    TRY(auto ran, run_and_dump(suite, built.binary, dump, request));
    expected = std::move(ran.outputs);
  }
  CaseResult result{test, {}};
  std::vector<string> binaries;
  for (const auto& compiler : plan.compilers) {
    Measurement m;
    m.compiler = compiler.name;
    const string binary = folder + "/" + test.program.name + "." + compiler.name;
    const string report_file = binary + ".report";
    binaries.push_back(binary);
    progress.say(test.label() + ": " + compiler.name + ", build and warm-up");
    const auto attempt = [&]() -> Result<void> {
      TRY(const auto built, build(suite, test, reporting(compiler, report_file), plan.flags, binary));
      m.build_seconds = built.seconds;
      if (is_sous(compiler)) {
        if (const auto text = client::read_file(report_file)) {
          TRY(m.report, parse_report(*text));
        }
      }
      TRY(auto ran, run_and_dump(suite, binary, dump, request));
      if (expected.empty()) expected = ran.outputs;
      TRY(m.check, compare_outputs(expected, ran.outputs, element));
      return {};
    };
    if (const auto done = attempt(); !done) m.error = done.error();
    result.measurements.push_back(std::move(m));
  }
  for (int run = 1; run <= plan.runs; ++run) {
    for (std::size_t c = 0; c < plan.compilers.size(); ++c) {
      Measurement& m = result.measurements[c];
      if (m.error) continue;
      progress.say(test.label() + ": " + m.compiler + ", run " + std::to_string(run) + " of " +
                   std::to_string(plan.runs));
      if (const auto seconds = run_program(suite, binaries[c], request)) {
        m.seconds.push_back(*seconds);
      } else {
        m.error = seconds.error();
      }
    }
  }
  return result;
}

string to_json_line(const Suite& suite, const Plan& plan, const CaseResult& result, const Measurement& m,
                    const tuning_db::Hardware& hardware) {
  const auto compiler = std::find_if(plan.compilers.begin(), plan.compilers.end(),
                                     [&](const Compiler& c) { return c.name == m.compiler; });
  SOUS_ASSERT(compiler != plan.compilers.end());
  Json line{{"suite", suite.name},
            {"program", result.test.program.name},
            {"size", result.test.size},
            {"type", result.test.type},
            {"compiler", m.compiler},
            {"command", build_command(suite, result.test, *compiler, plan.flags, result.test.program.name)},
            {"threads", plan.threads},
            {"date", utc_now()},
            {"machine", Json::parse(tuning_db::to_json(hardware), nullptr, false)}};
  if (m.error) {
    line["error"] = {{"code", m.error->code}, {"why", m.error->why}};
    return tuning_db::dump(line);
  }
  line["runs"] = m.seconds;
  line["seconds"] = m.median_seconds();
  line["spread"] = m.spread();
  line["build_seconds"] = m.build_seconds;
  line["bit_equal"] = m.check.bit_equal;
  line["difference"] = m.check.difference;
  line["right"] = is_right(m, suite.types.at(result.test.type).element);
  return tuning_db::dump(line);
}

string summary_table(const Suite& suite, const Plan& plan, const std::vector<CaseResult>& results,
                     const string& baseline) {
  std::vector<string> head{"program", "size", "type"};
  for (const auto& compiler : plan.compilers) {
    head.push_back(compiler.name + " s");
    head.push_back("±");
    head.push_back("difference");
    if (compiler.name != baseline) head.push_back(baseline + "/" + compiler.name);
  }
  Table table(head, "lll");
  std::vector<std::vector<double>> ratios(plan.compilers.size());
  for (const auto& result : results) {
    const Element element = suite.types.at(result.test.type).element;
    const Measurement* base = result.find(baseline);
    std::vector<string> row{result.test.program.name, result.test.size, result.test.type};
    for (std::size_t c = 0; c < plan.compilers.size(); ++c) {
      const Measurement& m = result.measurements[c];
      const bool timed = !m.error && !m.seconds.empty();
      row.push_back(timed ? seconds_text(m.median_seconds()) : m.error ? m.error->code : "–");
      row.push_back(timed ? fixed(100 * m.spread() / m.median_seconds(), 0) + "%" : "");
      row.push_back(m.error                 ? ""
                    : !is_right(m, element) ? "WRONG " + scientific(m.check.difference, 1)
                    : m.check.bit_equal     ? "0"
                                            : scientific(m.check.difference, 1));
      if (plan.compilers[c].name == baseline) continue;
      const bool comparable = timed && base != nullptr && m.median_seconds() > 0 && is_right(m, element);
      if (comparable) ratios[c].push_back(base->median_seconds() / m.median_seconds());
      row.push_back(comparable ? fixed(ratios[c].back(), 2) : "");
    }
    table.add(std::move(row));
  }
  std::vector<string> means{"geometric mean", "", ""};
  for (std::size_t c = 0; c < plan.compilers.size(); ++c) {
    means.insert(means.end(), {"", "", ""});
    if (plan.compilers[c].name != baseline) {
      means.push_back(ratios[c].empty() ? "" : fixed(geometric_mean(ratios[c]), 2));
    }
  }
  if (plan.compilers.size() > 1) table.add(std::move(means));
  return table.to_string();
}

}  // namespace sous::benchmarks
