#include "client/promise.h"

#include <algorithm>
#include <cmath>

#include "client/command_line.h"
#include "client/report.h"
#include "sdfg/planted_fault.h"
#include "transforms/roles.h"
#include "transforms/sizeless.h"
#include "tuning-db/belief.h"
#include "tuning-db/size_class.h"

namespace sous::client {

using std::string;

namespace {

constexpr double neighbours_least = 2;  // times as long as the least that was measured
// Seconds on one thread: as long as a start of sixteen takes (docs/decisions/039), once in a program; two start in a
// fifth of it, and save half.
constexpr double least_for_threads = 0.5e-3;
// What the least that was measured to gain gained (docs/benchmarks.md).
constexpr double gain_of_least = 1.2;

// What is known of each loop of a neighbour, for the loops here: that of their counterparts; `otherwise` of a loop that
// has none.
std::vector<double> for_loops_here(const std::vector<double>& known, const std::vector<string>& theirs,
                                   const std::vector<string>& here, const std::map<string, string>& matched,
                                   double otherwise) {
  if (known.size() != theirs.size()) return {};
  std::map<string, double> of;
  for (std::size_t k = 0; k < theirs.size(); ++k)
    if (const auto found = matched.find(theirs[k]); found != matched.end()) of[found->second] = known[k];
  std::vector<double> out;
  for (const string& loop : here) {
    const auto at = of.find(loop);
    out.push_back(at != of.end() ? at->second : otherwise);
  }
  return out;
}

// Asks for shapes that gain `times` as much as the least that was measured to gain: from that to what was measured, the
// logarithm of the gain is taken to grow as those of the extents and of the work do.
void ask_for_more(transforms::Evidence& e, double times) {
  if (planted(Fault::thresholds_as_they_are)) return;
  const double grows = std::log(e.ratio() / gain_of_least);
  const double share = grows > 0 ? std::min(1.0, std::log(times) / grows) : 1;
  const auto between = [&](double least, double measured) {
    return least > 0 && measured > least ? std::ceil(least * std::pow(measured / least, share)) : least;
  };
  for (std::size_t k = 0; k < std::min(e.least_extents.size(), e.extents.size()); ++k)
    e.least_extents[k] = between(e.least_extents[k], e.extents[k]);
  e.least_work = between(e.least_work, e.work);
}

std::vector<string> loop_symbols(const sdfg::Sdfg& nest) {
  std::vector<string> symbols;
  sdfg::visit(nest.root, [&](const sdfg::Node& node) {
    if (const auto* loop = std::get_if<sdfg::Loop>(&node.value)) symbols.push_back(loop->symbol);
  });
  return symbols;
}

}  // namespace

double promised(const transforms::Match& match) {
  return tuning_db::promised(match.believed, match.distance, match.reach);
}

double promised(const PreparedNest& nest, const std::vector<Choice>& choices) {
  double before = 0, after = 0;
  for (const Unit& unit : nest.units) {
    if (unit.one_of_several()) before += unit_work(unit);
  }
  after = before;
  for (const Choice& choice : choices) after -= unit_work(nest.unit(choice.unit)) * (1 - 1 / promised(choice.match));
  return before > 0 ? before / after : 1;
}

transforms::Evidence for_another_nest(const transforms::Evidence& evidence, const std::vector<string>& theirs,
                                      const std::vector<string>& here, const std::map<string, string>& matched) {
  transforms::Evidence e = evidence;
  double shortest = 0, longest = 0;
  for (const double extent : e.extents)
    if (extent > 0) shortest = shortest > 0 ? std::min(shortest, extent) : extent;
  for (const double extent : e.least_extents) longest = std::max(longest, extent);
  e.extents = for_loops_here(e.extents, theirs, here, matched, shortest);
  e.least_extents = for_loops_here(e.least_extents, theirs, here, matched, longest);
  if (planted(Fault::thresholds_as_they_are)) return e;
  for (double& extent : e.least_extents) extent *= neighbours_least;
  e.least_work = std::max(std::min(neighbours_least * e.least_work, e.work), e.least_work);
  return e;
}

bool is_by_strategy(const transforms::Match& match, bool transforms::StrategyInfo::* property) {
  return match.origin == transforms::Origin::Strategy &&
         std::ranges::any_of(transforms::strategies(),
                             [&](const auto* strategy) { return strategy->*property && strategy->name == match.name; });
}

string not_evidence(const transforms::Match& match, const string& size_class, const string& hardware) {
  if (planted(Fault::no_evidence_needed)) return "";
  const auto& e = match.evidence;
  if (!(e.tuned_seconds > 0) || !(e.baseline_seconds > 0)) return "no evidence: never measured";
  if (match.distance > match.reach) return "no evidence: too far away";
  const auto belief = tuning_db::believe(e, hardware);
  if (!(belief.ratio > 0)) {
    return "no evidence on like hardware: measured on " + e.hardware + ", this is " + hardware;
  }
  const auto asked = tuning_db::parse_size_class(size_class);
  const auto measured = tuning_db::parse_size_class(e.size_class);
  const bool speaks = measured && asked && tuning_db::speaks_for(*measured, !e.least_extents.empty(), *asked);
  if (asked && asked->power && !speaks) {
    return "no evidence at this size: measured at " + e.size_class;
  }
  if (e.ratio() <= tuning_db::least_gain) return "not faster: " + speed(e.ratio());
  if (belief.ratio <= least_believed(belief, tuning_db::least_gain))
    return "too little of it is believed: " + in_words(belief, e);
  if (belief.ratio * (1 - e.baseline_spread) <= 1 + e.tuned_spread) {
    return "not faster beyond the spread of the measurements";
  }
  const double promise = tuning_db::promised(belief.ratio, match.distance, match.reach);
  if (promise < tuning_db::least_promised(match.distance, match.reach)) {
    return "too little is promised so far away: " + speed(promise);
  }
  return "";
}

tuning_db::LeastShape least_shape(const sdfg::Sdfg& unit, const transforms::Match& match) {
  static const auto values = tuning_db::size_values(tuning_db::local_hardware());
  return tuning_db::least_shape(unit, match.recipe, match.evidence, values);
}

targets::Guard guard_of(const sdfg::Sdfg& unit, sdfg::Region original, const transforms::Match& match) {
  const auto& e = match.evidence;
  auto least = least_shape(unit, match);
  targets::Guard guard{.original = std::move(original),
                       .least_extents = std::move(least.extents),
                       .least_work = least.work,
                       .saves = 1 - 1 / promised(match)};
  // What a team of threads may cost to start.
  if (e.work > 0 && e.threads > 1) guard.gain = std::max(0.0, e.baseline_seconds - e.tuned_seconds) / e.work;
  return guard;
}

bool threads_pay(const Unit& unit, const transforms::Evidence& e) {
  if (!sizes_known(unit) || e.threads <= 1 || !(e.work > 0)) return true;
  return e.tuned_seconds * e.threads * unit_work(unit) / e.work >= least_for_threads;
}

std::vector<const transforms::Match*> as_they_count(const Unit& unit) {
  std::vector<const transforms::Match*> order;
  for (const auto& match : unit.matches) order.push_back(&match);
  for (std::size_t k = order.size(); k-- > 0;) {
    const transforms::Match& match = *order[k];
    if (match.origin == transforms::Origin::Lock || threads_pay(unit, match.evidence)) continue;
    std::size_t last = k;
    for (std::size_t other = k + 1; other < order.size(); ++other) {
      const auto& e = order[other]->evidence;
      if (order[other]->distance == 0 && e.threads == 1 && e.ratio() > match.evidence.ratio() / match.evidence.threads)
        last = other;
    }
    std::rotate(order.begin() + static_cast<std::ptrdiff_t>(k), order.begin() + static_cast<std::ptrdiff_t>(k) + 1,
                order.begin() + static_cast<std::ptrdiff_t>(last) + 1);
  }
  return order;
}

transforms::Recipe without_threads(transforms::Recipe recipe) {
  std::erase_if(recipe.steps, [](const transforms::StepCall& call) { return call.step == "parallelize"; });
  return recipe;
}

Here as_it_counts(const Unit& unit, transforms::Match match, double lanes) {
  Here here{std::move(match), {}};
  transforms::Evidence& e = here.match.evidence;
  const double measured = e.ratio();
  string why;
  if (!threads_pay(unit, e)) {
    here.match.recipe = without_threads(std::move(here.match.recipe));
    why = "without its " + std::to_string(e.threads) + " threads";
    e.tuned_seconds *= e.threads;
    e.threads = 1;
  }
  if (lanes > 1 && e.tuned_seconds > 0 && !reorders_sums(e.compiler)) {
    why += (why.empty() ? "" : "; ") + string("sums were not reordered there");
    ask_for_more(e, lanes);
    e.baseline_seconds /= lanes;
  }
  if (!why.empty()) here.doubts = "measured " + speed(measured) + ", counted as " + speed(e.ratio()) + " (" + why + ")";
  return here;
}

Result<transforms::Match> fitted(const Unit& unit, const transforms::Match& match, const string& target,
                                 bool cpu_only) {
  transforms::Match out = match;
  const auto& here = unit.nest;
  if (match.origin != transforms::Origin::Lock && !match.nest.root.nodes.empty() && !(match.nest == here)) {
    std::map<string, string> loops;
    TRY(out.recipe, transforms::match_roles(match.recipe, match.nest, here, &loops));
    // Thresholds are of loops and statements, whatever is known of their sizes.
    if (!transforms::differ_in_sizes_alone(match.nest, here)) {
      out.evidence = for_another_nest(match.evidence, loop_symbols(match.nest), loop_symbols(here), loops);
    }
  }
  const targets::Target* own = targets::find_target(out.recipe.target);
  const targets::Target* wanted = targets::find_target(target);
  const bool for_other = wanted != nullptr ? own != nullptr && own->has_gpu() != wanted->has_gpu()
                                           : cpu_only && own != nullptr && own->has_gpu();
  if (for_other) return fail("target.mixed", "the recipe is for " + out.recipe.target);
  if (!target.empty()) out.recipe.target = target;
  if (targets::find_target(out.recipe.target) == nullptr) {
    return fail("target.unknown", "this build has no target " + out.recipe.target);
  }
  out.nest = {};
  return out;
}

}  // namespace sous::client
