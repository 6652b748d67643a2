// sous tune: searches recipes for the nests of a file and keeps what is faster. sous strategies: what would be tried.
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <optional>

#include "client/commands.h"
#include "client/cuda_toolkit.h"
#include "client/interruptible.h"
#include "client/measure.h"
#include "client/places.h"
#include "client/process.h"
#include "client/report.h"
#include "client/request.h"
#include "client/sources.h"
#include "client/tune.h"
#include "tuning-db/build_isa.h"
#include "tuning-db/database.h"
#include "tuning-db/places.h"

namespace sous::client {
namespace {

using std::string;

constexpr double default_seconds = 60;
constexpr int neighbours = 4;

// The nests of a file that are asked for, in normal form. They point into `unit`.
struct Subjects {
  Request request;
  frontends::TranslationUnit unit;
  std::vector<Nest> nests;
};

Result<void> read_subjects(const Invocation& invocation, const char* command, Subjects& out) {
  TRY(out.request, read_request(invocation.words, invocation.after, command));
  Meaning& meaning = out.request.meaning;
  meaning.reassociate = meaning.reassociate || invocation.options.reassociate;
  TRY(out.unit, lift(out.request));
  const auto hardware = tuning_db::as_built(tuning_db::local_hardware(), meaning.cpp_code);
  for (const auto& lifted : out.unit.nests) {
    if (!selected(lifted, invocation.options.nest)) continue;
    auto nest = prepare(lifted, meaning.reassociate, invocation.options.sizes, hardware);
    if (nest) {
      out.nests.push_back(std::move(*nest));
    } else {
      std::printf("%s:%d: %s: %s\n", lifted.file.c_str(), lifted.line, lifted.function.c_str(),
                  nest.error().to_string().c_str());
    }
  }
  if (out.nests.empty()) {
    return fail("tune.no-nest", "no nest to look at; sous query says which loops were not lifted, and why",
                out.request.file);
  }
  return {};
}

string heading(const Nest& nest, std::size_t unit) {
  return nest.lifted->file + ":" + std::to_string(nest.lifted->line) + ": " + nest.lifted->function + " (" +
         nest.units[unit].label + ")";
}

// "blur.rows#1"
string entry_name(const Options& options, const Nest& nest, std::size_t unit) {
  const string file = name_of(nest.lifted->file);
  const string stem =
      options.name.empty() ? file.substr(0, file.rfind('.')) + "." + nest.lifted->function : options.name;
  return stem + "#" + std::to_string(unit);
}

void say_proposed(const Nest& nest, std::size_t unit, const tuning_db::Proposed& proposed,
                  const transforms::ApplyOptions& options) {
  const string name(proposed.strategy->name);
  if (!proposed.recipes) {
    std::printf("  %s: not: %s\n", name.c_str(), proposed.recipes.error().to_string().c_str());
    return;
  }
  for (const auto& open : *proposed.recipes) {
    const auto recipe = transforms::closed(open);
    SOUS_ASSERT(recipe);
    const auto fit = tuning_db::fitted(nest.units[unit].nest, name, *recipe, options);
    std::printf("  %s: %zu of %zu steps apply\n    %s\n", name.c_str(), fit ? fit->recipe.steps.size() : 0,
                recipe->steps.size(), open.text.c_str());
    for (const auto& [parameter, values] : open.open) {
      string list;
      for (const string& value : values) list += (list.empty() ? "" : " | ") + value;
      std::printf("      $%s: %s\n", parameter.c_str(), list.c_str());
    }
  }
}

void say_tuned(const TunedUnit& unit, double seconds) {
  const auto& tuned = unit.tuned;
  std::printf("%s: ", heading(unit.sized, unit.unit).c_str());
  if (tuned.best) {
    std::printf("%s as the original (%.4g s, %.4g s; %s), %s, %d thread%s", speed(tuned.evidence.ratio()).c_str(),
                tuned.evidence.baseline_seconds, tuned.evidence.tuned_seconds, tuned.evidence.size_class.c_str(),
                tuned.best->from.c_str(), tuned.evidence.threads, tuned.evidence.threads == 1 ? "" : "s");
  } else {
    std::printf("nothing is faster than the original");
  }
  std::printf("; %d candidates in %.0f s", tuned.measured, seconds);
  if (tuned.failed > 0) std::printf(", %d of them failed (%s)", tuned.failed, tuned.first_failure.c_str());
  std::printf("\n");
  if (tuned.best) std::printf("  %s\n", transforms::to_text(tuned.best->recipe).c_str());
  std::fflush(stdout);
}

// A measurement as an entry, faster or not, and with whatever spread.
void write_sample(std::ofstream& file, const Measured& measured, const Meaning& meaning, const string& name) {
  if (measured.evidence == nullptr) return;
  Choice choice{.unit = measured.unit, .match = {}, .applied = {}};
  choice.match.recipe = measured.candidate.recipe;
  file << tuning_db::to_json(entry_of(measured.sized, choice, *measured.evidence, meaning, name,
                                      "sous tune, " + string(sample_mark) + measured.candidate.from))
       << std::endl;  // Ctrl-C keeps what was measured
}

}  // namespace

Result<int> command_strategies(const Invocation& invocation) {
  if (invocation.words.empty()) {
    std::fputs(transforms::strategies_text().c_str(), stdout);
    return 0;
  }
  Subjects subjects;
  TRY_VOID(read_subjects(invocation, "strategies", subjects));
  const auto which = invocation.options.target == gpu_target ? tuning_db::Strategies::Gpu : tuning_db::Strategies::Cpu;
  const auto say = [](const Nest& nest, std::size_t unit, tuning_db::Strategies these) -> Result<void> {
    std::printf("%s\n", heading(nest, unit).c_str());
    const auto options = apply_options(nest);
    TRY(const auto all, tuning_db::propose(nest.units[unit].nest, options, these));
    for (const auto& proposed : all) say_proposed(nest, unit, proposed, options);
    return {};
  };
  for (const Nest& nest : subjects.nests) {
    if (nest.units.size() > 1 && which == tuning_db::Strategies::Cpu)
      TRY_VOID(say(nest, 0, tuning_db::Strategies::Whole));
    for (const std::size_t unit : units_to_tune(nest)) TRY_VOID(say(nest, unit, which));
  }
  return 0;
}

Result<int> command_tune(const Invocation& invocation) {
  const Options& options = invocation.options;
  const string path = database_path(options);
  if (path.empty()) return fail("cli.value", "no database: give --db PATH");
  TRY(auto store, tuning_db::Store::open({.path = path, .seeds = tuning_db::seed_files()}));
  Subjects subjects;
  TRY_VOID(read_subjects(invocation, "tune", subjects));
  const Meaning& meaning = subjects.request.meaning;
  const double budget = options.budget_minutes > 0 ? 60 * options.budget_minutes : default_seconds;
  std::vector<string> notes;
  BuildSources sources(subjects.request.file, options);
  TRY(const auto source, sources.open(subjects.nests[0].hardware, notes));
  for (const string& note : notes) std::fprintf(stderr, "sous: %s\n", note.c_str());
  const bool terminal = ::isatty(STDERR_FILENO) != 0;
  const Interruptible interruptible(1e6);
  TuneOptions tune_options{
      .stop = &Interruptible::stop_asked(), .gpu = invocation.options.target == gpu_target, .progress = {}};
  std::optional<std::ofstream> samples;
  if (!options.samples.empty()) {
    samples.emplace(options.samples, std::ios::app);
    if (!*samples) return fail("file.write", "cannot be written", options.samples);
  }
  int faster = 0;
  for (const Nest& nest : subjects.nests) {
    const auto units = units_to_tune(nest);
    std::vector<transforms::NestQuery> queries;
    for (const Unit& unit : nest.units) queries.push_back(unit.query());
    TRY(const auto known, source->query(queries, neighbours));
    tune_options.seconds_per_nest = budget / static_cast<double>(units.size());
    for (const std::size_t unit : units) {
      if (Interruptible::stop_asked()) break;
      const double start = now();
      tune_options.progress = [&](const Measured& measured, double best) {
        if (samples) write_sample(*samples, measured, meaning, entry_name(options, nest, unit));
        if (!terminal) return;
        std::fprintf(stderr, "\r\033[K%s (%s): %s %.2f, best %.2f, %.0f s left", nest.lifted->function.c_str(),
                     nest.units[unit].label.c_str(), measured.candidate.from.c_str(),
                     measured.evidence != nullptr ? measured.evidence->ratio() : 0, best,
                     std::max(0.0, tune_options.seconds_per_nest - (now() - start)));
      };
      const auto tuned = tune_unit(nest, unit, known[unit], meaning, tune_options);
      if (terminal) std::fprintf(stderr, "\r\033[K");
      if (!tuned) {
        std::printf("%s: not tuned: %s\n", heading(nest, unit).c_str(), tuned.error().to_string().c_str());
        continue;
      }
      say_tuned(*tuned, now() - start);
      if (!tuned->tuned.best) continue;
      ++faster;
      Choice choice{.unit = unit, .match = {}, .applied = {}};
      choice.match.recipe = tuned->tuned.best->recipe;
      TRY_VOID(store.add(entry_of(tuned->sized, choice, tuned->tuned.evidence, meaning, entry_name(options, nest, unit),
                                  "sous tune, " + tuned->tuned.best->from)));
    }
  }
  std::printf("%d recipe%s kept in %s\n", faster, faster == 1 ? "" : "s", path.c_str());
  return Interruptible::by_hand() ? 130 : 0;
}

}  // namespace sous::client
