#include "client/promise.h"

#include <algorithm>

#include "sdfg/planted_fault.h"
#include "tuning-db/belief.h"

namespace sous::client {

using transforms::Match;

namespace {

// 1 for the same nest, 0 at the end of its evidence's reach.
double nearness(const Match& match) {
  return match.distance == 0 ? 1 : match.reach > 0 ? std::max(0.0, 1 - match.distance / match.reach) : 0;
}

}  // namespace

double promised(const Match& match, double believed) { return std::max(1.0, 1 + (believed - 1) * nearness(match)); }
double promised(const Match& match) { return promised(match, match.believed); }

double least_promised(const Match& match) {
  if (planted(Fault::distance_ignored)) return tuning_db::least_gain;
  return tuning_db::least_gain + 0.5 * std::min(1.0, 3 * (1 - nearness(match)));
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

}  // namespace sous::client
