#include "client/db_add.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <map>
#include <optional>
#include <sstream>
#include <string_view>

#include "client/choose.h"
#include "client/compile.h"
#include "client/launcher.h"
#include "client/measure.h"
#include "client/process.h"
#include "targets/target.h"
#include "tuning-db/build_isa.h"

namespace sous::client {
namespace {

using std::string;
using Words = std::vector<string>;

// Linked into both programs. Line by line: nest, calls, seconds in all, calls that ran generated code, symbol values of
// the last call; a nest called with several sizes says so by "varies".
constexpr const char* recorder = R"(#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
enum { nests = 256, values = 32 };
static struct {
  long long calls, served, value[values];
  double seconds;
  int count, varies;
} table[nests];
static void sous_write(void) {
  const char* path = getenv("SOUS_TIMES");
  FILE* file = path ? fopen(path, "w") : 0;
  if (!file) return;
  for (int k = 0; k < nests; ++k) {
    if (!table[k].calls) continue;
    fprintf(file, "%d %lld %.17g %lld %d", k, table[k].calls, table[k].seconds, table[k].served, table[k].varies);
    for (int v = 0; v < table[k].count; ++v) fprintf(file, " %lld", table[k].value[v]);
    fprintf(file, "\n");
  }
  fclose(file);
}
double sous_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
void sous_record(int nest, double seconds, int served, int count, const long long* value) {
  static int registered = 0;
  if (!registered) registered = atexit(sous_write) == 0;
  if (nest >= nests || count > values) return;
  if (table[nest].calls && memcmp(table[nest].value, value, (size_t)count * sizeof *value)) table[nest].varies = 1;
  memcpy(table[nest].value, value, (size_t)count * sizeof *value);
  table[nest].count = count;
  table[nest].calls += 1;
  table[nest].seconds += seconds;
  table[nest].served += served;
}
)";

struct Measured {
  std::vector<double> seconds;  // per call, one per run
  bool served = false, varies = false;
  std::vector<std::int64_t> values;
};
using Times = std::map<int, Measured>;

void read_times(const string& text, Times& times) {
  std::istringstream lines(text);
  for (string line; std::getline(lines, line);) {
    std::istringstream words(line);
    int nest = 0, varies = 0;
    long long calls = 0, served = 0;
    double seconds = 0;
    if (!(words >> nest >> calls >> seconds >> served >> varies) || calls == 0) continue;
    auto& measured = times[nest];
    measured.seconds.push_back(seconds / static_cast<double>(calls));
    measured.served = served == calls;
    measured.varies = measured.varies || varies != 0;
    measured.values.clear();
    for (long long value = 0; words >> value;) measured.values.push_back(value);
  }
}

// One lifted nest with the recipe where it applies.
struct Subject {
  Nest nest;
  Chosen chosen;
  sdfg::Sdfg transformed;
  Replacement replacement;
  string code;
};

Words symbols_of(const frontends::c::LiftedNest& lifted, bool c_expressions) {
  Words out;
  for (const auto& argument : lifted.arguments) {
    if (argument.kind == frontends::c::Argument::Kind::Symbol) {
      out.push_back(c_expressions ? argument.c_expr : argument.name);
    }
  }
  return out;
}

// Both programs' text: nest k between two looks at the clock.
string instrumented(const string& text, const std::vector<Subject>& subjects, bool with_recipe) {
  string out;
  std::size_t done = 0;
  string prototypes =
      "extern double sous_now(void); extern void sous_record(int, double, int, int, const long long *); ";
  std::vector<Replacement> replacements;
  for (const auto& subject : subjects) replacements.push_back(subject.replacement);
  prototypes += unset_types(replacements);
  for (std::size_t k = 0; k < subjects.size(); ++k) {
    const auto& r = replacements[k];
    if (with_recipe) prototypes += "extern " + prototype(r) + "; ";
    const auto symbols = symbols_of(*subjects[k].nest.lifted, true);
    string values;
    for (const auto& symbol : symbols) {
      values += (r.guard.empty() ? "" : "!(" + r.guard + ") ? 0 : ") + "(long long)(" + symbol + "), ";
    }
    const string n = std::to_string(k), original = text.substr(r.begin, r.end - r.begin);
    out += text.substr(done, r.begin - done);
    out += "{ const long long sous_v" + n + "[] = {" + values + "0}; int sous_s" + n + " = 0; const double sous_t" + n +
           " = sous_now(); ";
    if (with_recipe) {
      out += "if (!" + call(r) + ") { " + original + " } else { sous_s" + n + " = 1; " + r.epilogue + " }";
    } else {
      out += "{ " + original + " }";
    }
    out += " sous_record(" + n + ", sous_now() - sous_t" + n + ", sous_s" + n + ", " + std::to_string(symbols.size()) +
           ", sous_v" + n + "); }";
    done = r.end;
  }
  out += text.substr(done);
  return prototypes + "\n" + out;
}

// Whether the word main stands before a parenthesis outside of everything. (A scan: what it takes for a main that is
// none is the linker's to say.)
bool defines_main(const string& text) {
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  constexpr std::string_view word = "main";
  for (auto at = text.find(word); at != string::npos; at = text.find(word, at + 1)) {
    if (at > 0 && is_word(text[at - 1])) continue;
    const auto next = text.find_first_not_of(" \t\n", at + word.size());
    if (next != string::npos && text[next] == '(') return true;
  }
  return false;
}

class Adder {
 public:
  Adder(const string& file, const Options& options, const AddOptions& more)
      : file_(file), options_(options), more_(more), pace_(more.pace) {}

  Result<std::vector<tuning_db::Entry>> run(const Words& flags) {
    TRY_VOID(read_flags(flags));
    TRY_VOID(read_recipe());
    TRY(text_, preprocess(line_, input_, compiler_));
    if (!defines_main(text_)) {
      return fail("add.no-main",
                  "the file is measured as a program of its own and has no main: include it from one that calls its "
                  "functions, and give that",
                  file_);
    }
    meaning_ = meaning_of_preprocessed(line_, compiler_);
    TRY(unit_, frontends::c::lift(text_, file_, meaning_.parse));
    TRY_VOID(make_subjects());
    TRY(auto folder, TemporaryFolder::make());
    TRY_VOID(build(folder));
    Times baseline, tuned;
    const bool terminal = ::isatty(STDERR_FILENO) != 0;
    for (int k = 0; k < pace_.most && !(pace_.until_decided && all_decided(baseline, tuned)); ++k) {
      if (terminal && !pace_.until_decided) std::fprintf(stderr, "\rsous: run %d of %d ", k + 1, pace_.most);
      TRY_VOID(time(folder, "original", baseline));
      if (const auto timed = time(folder, "recipe", tuned); !timed) {
        if (timed.error().code != "client.limit") return std::unexpected(timed.error());
        return entries(baseline, stopped(baseline));
      }
    }
    if (terminal && !pace_.until_decided) std::fprintf(stderr, "\r                      \r");
    return entries(baseline, tuned);
  }

 private:
  Result<void> read_flags(Words flags) {
    if (!flags.empty() && flags[0][0] != '-') {
      compiler_ = flags[0];
      flags.erase(flags.begin());
    }
    const bool optimized = std::any_of(flags.begin(), flags.end(), [](const string& f) { return f.starts_with("-O"); });
    if (!optimized) flags.insert(flags.begin(), {"-O3", "-march=native"});
    link_ = flags;
    flags.push_back(file_);
    line_ = classify(flags, no_response_files);
    if (line_.action != Action::CompileAndLink) {
      return fail("add.flags", line_.why.empty() ? "flags that compile and link one C file are wanted" : line_.why,
                  file_);
    }
    input_ = line_.inputs.back();
    hardware_ = tuning_db::as_built(tuning_db::local_hardware(), line_.cpp_code);
    return {};
  }

  Result<void> read_recipe() {
    if (more_.recipe) {
      recipe_ = *more_.recipe;
      return {};
    }
    if (options_.recipe.empty()) return fail("add.recipe", "give the recipe to measure: --recipe FILE");
    if (options_.recipe == "normal-form") return {};
    TRY(const string text, read_file(options_.recipe));
    auto recipe = transforms::parse_recipe(text);
    if (!recipe) return fail(recipe.error().code, recipe.error().why, options_.recipe);
    recipe_ = std::move(*recipe);
    return {};
  }

  Result<void> make_subjects() {
    if (unit_.nests.empty()) return fail("add.no-nest", "no loop nest was found", file_);
    const bool reassociate = meaning_.reassociate || options_.reassociate;
    string refusal;
    for (const auto& lifted : unit_.nests) {
      const string line = std::to_string(lifted.line);
      if (!options_.nest.empty() && options_.nest != lifted.function && options_.nest != line &&
          options_.nest != lifted.function + ":" + line) {
        continue;
      }
      Subject subject;
      TRY(subject.nest, prepare(lifted, reassociate, options_, hardware_));
      std::vector<UnitReport> reports;
      subject.chosen = force(subject.nest, recipe_, reassociate, options_, reports);
      for (const auto& report : reports) {
        for (const auto& candidate : report.candidates) {
          if (!candidate.why_not.empty()) refusal = candidate.why_not;
        }
      }
      if (subject.chosen.choices.empty()) continue;
      TRY(subject.transformed, assemble(subject.nest, subject.chosen.choices));
      target_ = targets::find_target(subject.chosen.choices[0].match.recipe.target);
      if (target_ == nullptr) return fail("target.unknown", "this build has no target " + recipe_.target);
      targets::EmitOptions emit_options;
      emit_options.function = "sous_measured_" + std::to_string(subjects_.size());
      emit_options.contract = meaning_.contract;
      emit_options.reassociate = reassociate;
      emit_options.approximate_math = meaning_.approximate_math;
      emit_options.math_errno = meaning_.math_errno;
      TRY(subject.code, target_->emit(subject.transformed, emit_options));
      subject.replacement = {
          lifted.begin,    lifted.end, emit_options.function, arguments_for(lifted, subject.transformed),
          lifted.epilogue, "",         lifted.guard};
      subjects_.push_back(std::move(subject));
    }
    if (subjects_.empty()) {
      return fail("add.no-unit", "the recipe applies to no unit" + (refusal.empty() ? "" : ": " + refusal), file_);
    }
    return {};
  }

  Result<void> command(const Words& words) const {
    TRY(const auto finished, client::run(words, {.capture_output = true, .capture_errors = true}));
    if (finished.status == 0) return {};
    return fail("add.build", joined(words) + ": " + finished.errors.substr(0, 2000), file_);
  }

  Result<void> build(const TemporaryFolder& folder) const {
    std::vector<string> functions;
    for (const auto& subject : subjects_) functions.push_back(subject.code);
    TRY_VOID(
        write_file(folder.file("nests.cpp"), targets::source_file({target_->name}, functions, "measured by db add")));
    TRY_VOID(write_file(folder.file("record.c"), recorder));
    TRY_VOID(write_file(folder.file("original.i"), instrumented(text_, subjects_, false)));
    TRY_VOID(write_file(folder.file("recipe.i"), instrumented(text_, subjects_, true)));
    Words generated{compiler_};
    const auto append = [](Words& to, const Words& more) { to.insert(to.end(), more.begin(), more.end()); };
    append(generated, line_.cpp_code);
    append(generated, generated_options(compiler_, meaning_.contract, target_->needs_openmp));
    append(generated, {"-c", folder.file("nests.cpp"), "-o", folder.file("nests.o")});
    TRY_VOID(command(generated));
    TRY_VOID(command({compiler_, "-O2", "-c", folder.file("record.c"), "-o", folder.file("record.o")}));
    for (const char* name : {"original", "recipe"}) {
      const string object = folder.file(string(name) + ".o");
      Words compile{compiler_};
      append(compile, line_.code);
      append(compile, {"-w", "-x", "cpp-output", "-c", folder.file(string(name) + ".i"), "-o", object});
      TRY_VOID(command(compile));
      Words link{compiler_, object, folder.file("record.o"), folder.file("nests.o"), "-o", folder.file(name)};
      append(link, link_);
      link.emplace_back("-lm");
      if (target_->needs_openmp) link.emplace_back("-fopenmp");
      TRY_VOID(command(link));
    }
    return {};
  }

  static bool all_decided(const Times& baseline, const Times& tuned) {
    bool any = false;
    for (const auto& [nest, before] : baseline) {
      const auto after = tuned.find(nest);
      if (after == tuned.end()) continue;
      if (!decided(before.seconds, after->second.seconds)) return false;
      any = true;
    }
    return any;
  }

  // Of a program with the recipe that was stopped as too slow: each nest took at least what its own part of the limit
  // is.
  Times stopped(const Times& baseline) const {
    Times out = baseline;
    double original = 0;
    for (const auto& [nest, before] : baseline) original += summarize(before.seconds).median;
    for (auto& [nest, after] : out) {
      const double seconds = summarize(after.seconds).median;
      after.seconds = {seconds +
                       (original > 0 ? seconds / original : 1) * std::max(0.0, pace_.limit_seconds - program_)};
      after.served = true;
    }
    return out;
  }

  Result<void> time(const TemporaryFolder& folder, const string& program, Times& times) {
    const string path = folder.file("times");
    TRY(const auto finished, client::run({folder.file(program)}, {.capture_output = true,
                                                                  .capture_errors = true,
                                                                  .environment = {{"SOUS_TIMES", path}},
                                                                  .limit_seconds = pace_.limit_seconds,
                                                                  .stop = pace_.stop}));
    if (finished.status != 0) {
      return fail("add.run", "the program (" + program + ") ended with status " + std::to_string(finished.status),
                  file_);
    }
    const auto text = read_file(path);
    if (!text) return fail("add.not-run", "none of the nests was reached", file_);
    read_times(*text, times);
    if (program == "original") program_ = finished.seconds;
    std::remove(path.c_str());
    return {};
  }

  Result<std::vector<tuning_db::Entry>> entries(const Times& baseline, const Times& tuned) const {
    std::vector<tuning_db::Entry> out;
    string why;
    for (std::size_t k = 0; k < subjects_.size(); ++k) {
      const auto before = baseline.find(static_cast<int>(k)), after = tuned.find(static_cast<int>(k));
      const bool reached = before != baseline.end() && after != tuned.end();
      if (!reached || !after->second.served || after->second.varies) {
        const auto& lifted = *subjects_[k].nest.lifted;
        why += (why.empty() ? "" : "; ") + string("line ") + std::to_string(lifted.line) + " in " + lifted.function;
        why += !reached ? " was not reached with this input"
               : after->second.varies
                   ? " is called with several sizes, and evidence is of one: measure it in a program "
                     "that calls it with one"
                   : " ran as it was written: arrays overlap, or a size is too small for the recipe";
        continue;
      }
      add_entries(subjects_[k], before->second, after->second, out);
    }
    if (out.empty()) {
      return fail("add.not-run", "nothing was measured: " + why, file_);
    }
    return out;
  }

  void add_entries(const Subject& subject, const Measured& before, const Measured& after,
                   std::vector<tuning_db::Entry>& out) const {
    Options with_sizes = options_;
    const auto names = symbols_of(*subject.nest.lifted, false);
    for (std::size_t v = 0; v < names.size() && v < after.values.size(); ++v)
      with_sizes.sizes[names[v]] = after.values[v];
    const auto nest =
        prepare(*subject.nest.lifted, meaning_.reassociate || options_.reassociate, with_sizes, hardware_);
    if (!nest) return;
    double total = 0, most = 0;
    for (std::size_t u = has_whole(*nest) ? 1 : 0; u < nest->queries.size(); ++u) total += unit_work(*nest, u);
    for (const auto& choice : subject.chosen.choices) most = std::max(most, unit_work(*nest, choice.unit));
    const Summary a = summarize(before.seconds), b = summarize(after.seconds);
    for (const auto& choice : subject.chosen.choices) {
      const double work = unit_work(*nest, choice.unit);
      if (work < most / 2) continue;
      const double share = has_whole(*nest) && choice.unit == 0 ? 1 : std::min(1.0, work / total);
      const auto& unit = nest->normal.units[choice.unit];
      tuning_db::Entry entry;
      const string stem = name_of(file_).substr(0, name_of(file_).rfind('.'));
      entry.name = (options_.name.empty() ? stem : options_.name) + "#" + std::to_string(choice.unit);
      entry.nest = unit.nest;
      entry.structural_hash = unit.structural_hash;
      entry.sizes = nest->queries[choice.unit].sizes;
      entry.recipe = choice.match.recipe;
      entry.hardware = tuning_db::local_hardware();
      entry.baseline_seconds = a.median * share;
      entry.baseline_spread = a.spread;
      entry.tuned_seconds = b.median * share;
      entry.tuned_spread = b.spread;
      entry.threads = has_parallel_loop(subject.transformed) && target_->needs_openmp ? measuring_threads() : 1;
      entry.compiler = name_of(compiler_);
      entry.flags = joined(line_.cpp_code);
      entry.provenance = more_.provenance;
      entry.time = utc_now();
      out.push_back(std::move(entry));
    }
  }

  static std::optional<string> no_response_files(const string&) { return std::nullopt; }

  const string& file_;
  const Options& options_;
  const AddOptions& more_;
  const Pace& pace_;
  double program_ = 0;  // seconds of the last run of the original, with all that is not a nest
  string compiler_ = "clang-19";
  Words link_;
  CommandLine line_;
  tuning_db::Hardware hardware_;  // as the build uses it: sizes in the recipe
  Input input_;
  Meaning meaning_;
  transforms::Recipe recipe_;
  string text_;
  frontends::c::TranslationUnit unit_;
  std::vector<Subject> subjects_;
  const targets::Target* target_ = nullptr;
};

}  // namespace

Result<std::vector<tuning_db::Entry>> measure_entries(const string& file, const Words& flags, const Options& options,
                                                      const AddOptions& more) {
  return Adder(file, options, more).run(flags);
}

}  // namespace sous::client
