#include "client/work.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "client/compile.h"
#include "client/measure.h"
#include "client/nest.h"
#include "client/process.h"
#include "client/report.h"
#include "client/setup.h"
#include "client/tune.h"
#include "tuning-db/build_isa.h"
#include "tuning-db/json_reader.h"

namespace sous::client {
namespace {

using std::string;
using tuning_db::dump;
using tuning_db::JobOutcome;
using tuning_db::Json;
using tuning_db::ObjectReader;
using Words = std::vector<string>;

constexpr std::size_t most_entries = 4;

string short_hash(const string& hash) { return hash.substr(0, 8); }

Worked failed(Error error) {
  return {.outcome = JobOutcome::failed, .entries = {}, .error = std::move(error), .said = {}};
}

// "3.20 times as fast (0.1 s, 0.03 s), pack, 2 threads"
string gain(const tuning_db::Entry& entry) {
  char text[128];
  std::snprintf(text, sizeof text, "%.2f times as fast (%.3g s, %.3g s), %d thread%s",
                entry.baseline_seconds / entry.tuned_seconds, entry.baseline_seconds, entry.tuned_seconds,
                entry.threads, entry.threads == 1 ? "" : "s");
  return text;
}

string counted(int candidates) { return std::to_string(candidates) + (candidates == 1 ? " candidate" : " candidates"); }

// The unit that is the wanted nest, and not a part of it or another form.
Result<std::size_t> unit_of(const PreparedNest& nest, const string& structural_hash) {
  for (const Unit& unit : nest.units)
    if (unit.structural_hash == structural_hash) return unit.index;
  return fail("work.nest", "the nest is not the same in this version's normal form");
}

Result<Worked> tuned(const server::LeasedJob& job, const WorkOptions& options, const AskKnown& ask) {
  const auto& wanted = *job.wanted;
  const auto machine = tuning_db::local_hardware();
  TRY(const Meaning meaning, meaning_of(options.compiler, flags_for(job.build.isa, machine), wanted.reassociate));
  const auto lifted = frontends::lifted_from(wanted.nest, wanted.sizes);
  TRY(const PreparedNest nest, prepare(lifted, meaning, {}, tuning_db::as_built(machine, meaning.cpp_code)));
  TRY(const std::size_t unit, unit_of(nest, wanted.structural_hash));
  TRY(const TunedUnit found,
      tune_unit(
          nest, unit, ask(nest.units[unit].query(), nest.hardware),
          {.seconds_per_nest = options.seconds, .stop = options.stop, .inputs = Inputs::Strangers, .progress = {}}));
  const auto& result = found.tuned;
  Worked worked{.outcome = JobOutcome::nothing, .entries = {}, .said = counted(result.measured)};
  if (!result.best && result.failed > 0 && result.failed >= result.measured)
    return fail("work.candidates", "no candidate could be measured: " + result.first_failure);
  if (!result.best || result.evidence.ratio() < least_worked) {
    worked.said = "nothing is faster; " + worked.said;
    return worked;
  }
  Choice choice{.unit = unit, .match = {}, .applied = {}};
  choice.match.recipe = result.best->recipe;
  worked.outcome = JobOutcome::found;
  worked.entries = {entry_of(found.sized, choice, result.evidence,
                             "wanted-" + short_hash(wanted.structural_hash) + "#" + std::to_string(unit),
                             "sous work, " + result.best->from)};
  worked.said = gain(worked.entries[0]) + ", " + result.best->from + "; " + worked.said;
  return worked;
}

// A claim's own compiler, if it is here, and those of its flags that are no matter of the instruction set.
Words flags_of_claim(const tuning_db::Entry& claim, const tuning_db::JobBuild& build, const string& compiler) {
  Words flags = setup_flags(claim.compiler, claim.flags, {});
  if (program_path(flags[0]).find('/') == string::npos) flags[0] = compiler;
  std::erase_if(flags, [](const string& word) { return word.starts_with("-m"); });
  for (const string& word : flags_for(build.isa, tuning_db::local_hardware()))
    if (word.starts_with("-m")) flags.push_back(word);
  return flags;
}

Result<Worked> measured(const server::LeasedJob& job, const WorkOptions& options) {
  const auto& claim = *job.entry;
  const Words flags = flags_of_claim(claim, job.build, options.compiler);
  static const std::atomic<bool> never = false;
  const auto& stop = options.stop != nullptr ? *options.stop : never;
  NestTrial trial{.inputs = Inputs::Strangers, .by = "sous work"};
  auto entries = measure_nest(claim, flags, stop, trial);
  // What the program's own pragmas gave leave for, flags do not say.
  if (!entries && !stop) {
    trial.reassociate = true;
    if (auto with_leave = measure_nest(claim, flags, stop, trial)) entries = std::move(with_leave);
  }
  if (!entries) return std::unexpected(entries.error());
  Worked worked{.outcome = JobOutcome::found, .entries = std::move(*entries), .said = {}};
  char text[64];
  const bool is_own =
      tuning_db::class_as_built(tuning_db::hardware_class(claim.hardware), claim.flags) == job.hardware_class;
  std::snprintf(text, sizeof text, "; %s: %.2f", is_own ? "claimed" : "elsewhere",
                claim.baseline_seconds / claim.tuned_seconds);
  worked.said = gain(worked.entries[0]) + text;
  return worked;
}

}  // namespace

Words flags_for(tuning_db::Isa isa, const tuning_db::Hardware& machine) {
  Words flags{"-O3"};
  if (isa == machine.isa) {
    flags.emplace_back("-march=native");
  } else if (isa == tuning_db::Isa::avx2) {
    flags.emplace_back("-march=x86-64-v3");
  }
  return flags;
}

Worked work_on(const server::LeasedJob& job, const WorkOptions& options, const AskKnown& ask) {
  auto worked = job.wanted ? tuned(job, options, ask) : measured(job, options);
  const bool stopped = options.stop != nullptr && options.stop->load();
  if (stopped && !(worked && worked->outcome == JobOutcome::found))
    return {.outcome = JobOutcome::returned, .entries = {}, .said = "given back"};
  if (worked) return std::move(*worked);
  if (worked.error().code == "tune.nothing")
    return {.outcome = JobOutcome::nothing, .entries = {}, .said = worked.error().why};
  return failed(std::move(worked).error());
}

string in_words(const server::LeasedJob& job) {
  const string what = job.wanted ? "tune " + short_hash(job.wanted->structural_hash)
                                 : "measure " + short_hash(job.entry->structural_hash) + " (" + job.entry->name + ")";
  return what + " for " + job.hardware_class;
}

string to_json(const Worked& worked) {
  Json entries = Json::array();
  for (const auto& entry : worked.entries) entries.push_back(Json::parse(tuning_db::to_json(entry), nullptr, false));
  return dump(Json{{"outcome", to_string(worked.outcome)},
                   {"entries", std::move(entries)},
                   {"code", worked.error.code},
                   {"why", worked.error.code.empty() ? "" : worked.error.to_string()},
                   {"said", worked.said}});
}

Result<Worked> worked_from_json(std::string_view text) {
  TRY(const Json json, tuning_db::parse_json(text, "work"));
  TRY(auto in, ObjectReader::of(json, "work", ""));
  Worked worked;
  TRY(const string outcome, in.line("outcome", 16));
  const auto known = tuning_db::parse_job_outcome(outcome);
  if (!known) return in.refuse("\"outcome\" is none");
  worked.outcome = *known;
  TRY(const Json* entries, in.array("entries", most_entries));
  for (const Json& one : *entries) {
    TRY(auto entry, tuning_db::entry_from_json(dump(one)));
    worked.entries.push_back(std::move(entry));
  }
  TRY(worked.error.code, in.line("code", 128));
  TRY(string why, in.string("why", 1 << 16));
  worked.error.why = tuning_db::as_one_line(std::move(why));
  TRY(string said, in.string("said"));
  worked.said = tuning_db::as_one_line(std::move(said));
  TRY_VOID(in.done());
  return worked;
}

}  // namespace sous::client
