// What evidence for one nest promises for another one.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "client/nest.h"
#include "targets/target.h"
#include "transforms/strategies/strategy.h"
#include "tuning-db/shape.h"

namespace sous::client {

// The speed-up that the evidence promises (tuning-db/belief.h), by what the build believes of it.
double promised(const transforms::Match& match);
// What recipes of some units promise for the nest, the others as they are (Amdahl, by their work).
double promised(const PreparedNest& nest, const std::vector<Choice>& choices);

// Whether it is the recipe of a strategy that is so.
bool is_by_strategy(const transforms::Match& match, bool transforms::StrategyInfo::* property);

// "" or why the measurement is no evidence. `size_class`: of the asking unit; "unknown:…" is guarded at run time.
std::string not_evidence(const transforms::Match& match, const std::string& size_class, const std::string& hardware);

// The shape from which on the match's recipe gains, as its evidence says, on this machine.
tuning_db::LeastShape least_shape(const sdfg::Sdfg& unit, const transforms::Match& match);
// What the entry asks for before it runs the match's recipe, which names loops of `unit`, where sizes are not known
// now. `original`: the unit, in the names of what is emitted.
targets::Guard guard_of(const sdfg::Sdfg& unit, sdfg::Region original, const transforms::Match& match);

// A neighbour's measurement as one of this nest. `theirs`, `here`: the loops of both in preorder; `matched`: which of
// theirs is which here. A loop without a counterpart is to be as long as the shortest; and where the least that gains
// was measured, each loop longer than there by a factor: this is another nest.
transforms::Evidence for_another_nest(const transforms::Evidence& evidence, const std::vector<std::string>& theirs,
                                      const std::vector<std::string>& here,
                                      const std::map<std::string, std::string>& matched);

// Whether threads of a recipe with such evidence save the unit, at sizes that are known, as much as a start of them
// costs. True of a recipe without any.
bool threads_pay(const Unit& unit, const transforms::Evidence& evidence);
// The unit's matches in the order in which they are judged: what is left of one without threads that do not pay may be
// less than what another gains on one.
std::vector<const transforms::Match*> as_they_count(const Unit& unit);
transforms::Recipe without_threads(transforms::Recipe recipe);
// What was measured, as it counts for this unit, in this build. `doubts`: what takes from it, in words; else empty.
struct Here {
  transforms::Match match;
  std::string doubts;
};
// Without threads that do not pay: what they gain is taken to be shared out evenly, which is the least that is left on
// one. Where sums may be reordered, but were not where it was measured, the compiler itself fills `lanes` with what the
// program waits for, and the recipe gains so much less: shapes have to be larger than the least that gained there.
Here as_it_counts(const Unit& unit, transforms::Match match, double lanes);

// The match with its loops named as in the unit and, unless it is empty, its target forced. Errors: roles.no-match,
// target.mixed (it is for a GPU, or for none, and the other is asked for), target.unknown.
Result<transforms::Match> fitted(const Unit& unit, const transforms::Match& match, const std::string& target,
                                 bool cpu_only);

}  // namespace sous::client
