#include "client/db_add.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <map>
#include <optional>
#include <string_view>

#include "client/choose.h"
#include "client/compile.h"
#include "client/compiler.h"
#include "client/measure.h"
#include "client/preprocess.h"
#include "client/process.h"
#include "client/timed_program.h"
#include "frontends/c/lift.h"
#include "targets/target.h"
#include "tuning-db/build_isa.h"

namespace sous::client {
namespace {

using std::string;
using Words = std::vector<string>;
using Times = std::map<int, NestTimes>;

// One lifted nest with the recipe where it applies.
struct Subject {
  PreparedNest nest;
  Chosen chosen;
};

// One unit with the recipe, measured by itself. A unit that is one of several is compared with itself in normal form,
// the others as they are there both times, out of the time; any other with the nest as it was written.
struct Trial {
  std::size_t subject = 0;
  const Choice* choice = nullptr;
  PreparedNest sized;  // at the sizes that the program has
  bool one_of_several = false;
  int threads = 1;
  NestTimes plain, tuned;       // plain: of one of several
  double plain_program = 0;     // seconds of its last run, with all that is not the unit
  string stopped;               // the recipe was too slow for the pace's limit: "stopped after 20 s"
  std::vector<double> least{};  // where it was stopped: seconds that it took at least
};

Words symbols_of(const frontends::LiftedNest& lifted, bool expressionessions) {
  Words out;
  for (const auto& argument : lifted.arguments) {
    if (argument.kind == frontends::Argument::Kind::Symbol) {
      out.push_back(expressionessions ? argument.expression : argument.name);
    }
  }
  return out;
}

class Adder {
 public:
  Adder(const string& file, const Options& options, const AddOptions& more)
      : file_(file), options_(options), more_(more), pace_(more.pace) {}

  Result<std::vector<tuning_db::Entry>> run(const Words& flags) {
    TRY_VOID(read_flags(flags));
    TRY_VOID(read_recipe());
    TRY(auto preprocessed, preprocess(line_, input_, compiler_));
    text_ = std::move(preprocessed.text);
    if (!defines_main(text_)) {
      return fail("add.no-main",
                  "the file is measured as a program of its own and has no main: include it from one that calls its "
                  "functions, and give that",
                  file_);
    }
    TRY(unit_, frontends::c::lift(text_, file_, front_end_options(line_, compiler_, Text::Preprocessed)));
    TRY_VOID(make_subjects());
    TRY(const auto folder, TemporaryFolder::make());
    TRY_VOID(build_original(folder));
    TRY(program_, time(folder, "original", original_));  // tells the sizes, too
    TRY_VOID(make_trials());
    TRY_VOID(build_trials(folder));
    const bool terminal = ::isatty(STDERR_FILENO) != 0 && !pace_.until_decided;
    for (int k = 0; k < pace_.most && !(pace_.until_decided && all_decided()); ++k) {
      if (terminal) std::fprintf(stderr, "\rsous: run %d of %d ", k + 1, pace_.most);
      if (k > 0) {
        TRY(program_, time(folder, "original", original_));
      }
      for (std::size_t t = 0; t < trials_.size(); ++t) TRY_VOID(time_trial(folder, t));
    }
    if (terminal) std::fprintf(stderr, "\r                      \r");
    return entries();
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
    meaning_ = beyond_the_build(with_options(meaning_of(line_, compiler_), options_), options_);
    line_.cpp_code = meaning_.cpp_code;
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
    string refusal;
    for (const auto& lifted : unit_.nests) {
      if (!selected(lifted, options_.nest)) continue;
      Subject subject;
      TRY(subject.nest, prepare(lifted, meaning_, options_.sizes, hardware_));
      subject.chosen =
          force({.nest = subject.nest, .target = options_.target, .unit = options_.unit, .measure = {}}, recipe_);
      for (const auto& report : subject.chosen.units) {
        for (const auto& candidate : report.candidates) {
          if (!candidate.why_not.empty()) refusal = candidate.why_not;
        }
      }
      if (subject.chosen.choices.empty()) continue;
      target_ = targets::find_target(subject.chosen.choices[0].match.recipe.target);
      if (target_ == nullptr) return fail("target.unknown", "this build has no target " + recipe_.target);
      subjects_.push_back(std::move(subject));
    }
    if (subjects_.empty()) {
      return fail("add.no-unit", "the recipe applies to no unit" + (refusal.empty() ? "" : ": " + refusal), file_);
    }
    return {};
  }

  // The units worth an entry: those that do a fair part of their nest's work, at the sizes that the program has.
  Result<void> make_trials() {
    for (std::size_t k = 0; k < subjects_.size(); ++k) {
      const Subject& subject = subjects_[k];
      const auto before = original_.find(static_cast<int>(k));
      if (before == original_.end()) {
        unknown(k, "was not reached with this input");
        continue;
      }
      if (varies(k, before->second)) continue;
      auto sizes = options_.sizes;
      const auto names = symbols_of(*subject.nest.lifted, false);
      for (std::size_t v = 0; v < names.size() && v < before->second.values.size(); ++v)
        sizes[names[v]] = before->second.values[v];
      TRY(const PreparedNest sized, prepare(*subject.nest.lifted, meaning_, sizes, hardware_));
      double most = 0;
      for (const auto& choice : subject.chosen.choices) most = std::max(most, unit_work(sized.unit(choice.unit)));
      for (const auto& choice : subject.chosen.choices) {
        const Unit& unit = sized.unit(choice.unit);
        if (unit_work(unit) < most / 2) continue;
        trials_.push_back({.subject = k,
                           .choice = &choice,
                           .sized = sized,
                           .one_of_several = unit.one_of_several(),
                           .plain = {},
                           .tuned = {},
                           .stopped = {}});
      }
    }
    if (trials_.empty()) return fail("add.not-run", "nothing was measured: " + why_not_, file_);
    return {};
  }

  void unknown(std::size_t subject, const string& why) {
    const auto& lifted = *subjects_[subject].nest.lifted;
    const string text = "line " + std::to_string(lifted.line) + " in " + lifted.function + " " + why;
    if (!why_not_.contains(text)) why_not_ += (why_not_.empty() ? "" : "; ") + text;
  }

  bool varies(std::size_t subject, const NestTimes& times) {
    if (times.varies) {
      unknown(subject,
              "is called with several sizes, and evidence is of one: measure it in a program that calls it with one");
    }
    return times.varies;
  }

  static string function_of(std::size_t trial, bool tuned) {
    return (tuned ? "sous_tuned_" : "sous_plain_") + std::to_string(trial);
  }

  TimedNest timed(std::size_t subject, const string& function, const sdfg::Sdfg& emitted) const {
    const auto& lifted = *subjects_[subject].nest.lifted;
    return {static_cast<int>(subject), frontends::replacement(lifted, function, emitted), !function.empty(),
            symbols_of(lifted, true)};
  }

  TimedBuild build_in(const TemporaryFolder& folder) const {
    return {folder, file_, compiler_, line_, link_, meaning_.contraction};
  }

  Result<void> build_original(const TemporaryFolder& folder) const {
    std::vector<TimedNest> nests;
    for (std::size_t k = 0; k < subjects_.size(); ++k) nests.push_back(timed(k, "", subjects_[k].nest.lifted->sdfg));
    TRY_VOID(build_in(folder).recorder());
    return build_in(folder).program("original", timed_program(text_, nests), {});
  }

  Result<void> build_trials(const TemporaryFolder& folder) {
    std::vector<targets::Function> functions;
    std::vector<std::pair<string, TimedNest>> programs;
    for (std::size_t t = 0; t < trials_.size(); ++t) {
      Trial& trial = trials_[t];
      const PreparedNest& nest = subjects_[trial.subject].nest;
      const Unit& unit = nest.unit(trial.choice->unit);
      const auto add = [&](const sdfg::Sdfg& sdfg, std::size_t nodes, bool tuned) -> Result<void> {
        targets::EmitOptions options = emit_options(nest.meaning);
        options.function = function_of(t, tuned);
        options.symbol_types = frontends::symbol_types(*nest.lifted);
        if (trial.one_of_several) options.timed = targets::Part{unit.first, unit.first + nodes};
        TRY(auto code, target_->emit(sdfg, options));
        functions.push_back(std::move(code));
        programs.emplace_back(options.function, timed(trial.subject, options.function, sdfg));
        return {};
      };
      TRY(const auto tuned, assemble(nest, {*trial.choice}));
      trial.threads = threads_of(tuned, *target_);
      TRY_VOID(add(tuned, trial.choice->applied.root.nodes.size(), true));
      if (trial.one_of_several) TRY_VOID(add(nest.normal, unit.last - unit.first, false));
    }
    TRY(const Words generated, build_in(folder).generated(functions));
    for (const auto& [name, nest] : programs)
      TRY_VOID(build_in(folder).program(name, timed_program(text_, {nest}), generated));
    return {};
  }

  // What the unit took before: in normal form, and no more than the original leaves for it when the others take what
  // they take there, so that what the normal form costs is no gain of the recipe.
  std::vector<double> before(const Trial& trial) const {
    const auto& original = original_.at(static_cast<int>(trial.subject)).seconds;
    if (!trial.one_of_several) return original;
    std::vector<double> out;
    for (std::size_t k = 0; k < std::min(original.size(), trial.plain.seconds.size()); ++k)
      out.push_back(std::max(0.0, std::min(trial.plain.seconds[k], original[k] - trial.plain.others[k])));
    return out;
  }
  static const std::vector<double>& after(const Trial& trial) {
    return trial.stopped.empty() ? trial.tuned.seconds : trial.least;
  }

  bool all_decided() const {
    return std::ranges::all_of(
        trials_, [&](const Trial& trial) { return !trial.stopped.empty() || decided(before(trial), after(trial)); });
  }

  // Returns the seconds of the whole program.
  Result<double> time(const TemporaryFolder& folder, const string& program, Times& times) const {
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
    add_times(*text, times);
    std::remove(path.c_str());
    return finished.seconds;
  }

  Result<void> time_trial(const TemporaryFolder& folder, std::size_t t) {
    Trial& trial = trials_[t];
    const int number = static_cast<int>(trial.subject);
    if (!trial.stopped.empty()) return {};
    if (trial.one_of_several) {
      Times times{{number, trial.plain}};
      TRY(trial.plain_program, time(folder, function_of(t, false), times));
      trial.plain = std::move(times[number]);
    }
    Times times{{number, trial.tuned}};
    const auto timed = time(folder, function_of(t, true), times);
    if (timed) {
      trial.tuned = std::move(times[number]);
      return {};
    }
    if (timed.error().code != "client.limit") return std::unexpected(timed.error());
    // Only this unit is other than in the program that it is compared with: all that the limit leaves beyond that is
    // its own.
    const auto& reference = trial.one_of_several ? trial.plain : original_.at(number);
    const double program = trial.one_of_several ? trial.plain_program : program_;
    const double more = std::max(0.0, pace_.limit_seconds - program) / std::max(1.0, reference.calls);
    for (const double seconds : reference.seconds) trial.least.push_back(seconds + more);
    trial.stopped = "stopped after " + std::to_string(std::lround(pace_.limit_seconds)) + " s";
    return {};
  }

  Result<std::vector<tuning_db::Entry>> entries() {
    std::vector<tuning_db::Entry> out;
    for (const Trial& trial : trials_) {
      const bool ran = !trial.stopped.empty() || trial.tuned.generated;
      if (!ran || (trial.one_of_several && !trial.plain.generated)) {
        unknown(trial.subject, "ran as it was written: arrays overlap, or a size is too small for the recipe");
      } else if (varies(trial.subject, original_.at(static_cast<int>(trial.subject))) ||
                 varies(trial.subject, trial.tuned)) {
        continue;
      } else if (!(summarize(before(trial)).median > 0)) {
        unknown(trial.subject, "takes less as it was written than what is not of the unit takes in normal form");
      } else {
        out.push_back(entry(trial));
      }
    }
    if (out.empty()) return fail("add.not-run", "nothing was measured: " + why_not_, file_);
    return out;
  }

  tuning_db::Entry entry(const Trial& trial) const {
    const Timing a = summarize(before(trial)), b = summarize(after(trial));
    transforms::Evidence evidence;
    evidence.baseline_seconds = a.median;
    evidence.baseline_spread = a.spread;
    evidence.tuned_seconds = b.median;
    evidence.tuned_spread = b.spread;
    evidence.threads = trial.threads;
    const string stem = name_of(file_).substr(0, name_of(file_).rfind('.'));
    const string name = (options_.name.empty() ? stem : options_.name) + "#" + std::to_string(trial.choice->unit);
    tuning_db::Entry entry = entry_of(trial.sized, *trial.choice, evidence, name, more_.provenance);
    if (!trial.stopped.empty()) entry.provenance += ", " + trial.stopped;
    return entry;
  }
  static std::optional<string> no_response_files(const string&) { return std::nullopt; }

  const string& file_;
  const Options& options_;
  const AddOptions& more_;
  const Pace& pace_;
  string compiler_ = "clang-19";
  Words link_;
  CommandLine line_;
  tuning_db::Hardware hardware_;  // as the build uses it: sizes in the recipe
  Input input_;
  Meaning meaning_;
  transforms::Recipe recipe_;
  string text_;
  frontends::TranslationUnit unit_;
  std::vector<Subject> subjects_;
  Times original_;      // of all subjects, as they were written
  double program_ = 0;  // seconds of the last run of it, with all that is not a nest
  std::vector<Trial> trials_;
  string why_not_;  // subjects and units of which nothing is known
  const targets::Target* target_ = nullptr;
};

}  // namespace

Result<std::vector<tuning_db::Entry>> measure_entries(const string& file, const Words& flags, const Options& options,
                                                      const AddOptions& more) {
  return Adder(file, options, more).run(flags);
}

}  // namespace sous::client
