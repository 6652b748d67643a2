#include "benchmarks/options.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "client/options.h"

namespace sous::benchmarks {
namespace {

using std::string;
using std::string_view;

Words comma_separated(string_view text) {
  Words out;
  while (!text.empty()) {
    const auto comma = text.find(',');
    out.emplace_back(text.substr(0, comma));
    text = comma == string_view::npos ? string_view{} : text.substr(comma + 1);
  }
  return out;
}

template <string Options::* member>
Result<void> text(Options& options, string_view value) {
  options.*member = value;
  return {};
}
template <Words Options::* member>
Result<void> list(Options& options, string_view value) {
  options.*member = comma_separated(value);
  return {};
}
template <int Options::* member>
Result<void> count(Options& options, string_view value) {
  int n = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), n);
  if (error != std::errc() || end != value.data() + value.size() || n < 1 || n > 1000) {
    return fail("cli.value", "a number from 1 to 1000 is wanted, not " + string(value));
  }
  options.*member = n;
  return {};
}
template <auto member, long most>
Result<void> amount(Options& options, string_view value) {
  double x = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), x);
  if (error != std::errc() || end != value.data() + value.size() || !(x >= 0) || x > static_cast<double>(most)) {
    return fail("cli.value", "a number from 0 to " + std::to_string(most) + " is wanted, not " + string(value));
  }
  options.*member = x;
  return {};
}
template <bool Options::* member, bool value>
Result<void> flag(Options& options, string_view) {
  options.*member = value;
  return {};
}

struct Row {
  string_view name, value, help;
  Result<void> (*set)(Options&, string_view);
};
constexpr auto rows = std::to_array<Row>({
    {"--kernels", "A,B", "only these programs or groups of the suite (default: all)", text<&Options::kernels>},
    {"--size", "A,B", "the suite's sizes (default: LARGE)", list<&Options::sizes>},
    {"--type", "A,B", "element types (default: each program's own)", list<&Options::types>},
    {"--compilers", "A,B",
     "NAME[+fast-math][@THREADS] with a name of benchmarks/compilers.json (clang, gcc, sous, "
     "polly, polly-parallel, openblas, openblas-avx512, blis, sous-gcc) or of --config; or NAME=COMMAND (default: "
     "clang,gcc,sous; of programs also polly and polly-parallel)",
     text<&Options::compilers>},
    {"--config", "FILE.json", "more compilers; benchmarks/compilers.h says how", text<&Options::config>},
    {"--flags", "FLAGS", "for every compiler (default: -O3 -march=native)", text<&Options::flags>},
    {"--runs", "NUMBER", "timed runs of each build (default: 5)", count<&Options::runs>},
    {"--budget", "SECONDS", "programs that take long run less often, so that all is done in about this time",
     amount<&Options::budget, 1'000'000>},
    {"--entries", "NUMBER", "of serve's database (default: 100000)", amount<&Options::entries, 10'000'000>},
    {"--rate", "NUMBER", "requests a second for serve, each of four nests (default: 200)",
     amount<&Options::rate, 100'000>},
    {"--servers", "NUMBER", "that serve asks in turns, over one database (default: 1)", count<&Options::servers>},
    {"--threads", "NUMBER",
     "of compilers for all threads, and of NAME=COMMAND (default: all cores; as the environment "
     "says)",
     count<&Options::threads>},
    {"--reference", "FLAGS", "of the clang-19 build that outputs are checked against (default: -O0 -ffp-contract=off)",
     text<&Options::reference>},
    {"--no-reference", "", "check outputs against the first compiler instead, which saves the slow reference run",
     flag<&Options::check, false>},
    {"--out", "FILE.jsonl", "append every measurement as a line of JSON", text<&Options::out>},
    {"--resume", "", "go on with the file of --out: what it has is not measured again", flag<&Options::resume, true>},
    {"--baseline", "NAME", "report, compare, keep: what the others are held against (default: the file's first)",
     text<&Options::baseline>},
    {"--noise", "FRACTION", "compare, spellings: what differs by less is the same (default: 0.03; spellings 0.05)",
     amount<&Options::noise, 1>},
    {"--json", "", "report: as one JSON object", flag<&Options::json, true>},
    {"--results", "FOLDER", "keep: where the kept ratios lie (default: benchmarks/results)", text<&Options::results>},
    {"--build-only", "FOLDER", "shapes: put the programs and run.sh there, and run nothing",
     text<&Options::build_only>},
    {"--suite", "NAME", "verify: another suite, or a suite file", text<&Options::suite>},
    {"--targets", "A,B", "verify: the targets (default: cpp,openmp,highway)", text<&Options::targets>},
    {"--recipes", "FOLDER|none", "verify, shapes: the recipes of this folder's *.jsonl (default: Sous's own seed)",
     text<&Options::recipes>},
    {"--jobs", "NUMBER", "verify, shapes: builds at the same time (default: all cores)", count<&Options::jobs>},
});

}  // namespace

Result<Options> parse_options(const Words& arguments) {
  Options options;
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    const string& argument = arguments[k];
    if (!argument.starts_with("--")) {
      options.words.push_back(argument);
      continue;
    }
    const auto equals = argument.find('=');
    const string name = argument.substr(0, equals);
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const Row& r) { return r.name == name; });
    if (row == rows.end()) {
      Words known;
      for (const Row& r : rows) known.emplace_back(r.name);
      return fail("cli.unknown-option", "sous bench has no option " + name + client::did_you_mean(name, known));
    }
    string value;
    if (row->value.empty()) {
      if (equals != string::npos) return fail("cli.value", name + " takes no value");
    } else if (equals != string::npos) {
      value = argument.substr(equals + 1);
    } else if (k + 1 < arguments.size()) {
      value = arguments[++k];
    } else {
      return fail("cli.value", name + " wants " + string(row->value));
    }
    if (const auto set = row->set(options, value); !set) return fail(set.error().code, set.error().why, name);
  }
  return options;
}

string options_help() {
  string out;
  for (const Row& row : rows) {
    string left = "  " + string(row.name) + (row.value.empty() ? "" : " " + string(row.value));
    if (left.size() < 26) left.resize(26, ' ');
    out += left + " " + string(row.help) + "\n";
  }
  return out;
}

}  // namespace sous::benchmarks
