// Options that name something, and what --recipe and --size were to do and did not.
#include <algorithm>

#include "client/explain.h"
#include "client/pipeline.h"
#include "client/say_once.h"
#include "targets/target.h"
#include "tuning-db/hardware.h"

namespace sous::client {

using std::string;

Result<void> check_names(const Options& options) {
  static const std::vector<string> passes{"lift", "normalize", "apply"};
  if (!options.dump_after.empty() && std::find(passes.begin(), passes.end(), options.dump_after) == passes.end()) {
    return fail("cli.value", "--dump-after takes lift, normalize or apply, not " + options.dump_after +
                                 did_you_mean(options.dump_after, passes));
  }
  if (!options.target.empty() && targets::find_target(options.target) == nullptr) {
    return fail("cli.value", "there is no target " + options.target + did_you_mean(options.target, target_names()));
  }
  if (!options.isa.empty() && !tuning_db::parse_isa(options.isa))
    return fail("cli.value", "--isa takes sse, avx2 or avx512, not " + options.isa);
  return {};
}

void warn_of_options(const Outcome& outcome, const Options& options) {
  const Report& report = outcome.report;
  const auto units = [](const NestReport& nest) {
    return nest.units.size() < 2 ? string("1 unit (--unit 0)")
                                 : std::to_string(nest.units.size() - 1) + " nests (--unit 1 to " +
                                       std::to_string(nest.units.size() - 1) + "; 0 is the whole)";
  };
  if (!options.recipe.empty() && outcome.served.empty() && !report.nests.empty()) {
    const NestReport& hottest = report.nests[hottest_first(report).front()];
    warn(report.file + ": the recipe fits no nest; the hottest, line " + std::to_string(hottest.line) + " in " +
         hottest.function + " with " + units(hottest) + ": " + hottest.why);
  }
  if (options.sizes.empty() || outcome.unknown_sizes.empty()) return;
  const std::vector<string> known(outcome.unknown_sizes.begin(), outcome.unknown_sizes.end());
  string missing, list;
  for (const auto& [name, value] : options.sizes) {
    if (outcome.unknown_sizes.contains(name)) return;  // at least one is of this file
    missing += (missing.empty() ? "" : ", ") + name + did_you_mean(name, known);
  }
  for (const auto& name : known) list += (list.empty() ? "" : ", ") + name;
  warn(report.file + ": --size: no nest has " + missing + " (sizes here: " + list + ")");
}

}  // namespace sous::client
