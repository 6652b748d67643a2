// sous tune: searches recipes for the nests of a file and keeps what is faster. sous strategies: what would be tried.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <optional>

#include "client/commands.h"
#include "client/cuda_toolkit.h"
#include "client/interruptible.h"
#include "client/measure.h"
#include "client/places.h"
#include "client/process.h"
#include "client/profile.h"
#include "client/report.h"
#include "client/request.h"
#include "client/sources.h"
#include "client/stats.h"
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
  std::vector<PreparedNest> nests;
};

Result<void> read_subjects(const Invocation& invocation, const char* command, Subjects& out) {
  TRY(out.request, read_request(invocation.words, invocation.after, command));
  const Meaning meaning = beyond_the_build(with_options(out.request.meaning, invocation.options), invocation.options);
  TRY(out.unit, lift(out.request));
  const auto hardware = tuning_db::as_built(tuning_db::local_hardware(), meaning.cpp_code);
  for (const auto& lifted : out.unit.nests) {
    if (!selected(lifted, invocation.options.nest)) continue;
    auto nest = prepare(lifted, meaning, invocation.options.sizes, hardware);
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

string heading(const PreparedNest& nest, std::size_t unit) {
  return nest.lifted->file + ":" + std::to_string(nest.lifted->line) + ": " + nest.lifted->function + " (" +
         nest.units[unit].label + ")";
}

// "blur.rows#1"
string entry_name(const Options& options, const PreparedNest& nest, std::size_t unit) {
  const string file = name_of(nest.lifted->file);
  const string stem =
      options.name.empty() ? file.substr(0, file.rfind('.')) + "." + nest.lifted->function : options.name;
  return stem + "#" + std::to_string(unit);
}

void say_proposed(const PreparedNest& nest, std::size_t unit, const tuning_db::Proposed& proposed,
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
    const bool whole = unit.unit == 0 && unit.sized.units.size() > 1;
    std::printf("nothing is faster than %s", whole ? "the original, or its nests by themselves" : "the original");
  }
  std::printf("; %d candidates in %.0f s", tuned.measured, seconds);
  if (tuned.failed > 0) std::printf(", %d of them failed (%s)", tuned.failed, tuned.first_failure.c_str());
  std::printf("\n");
  if (tuned.best) std::printf("  %s\n", transforms::to_text(tuned.best->recipe).c_str());
  std::fflush(stdout);
}

// A measurement as an entry, faster or not, and with whatever spread.
void write_sample(std::ofstream& file, const Measured& measured, const string& name) {
  if (measured.evidence == nullptr) return;
  Choice choice{.unit = measured.unit, .match = {}, .applied = {}};
  choice.match.recipe = measured.candidate.recipe;
  file << tuning_db::to_json(entry_of(measured.sized, choice, *measured.evidence, name,
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
  const auto say = [](const PreparedNest& nest, std::size_t unit, tuning_db::Strategies these) -> Result<void> {
    std::printf("%s\n", heading(nest, unit).c_str());
    auto options = apply_options(nest);
    const auto& sizes = nest.units[unit].sizes;
    if (these == tuning_db::Strategies::Gpu) options.context.sizes = {sizes.begin(), sizes.end()};
    TRY(const auto all, tuning_db::propose(nest.units[unit].nest, options, these));
    for (const auto& proposed : all) say_proposed(nest, unit, proposed, options);
    return {};
  };
  for (const PreparedNest& nest : subjects.nests) {
    if (nest.units.size() > 1 && which == tuning_db::Strategies::Cpu)
      TRY_VOID(say(nest, 0, tuning_db::Strategies::Whole));
    for (const std::size_t unit : units_to_tune(nest)) TRY_VOID(say(nest, unit, which));
  }
  return 0;
}

namespace {

// What all files of one command share.
struct Session {
  tuning_db::Store store;
  std::optional<std::ofstream> samples = {};
  std::optional<Profile> profile = {};
  int kept = 0;

  double share(const string& function) const { return profile ? profile->share(function).value_or(0) : 0; }
  bool cold(const string& function) const { return profile && profile->cold(function); }
};

void say_progress(const Measured& measured, double best, double seconds_left) {
  std::fprintf(stderr, "\r\033[K%s (%s): %s %.2f, best %.2f, %.0f s left", measured.sized.lifted->function.c_str(),
               measured.sized.units[measured.unit].label.c_str(), measured.candidate.from.c_str(),
               measured.evidence != nullptr ? measured.evidence->ratio() : 0, best, std::max(0.0, seconds_left));
}

// The units of one nest, which share `budget` seconds. `known`: by unit.
Result<void> tune_nest(const Invocation& invocation, const PreparedNest& nest,
                       const std::vector<std::vector<transforms::Match>>& known, double budget, Session& session) {
  const bool terminal = ::isatty(STDERR_FILENO) != 0;
  const bool gpu = invocation.options.target == gpu_target;
  auto units = units_to_tune(nest);
  if (nest.units.size() > 1 && !gpu) units.push_back(0);
  TuneOptions options{.seconds_per_nest = budget / static_cast<double>(units.size()),
                      .stop = &Interruptible::stop_asked(),
                      .gpu = gpu,
                      .progress = {}};
  std::vector<Choice> parts;
  for (const std::size_t unit : units) {
    if (Interruptible::stop_asked()) break;
    const double start = now();
    const string name = entry_name(invocation.options, nest, unit);
    options.progress = [&](const Measured& measured, double best) {
      if (session.samples) write_sample(*session.samples, measured, name);
      if (terminal) say_progress(measured, best, options.seconds_per_nest - (now() - start));
    };
    const bool whole = unit == 0 && nest.units.size() > 1;
    const auto tuned =
        whole ? tune_whole(nest, known[unit], parts, options) : tune_unit(nest, unit, known[unit], options);
    if (terminal) std::fprintf(stderr, "\r\033[K");
    if (!tuned) {
      std::printf("%s: not tuned: %s\n", heading(nest, unit).c_str(), tuned.error().to_string().c_str());
      continue;
    }
    say_tuned(*tuned, now() - start);
    if (!tuned->tuned.best) continue;
    ++session.kept;
    Choice choice{.unit = unit, .match = {}, .applied = {}};
    choice.match.recipe = tuned->tuned.best->recipe;
    TRY_VOID(session.store.add(
        entry_of(tuned->sized, choice, tuned->tuned.evidence, name, "sous tune, " + tuned->tuned.best->from)));
    parts.push_back(std::move(choice));
  }
  return {};
}

Result<void> tune_file(const Invocation& invocation, Session& session) {
  const Options& options = invocation.options;
  Subjects subjects;
  TRY_VOID(read_subjects(invocation, "tune", subjects));
  std::vector<string> notes;
  BuildSources sources(subjects.request.file, options);
  TRY(const auto source, sources.open(subjects.nests[0].hardware, notes));
  for (const string& note : notes) std::fprintf(stderr, "sous: %s\n", note.c_str());
  std::ranges::sort(subjects.nests, {}, [&](const PreparedNest& n) {
    return std::pair(-session.share(n.lifted->function), n.lifted->begin);
  });
  for (const PreparedNest& nest : subjects.nests) {
    if (session.cold(nest.lifted->function)) {
      std::printf("%s: not tuned: less than a hundredth of the time\n", heading(nest, 0).c_str());
      continue;
    }
    std::vector<transforms::NestQuery> queries;
    for (const Unit& unit : nest.units) queries.push_back(unit.query());
    TRY(const auto known, source->query(queries, neighbours));
    const double budget = options.budget_minutes > 0 ? 60 * options.budget_minutes : default_seconds;
    TRY_VOID(tune_nest(invocation, nest, known, budget, session));
  }
  return {};
}

// What got nothing in a build, each nest in the folder and with the options that its file was compiled in. A file that
// is gone or has changed since costs its nest alone.
Result<void> tune_build(const Invocation& invocation, Session& session) {
  if (!invocation.words.empty() || !invocation.after.empty() || !invocation.options.nest.empty()) {
    return fail("cli.value", "tune --build takes files and flags from the log: sous tune --build DIR [options]");
  }
  TRY(const auto entries, read_log(invocation.options.log, invocation.options.build));
  auto nests = unserved(entries);  // hottest first, where no profile knows better
  std::erase_if(nests, [&](const Unserved& one) { return session.cold(one.nest->function); });
  std::vector<std::size_t> order(nests.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](std::size_t k) { return std::pair(-session.share(nests[k].nest->function), k); });
  std::error_code error;
  const auto here = std::filesystem::current_path(error);
  for (std::size_t k = 0; k < nests.size() && !Interruptible::stop_asked(); ++k) {
    const auto& [entry, nest] = nests[order[k]];
    std::printf("%zu of %zu: %s:%d: %s\n", k + 1, nests.size(), nest->file.c_str(), nest->line, nest->function.c_str());
    std::fflush(stdout);
    Invocation one{invocation.options, {entry->file}, entry->options};
    one.after.insert(one.after.begin(), entry->compiler);
    one.options.nest = nest->function + ":" + std::to_string(nest->line);
    std::filesystem::current_path(entry->folder, error);
    const auto tuned =
        error ? Result<void>(fail("file.read", error.message(), entry->folder)) : tune_file(one, session);
    if (!tuned) std::printf("not tuned: %s\n", tuned.error().to_string().c_str());
    std::filesystem::current_path(here, error);
  }
  return {};
}

}  // namespace

Result<int> command_tune(const Invocation& given) {
  Invocation invocation = given;
  Options& options = invocation.options;
  std::error_code error;
  if (database_path(options).empty()) return fail("cli.value", "no database: give --db PATH");
  // A build's files lie in folders of their own.
  options.database = database_path(options);
  if (!tuning_db::is_postgres(options.database))
    options.database = std::filesystem::absolute(options.database, error).string();
  const string path = options.database;
  TRY(auto store, tuning_db::Store::open({.path = path, .seeds = tuning_db::seed_files()}));
  Session session{.store = std::move(store)};
  if (!options.profile.empty()) {
    TRY(session.profile, Profile::read(options.profile));
  }
  if (!options.samples.empty()) {
    session.samples.emplace(options.samples, std::ios::app);
    if (!*session.samples) return fail("file.write", "cannot be written", options.samples);
  }
  const Interruptible interruptible(1e6);
  TRY_VOID(options.build.empty() ? tune_file(invocation, session) : tune_build(invocation, session));
  std::printf("%d recipe%s kept in %s\n", session.kept, session.kept == 1 ? "" : "s", tuning_db::shown(path).c_str());
  return Interruptible::by_hand() ? 130 : 0;
}

}  // namespace sous::client
