#include "client/setup.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <tuple>

#include "client/command_line.h"
#include "client/compile.h"
#include "client/db_add.h"
#include "client/measure.h"
#include "client/nest.h"
#include "client/process.h"
#include "tuning-db/build_isa.h"
#include "tuning-db/size_class.h"

namespace sous::client {
namespace {

using std::string;
using tuning_db::Entry;
using Entries = std::vector<Entry>;
using Words = std::vector<string>;

// Compiling the original and the generated code, on a core that nothing else uses.
constexpr double compile_seconds = 8;

string stem_of(const string& name) { return name.substr(0, name.rfind('#')); }

bool selected(const string& name, const string& only) {
  if (only.empty()) return true;
  std::size_t start = 0;
  while (start <= only.size()) {
    const std::size_t end = std::min(only.find(',', start), only.size());
    const string item = only.substr(start, end - start);
    if (item == name || item == stem_of(name)) return true;
    start = end + 1;
  }
  return false;
}

// Two runs of each where the ratio is large, more the closer it is.
double expected_seconds(const tuning_db::Summary& s) {
  const int runs = s.ratio() > 2 ? 2 : s.ratio() > 1.4 ? 3 : 7;
  // The program has more than the nest: its arguments are set up, too.
  return compile_seconds + runs * (1.2 * s.baseline_seconds + s.tuned_seconds + 0.1);
}

// Of an entry's flags: what chooses instructions and the meaning of floating point, and nothing that names a file.
bool harmless(const string& word) {
  static const std::regex known(
      "-O[0-3s]?|-Ofast|-m[a-z0-9.-]+|-m(arch|tune)=[a-z0-9.-]+|-f(no-)?(fast-math|associative-math|reciprocal-math|"
      "signed-zeros|trapping-math|math-errno|finite-math-only|unsafe-math-optimizations)|-ffp-contract=[a-z-]+");
  return std::regex_match(word, known);
}

Pace pace_for(const Entry& entry, const std::atomic<bool>& stop) {
  // Ten times as long as it took there is no measurement worth waiting for.
  const double limit = std::max(20.0, 10 * (entry.baseline_seconds + entry.tuned_seconds));
  return {.most = 7, .until_decided = true, .limit_seconds = limit, .stop = &stop};
}

bool answers(const Entries& measured, const Entry& entry) {
  return std::any_of(measured.begin(), measured.end(), [&](const Entry& m) {
    return m.structural_hash == entry.structural_hash && m.recipe == entry.recipe;
  });
}

// The shapes from which on the recipe gains were measured elsewhere, and one size is measured here: they go along.
Result<Entries> with_thresholds(Result<Entries> measured, const Entry& entry) {
  if (!measured) return measured;
  for (Entry& m : *measured) {
    if (m.structural_hash != entry.structural_hash || m.recipe != entry.recipe) continue;
    m.least_extents = entry.least_extents;
    m.least_work = entry.least_work;
  }
  return measured;
}

Result<Entries> in_its_program(const Entry& entry, const SetupProgram& program, const Words& flags,
                               const std::atomic<bool>& stop) {
  Options options;
  options.nest = program.function;
  options.name = stem_of(entry.name);
  options.unit = entry.name.substr(entry.name.rfind('#') + 1);
  Words all = flags;
  all.insert(all.end(), program.flags.begin(), program.flags.end());
  return measure_entries(program.file, all, options,
                         {.pace = pace_for(entry, stop), .recipe = entry.recipe, .provenance = "sous setup"});
}

Result<Entries> from_its_nest(const Entry& entry, const Words& flags, const std::atomic<bool>& stop,
                              const NestTrial& trial) {
  TRY(const Meaning meaning, meaning_of(flags[0], {flags.begin() + 1, flags.end()}, trial.reassociate));
  const auto lifted = frontends::lifted_from(entry.nest, entry.sizes);
  TRY(const PreparedNest nest,
      prepare(lifted, meaning, {}, tuning_db::as_built(tuning_db::local_hardware(), meaning.cpp_code)));
  for (const Unit& unit : nest.units) {
    if (unit.structural_hash != entry.structural_hash) continue;
    Choice choice{.unit = unit.index, .match = {}};
    choice.match.recipe = entry.recipe;
    TRY_VOID(apply_choice(nest, choice, nullptr));
    Pace pace = pace_for(entry, stop);
    pace.inputs = trial.inputs;
    TRY(auto evidence, measure_on_the_spot(nest, choice, pace));
    // Against the normal form, which may be slower than the program was: at most the gain measured there.
    if (entry.tuned_seconds > 0) {
      const double most = evidence.tuned_seconds * entry.baseline_seconds / entry.tuned_seconds;
      evidence.baseline_seconds = std::min(evidence.baseline_seconds, most);
    }
    return Entries{entry_of(nest, choice, evidence, entry.name, trial.by + ", from the nest of " + entry_id(entry))};
  }
  return fail("setup.nest", "its nest is not the same in this version's normal form", entry.name);
}

}  // namespace

SetupProgram setup_program(const string& entry_name) {
  std::error_code error;
  const string installed = folder_of(own_path()) + "/../share/sous/programs";
  const string folder = std::filesystem::exists(installed, error) ? installed : SOUS_PROGRAMS;
  string stem = stem_of(entry_name);
  // As ./x seed names them: kernel, element type, size.
  const auto has = [&stem](const string& suffix) {
    const bool found = stem.ends_with("-" + suffix);
    if (found) stem.resize(stem.size() - suffix.size() - 1);
    return found;
  };
  SetupProgram program{.file = {}, .function = {}, .flags = {"-DLARGE"}};
  constexpr std::pair<const char*, const char*> sizes[] = {
      {"mini", "MINI"}, {"small", "SMALL"}, {"medium", "MEDIUM"}, {"extralarge", "EXTRALARGE"}};
  for (const auto& [suffix, size] : sizes)
    if (has(suffix)) program.flags = {"-D" + string(size)};
  for (const char* type : {"float", "double"})
    if (has(type)) program.flags.emplace_back("-DDATA_TYPE=" + string(type));
  if (stem.empty() || stem.find('/') != string::npos) return program;
  const string file = folder + "/" + stem + ".c";
  if (!std::filesystem::exists(file, error)) return program;
  program.file = file;
  program.function = "kernel_" + stem;
  std::ranges::replace(program.function, '-', '_');
  return program;
}

Words setup_flags(const string& compiler, const string& flags, const SetupPlan& plan) {
  Words out = plan.flags.empty() ? Words{} : plan.flags;
  if (out.empty()) {
    for (const string& word : split_words(flags))
      if (harmless(word)) out.push_back(word);
  }
  if (out.empty() || out[0].starts_with('-')) {
    static const std::regex usual("(clang|gcc)(-[0-9]+)?");
    out.insert(out.begin(), plan.flags.empty() && std::regex_match(compiler, usual) ? compiler : "clang-19");
  }
  const bool optimized = std::any_of(out.begin(), out.end(), [](const string& w) { return w.starts_with("-O"); });
  if (!optimized) out.insert(out.begin() + 1, {"-O3", "-march=native"});
  return out;
}

Result<std::vector<SetupTask>> setup_tasks(const tuning_db::Store& store, const tuning_db::Hardware& machine,
                                           const SetupPlan& plan) {
  // A recipe on a nest at a size, built for a class: one question, however many machines have answered it.
  using Question = std::tuple<string, string, string, string>;
  const auto question = [](const tuning_db::Summary& s, const string& hardware_class) {
    return Question(s.structural_hash, s.recipe_json, s.size_class, hardware_class);
  };
  TRY(auto all, store.list());
  std::map<Question, Words> answered;
  for (const auto& s : all) answered[question(s, s.hardware_class)].push_back(s.id);
  std::ranges::sort(all, [](const auto& a, const auto& b) {  // the most hopeful answer stands for all
    return a.ratio() != b.ratio() ? a.ratio() > b.ratio() : a.id < b.id;
  });
  std::set<Question> asked;
  std::vector<SetupTask> tasks;
  for (const auto& s : all) {
    const Words flags = setup_flags(s.compiler, s.flags, plan);
    const auto here = question(s, hardware_class(tuning_db::as_built(machine, flags)));
    const auto known = answered.find(here);
    if (!selected(s.name, plan.only) || (known != answered.end() && !plan.again)) continue;
    if (!(s.ratio() > 1) || !asked.insert(here).second) continue;
    TRY(auto entry, store.get(s.id));
    if (!entry) continue;
    const double seconds = expected_seconds(s);
    tasks.push_back({.entry = std::move(*entry),
                     .seconds = seconds,
                     .worth = std::log(s.ratio()) / seconds,
                     .replaces = known == answered.end() ? Words{} : known->second});
  }
  std::ranges::sort(tasks, [](const SetupTask& a, const SetupTask& b) {
    return a.worth != b.worth ? a.worth > b.worth : entry_id(a.entry) < entry_id(b.entry);
  });
  return tasks;
}

Result<SetupRun> run_setup(tuning_db::Store& store, const std::vector<SetupTask>& tasks, double budget_seconds,
                           const std::atomic<bool>& stop, const SetupMeasure& measure, const SetupProgress& progress,
                           const std::function<double()>& clock) {
  SetupRun result;
  const double start = clock();
  for (std::size_t k = 0; k < tasks.size(); ++k) {
    const double left = budget_seconds - (clock() - start);
    if (stop || (budget_seconds > 0 && tasks[k].seconds > left)) {
      ++result.left;
      continue;
    }
    progress(k, tasks[k], nullptr);
    const auto outcome = measure(tasks[k].entry);
    if (!outcome && stop) {
      ++result.left;
      continue;
    }
    progress(k, tasks[k], &outcome);
    if (!outcome) {
      ++result.failed;
      continue;
    }
    std::set<string> fresh;
    for (const Entry& entry : *outcome) {
      TRY_VOID(store.add(entry));
      fresh.insert(entry_id(entry));
    }
    for (const string& id : tasks[k].replaces)
      if (!fresh.contains(id)) TRY_VOID(store.remove(id));
    ++result.measured;
    const bool faster = std::any_of(outcome->begin(), outcome->end(),
                                    [](const Entry& e) { return e.baseline_seconds > e.tuned_seconds; });
    result.faster += faster ? 1 : 0;
  }
  return result;
}

Result<Entries> measure_here(const Entry& entry, const Words& flags, const std::atomic<bool>& stop) {
  const SetupProgram program = setup_program(entry.name);
  if (!program.file.empty()) {
    auto measured = in_its_program(entry, program, flags, stop);
    const string failed = measured ? "" : measured.error().code;
    const bool absent = failed == "add.no-nest" || failed == "add.no-unit" || failed == "add.not-run";
    const bool another_program = measured ? !answers(*measured, entry) : absent;
    if (!another_program) return with_thresholds(std::move(measured), entry);
  }
  return measure_nest(entry, flags, stop, {});
}

Result<Entries> measure_nest(const Entry& entry, const Words& flags, const std::atomic<bool>& stop,
                             const NestTrial& trial) {
  return with_thresholds(from_its_nest(entry, flags, stop, trial), entry);
}

}  // namespace sous::client
