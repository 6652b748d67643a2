#include "client/promise.h"

#include <algorithm>

#include "sdfg/planted_fault.h"
#include "tuning-db/belief.h"

namespace sous::client {

using std::string;

namespace {

constexpr double neighbours_least = 2;  // times as long as the least that was measured

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

}  // namespace

double promised(const transforms::Match& match) {
  return tuning_db::promised(match.believed, match.distance, match.reach);
}

double promised(const Nest& nest, const std::vector<Choice>& choices) {
  double before = 0, after = 0;
  for (const Unit& unit : nest.units) {
    if (unit.one_of_several()) before += unit_work(unit);
  }
  after = before;
  for (const Choice& choice : choices) after -= unit_work(nest.units[choice.unit]) * (1 - 1 / promised(choice.match));
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

}  // namespace sous::client
