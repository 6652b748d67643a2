#include "client/options.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <utility>

#include "client/command_line.h"

namespace sous::client {
namespace {

using std::string;
using std::string_view;

template <class T>
std::optional<T> number(string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

template <bool Options::* member>
Result<void> flag(Options& options, string_view) {
  options.*member = true;
  return {};
}

template <string Options::* member>
Result<void> text(Options& options, string_view value) {
  options.*member = value;
  return {};
}

template <int Options::* member>
Result<void> count(Options& options, string_view value) {
  const auto n = number<int>(value);
  if (!n || *n < 1 || *n > 1000) return fail("cli.value", "a number from 1 to 1000 is wanted, not " + string(value));
  options.*member = *n;
  return {};
}

Result<void> explain(Options& options, string_view value) {
  if (!value.empty() && value != "all") {
    return fail("cli.value", "--explain takes nothing or =all, not " + string(value) + did_you_mean(value, {"all"}));
  }
  options.explain = value.empty() ? Explain::Short : Explain::All;
  return {};
}

Result<void> emit(Options& options, string_view value) {
  static const std::vector<string> forms{"sdfg", "json", "dot", "svg", "cpp", "report"};
  if (std::find(forms.begin(), forms.end(), value) == forms.end()) {
    // Names this short are near to one another whatever was meant: a slip of one letter is one, pdf is no sdfg.
    const string near = nearest_word(value, forms);
    const bool slip = near.size() > 3 && near.size() <= value.size() + 1 && value[0] == near[0];
    return fail("cli.value", "--emit takes sdfg, json, dot, svg, cpp or report, not " + string(value) +
                                 (slip ? did_you_mean(value, forms) : ""));
  }
  options.emit = value;
  return {};
}

Result<void> unit(Options& options, string_view value) {
  if (!number<std::uint16_t>(value)) {
    return fail("cli.value", "--unit takes a number (0 is the whole nest), not " + string(value));
  }
  options.unit = value;
  return {};
}

// n=2000,m=100
Result<void> size(Options& options, string_view value) {
  while (!value.empty()) {
    const auto comma = value.find(',');
    const auto item = value.substr(0, comma);
    const auto equals = item.find('=');
    const auto n = equals == string_view::npos ? std::nullopt : number<std::int64_t>(item.substr(equals + 1));
    if (!n || equals == 0) return fail("cli.value", "--size takes name=number, not " + string(item));
    options.sizes[string(item.substr(0, equals))] = *n;
    value = comma == string_view::npos ? string_view{} : value.substr(comma + 1);
  }
  return {};
}

Result<void> floating_point(Options& options, string_view value) {
  if (value != "reassociate" && value != "strict") {
    return fail("cli.value", "--fp takes strict or reassociate, not " + string(value));
  }
  options.reassociate = value == "reassociate";
  return {};
}

Result<void> offload(Options& options, string_view value) {
  if (value != "gain" && value != "all") {
    return fail("cli.value", "--offload takes gain or all, not " + string(value));
  }
  options.offload_all = value == "all";
  return {};
}

Result<void> deadline(Options& options, string_view value) {
  const auto seconds = number<double>(value);
  if (!seconds || !(*seconds > 0) || *seconds > 600) {
    return fail("cli.value", "--deadline takes seconds from 0 to 600, not " + string(value));
  }
  options.deadline = *seconds;
  return {};
}

Result<void> answers(Options& options, string_view value) {
  const auto seconds = number<int>(value);
  if (!seconds || *seconds < 0 || *seconds > 86'400)
    return fail("cli.value", "--answers takes seconds from 0 to 86400, not " + string(value));
  options.answers = *seconds;
  return {};
}

Result<void> idle_exit(Options& options, string_view value) {
  const auto seconds = number<double>(value);
  if (!seconds || !(*seconds > 0) || *seconds > 1e6) {
    return fail("cli.value", "--idle-exit takes seconds from 0 to 1000000, not " + string(value));
  }
  options.idle_exit = *seconds;
  return {};
}

// 90s, 10m, 2h; minutes without a unit.
Result<void> budget(Options& options, string_view value) {
  const string_view units = "smh";
  const auto unit = value.empty() ? string_view::npos : units.find(value.back());
  const double minutes_each = unit == 0 ? 1.0 / 60 : unit == 2 ? 60 : 1;
  const auto count = number<double>(unit == string_view::npos ? value : value.substr(0, value.size() - 1));
  const double minutes = count.value_or(0) * minutes_each;
  if (!(minutes > 0) || minutes > 10000) {
    return fail("cli.value", "--budget takes a time such as 90s, 10m or 2h, not " + string(value));
  }
  options.budget_minutes = minutes;
  return {};
}

constexpr auto rows = std::to_array<OptionRow>({
    {"--explain", "[=all]",
     "for each nest, hottest first: what it got, or why not and what to do, and the nearest two recipes that it did "
     "not "
     "get; all: everything",
     explain},
    {"--report", "FILE.json", "write the same, and the time of each phase, as JSON", text<&Options::report>},
    {"--db", "PATH",
     "the tuning database, or postgres://… (default: $SOUS_DB, or sous/tuning.db in the user's data folder)",
     text<&Options::database>},
    {"--server", "URL", "a recipe server to ask for what the database does not have (default: $SOUS_SERVER)",
     text<&Options::server>},
    {"--deadline", "SECONDS",
     "how long a server may take to answer, and half of what it may cost a file in all (default: 2)", deadline},
    {"--answers", "SECONDS",
     "for how long what a server answered is not asked again (default: 600; 0: it is asked each time)", answers},
    {"--lock", "", "write what was used into sous.lock beside the source", flag<&Options::lock>},
    {"--frozen", "", "use sous.lock and nothing else", flag<&Options::frozen>},
    {"--measure", "", "where there is no evidence, measure on the spot and use a recipe that is faster",
     flag<&Options::measure>},
    {"--recipe", "FILE|normal-form", "use this recipe wherever it applies, evidence or not", text<&Options::recipe>},
    {"--target", "NAME", "generate for this target, whatever the recipe says", text<&Options::target>},
    {"--offload", "gain|all",
     "with --target cuda: to the GPU goes what is expected to gain there (default), or all that can run there",
     offload},
    {"--size", "n=2000,…", "values of size variables, where they are not known from the source", size},
    {"--fp", "strict|reassociate", "leave to reassociate floating-point sums (default: as the compiler's flags say)",
     floating_point},
    {"--emit", "FORM", "print instead of writing files: sdfg, json, dot, svg, cpp or report", emit},
    {"--dump-after", "PASS", "print each nest after lift, normalize or apply", text<&Options::dump_after>},
    {"-o", "DIR", "where opt writes (default: sous-out)", text<&Options::output>},
    {"--name", "NAME", "db add: what the entry is called (default: from the file's name)", text<&Options::name>},
    {"--nest", "FUNCTION:LINE", "only this nest (a function's name, a line, or both)", text<&Options::nest>},
    {"--unit", "NUMBER",
     "with --recipe: only this unit of a nest: 1, 2, … are its loop nests in normal form, 0 is the whole", unit},
    {"--runs", "NUMBER", "how often each side is measured (default: 7)", count<&Options::runs>},
    {"--log", "FILE",
     "stats, tune --build: the log to read (default: $SOUS_LOG, or sous/build.log in the user's cache folder)",
     text<&Options::log>},
    {"--build", "DIR", "tune: what got nothing in the last build of this folder, hottest first", text<&Options::build>},
    {"--profile", "FILE", "tune: what perf, gprof or -fprofile-instr-generate measured says what is hot",
     text<&Options::profile>},
    {"--neighbours", "NUMBER", "query: how many to show that are not used (default: 2)", count<&Options::neighbours>},
    {"--only", "NAMES", "setup: only entries of these names (gemm,2mm#0)", text<&Options::only>},
    {"--budget", "TIME", "how long setup may take in all (default: 10m), tune and work for each nest (60s)", budget},
    {"--samples", "FILE.jsonl", "tune: write every measurement there as well, an entry a line, faster or not",
     text<&Options::samples>},
    {"--again", "", "setup: measure also what was measured on this machine already", flag<&Options::again>},
    {"--once", "", "work: one job, or none where there is none", flag<&Options::once>},
    {"--idle-exit", "SECONDS", "work: end when there was no job for so long (default: wait for ever)", idle_exit},
    {"--threads", "NUMBER", "work: use so many cores (default: all)", count<&Options::threads>},
    {"--isa", "NAME", "use no more vectors than these (sse, avx2, avx512; default: what the machine has)",
     text<&Options::isa>},
    {"--show", "", "share: print what would be sent, and send nothing", flag<&Options::show>},
    {"--disable", "", "change nothing: run the compiler as it is", flag<&Options::disable>},
    {"--markdown", "", "help: as a page", flag<&Options::markdown>},
});

}  // namespace

std::span<const OptionRow> option_rows() { return rows; }

Result<Parsed> parse_options(const std::vector<string>& arguments, bool interleaved, Options start) {
  Parsed parsed{std::move(start), {}, {}};
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    const string& argument = arguments[k];
    if (argument == "--") {
      parsed.after.assign(arguments.begin() + static_cast<std::ptrdiff_t>(k) + 1, arguments.end());
      break;
    }
    if (argument.size() < 2 || argument[0] != '-') {
      if (!interleaved) {
        parsed.words.assign(arguments.begin() + static_cast<std::ptrdiff_t>(k), arguments.end());
        break;
      }
      parsed.words.push_back(argument);
      continue;
    }
    const auto equals = argument.find('=');
    const string_view name = string_view(argument).substr(0, equals);
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const OptionRow& r) { return r.name == name; });
    if (row == rows.end()) {
      std::vector<string> known;
      for (const auto& r : rows) known.emplace_back(r.name);
      return fail("cli.unknown-option", "there is no option " + string(name) + did_you_mean(name, known));
    }
    if (row->value.empty()) {
      if (equals != string::npos) return fail("cli.value", string(name) + " takes no value");
      TRY_VOID(row->set(parsed.options, {}));
    } else if (equals != string::npos) {
      TRY_VOID(row->set(parsed.options, string_view(argument).substr(equals + 1)));
    } else if (row->value.starts_with('[')) {
      TRY_VOID(row->set(parsed.options, {}));
    } else {
      if (k + 1 == arguments.size()) return fail("cli.value", string(name) + " wants " + string(row->value));
      TRY_VOID(row->set(parsed.options, arguments[++k]));
    }
  }
  return parsed;
}

Result<Options> options_from_environment() {
  Options options;
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return string(value == nullptr ? "" : value);
  };
  if (const auto words = split_words(variable("SOUS_OPTIONS")); !words.empty()) {
    auto parsed = parse_options(words, true);
    if (!parsed) return fail(parsed.error().code, parsed.error().why, "SOUS_OPTIONS");
    if (!parsed->words.empty()) return fail("cli.value", "only options, not " + parsed->words[0], "SOUS_OPTIONS");
    options = std::move(parsed->options);
  }
  if (options.database.empty()) options.database = variable("SOUS_DB");
  if (options.server.empty()) options.server = variable("SOUS_SERVER");
  const string share = variable("SOUS_SHARE");
  if (!share.empty() && share != "wanted") return fail("cli.value", "SOUS_SHARE takes wanted, not " + share);
  options.share_wanted = share == "wanted";
  const auto is_on = [&](const char* name) {
    const string value = variable(name);
    return !value.empty() && value != "0";
  };
  options.disable = options.disable || is_on("SOUS_DISABLE");
  options.remarks = is_on("SOUS_REMARKS");
  return options;
}

}  // namespace sous::client
