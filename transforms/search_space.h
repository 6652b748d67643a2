// The search space of a step in a nest: the calls that its declaration allows there. Tuners enumerate, sample and
// mutate it, property tests draw from it; no step is known by name.
//
// A call of the space parses, validates and passes check_values and check_loops; whether its step is legal is decided
// as for every other call, by `plan_of`. Numbers come from the parameters' `values`, from `expressions` where the
// context's hardware gives them a value of the domain. What has a default is left out instead of set to it: no two
// calls of a space say the same. (An expression says something else than its value: it carries over to other machines.)
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "transforms/step.h"

namespace sous::transforms {

class SearchSpace {
 public:
  // `step` lives longer than the space.
  SearchSpace(const StepInfo& step, const sdfg::ScheduleTree& tree, const StepContext& context);

  // At most `limit` calls, cheap ones first: by how far down their values stand in the declared lists, summed.
  std::vector<StepCall> enumerate(std::size_t limit) const;
  // A random one; nullopt if there is none, or too few of the values go together. `random` is advanced (splitmix64), by
  // the same numbers everywhere.
  std::optional<StepCall> sample(std::uint64_t& random) const;
  // The call with one thing changed: a value, a choice, or the loops. Its other values stay, of the space or not (a
  // person's 240); loops that do not fit this nest are always what changes. nullopt if it is not valid for the step, or
  // nothing else was found.
  std::optional<StepCall> mutate(const StepCall& call, std::uint64_t& random) const;

 private:
  using Placement = std::map<std::string, ParamValue>;                    // which loops the parameters name
  using Value = std::variant<std::monostate, std::int64_t, std::string>;  // of one slot; nothing: left out
  // One value to be chosen: a parameter's, or that of one place in its list.
  struct Slot {
    const ParamInfo* param;
    std::size_t at = 0;
    const std::vector<Value>* values = nullptr;
  };

  std::vector<Slot> slots_of(const Placement& placement) const;
  StepCall call_of(const Placement& placement, const std::vector<Slot>& slots, const std::vector<Value>& values) const;
  bool fits(const StepCall& call) const { return validate(call) && check_values(*step_, call, context_); }
  void enumerate_rank(const Placement& placement, std::size_t rank, std::size_t limit,
                      std::vector<StepCall>& calls) const;

  const StepInfo* step_;
  StepContext context_;
  std::vector<Placement> placements_;
  std::vector<std::vector<Value>> values_;  // parallel to the step's parameters; of loops none
};

}  // namespace sous::transforms
