// What one loop of a schedule tree carries, breaks and covers, in isl's terms: what the dependences say of a tree is
// put together from this. Internal to sdfg/.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sdfg/dependence_data.h"
#include "sdfg/times.h"

namespace sous::sdfg {

// The dependence between times, without the pairs that the privates and reductions of the tree's loops remove, nor,
// where the order in time is all that is asked, those between updates that commute. For what one loop carries,
// `carrier`, only its own reductions count: the partial results of a loop around it are one for all of its iterations.
IslMap effective(const Dependences::Data& data, const Times& times, std::size_t k,
                 const Times::LoopTime* carrier = nullptr);

// Whether, for `carrier`, there may be such pairs: where not, that is times.dependence_on_time.
bool excuses(const Dependences::Data& data, const Times& times, const Dependence& d, const Times::LoopTime& carrier);

// Whether a legal tree may run targets of the dependence before their sources: between updates that commute, and inside
// loops that reduce into what both update.
bool may_be_exchanged(const Dependences::Data& data, std::size_t k);

// Of a dependence's pairs those of times that the loop carries: equal before its dimension, different in it. Of what
// may be exchanged, whichever of the two is first: updates that may change places must not run at the same time.
IslMap carried_pairs(const Dependences::Data& data, const Times& times, const Times::LoopTime& l, std::size_t k,
                     const IslMap& pairs);

// Pairs of times that lockstep execution of the loop in groups of `lanes` (0: any number) puts in the wrong order: in
// one group, and the second not after the first in the body.
IslMap broken_by_lockstep(const Dependences::Data& data, const Scop& scop, const Times& times, const Times::LoopTime& l,
                          int lanes, std::size_t k, const IslMap& pairs);

// The accesses that are made inside the loop.
IslMap inside(const Access& access, const Times& times, const Times::LoopTime& l);

// What the access reads inside the loop, but for elements written before in the same iteration.
IslMap not_own(const Access& read, const Dependences::Data& data, const Times& times, const Times::LoopTime& l);

// Every read of `container` inside the loop is of an element written before in the same iteration.
Result<bool> reads_own_values(const Dependences::Data& data, const Times& times, const Times::LoopTime& l,
                              const std::string& container);

// That, and nothing outside the loop touches the container.
Result<bool> covered(const Dependences::Data& data, const Times& times, const Times::LoopTime& l,
                     const std::string& container);

// The same of a loop of `tree`; answers are kept.
Result<bool> covered(const Dependences& dependences, const Scop& scop, const ScheduleTree& tree,
                     const std::string& symbol, const std::string& container);

std::string describe(const Dependence& d, const Scop& scop);

// What source and target of the dependence both are on its container: null where they are not the same update.
const Reduction* same_update(const Dependences::Data& data, const Dependence& d);

// Whether the dependences of all statements below the tree are known.
bool known_in(const Dependences::Data& data, const ScheduleTree& tree);
std::unexpected<Error> out_of_scope();

}  // namespace sous::sdfg
