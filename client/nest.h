// One lifted nest in the pipeline: its units, what is known about their sizes, and applying recipes to them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "client/options.h"
#include "frontends/lifted.h"
#include "transforms/normal_form.h"
#include "transforms/source.h"
#include "tuning-db/hardware.h"

namespace sous::client {

struct Nest {
  const frontends::LiftedNest* lifted = nullptr;
  transforms::NormalForm normal;
  std::map<std::string, std::int64_t> sizes;   // by symbol of `normal.sdfg`, where known
  std::vector<transforms::NestQuery> queries;  // parallel to normal.units
  tuning_db::Hardware hardware;                // this machine as the build uses it: sizes in recipes
};

// `reassociate`: by the flags; the nest's own pragmas are added.
Result<Nest> prepare(const frontends::LiftedNest& lifted, bool reassociate, const Options& options,
                     const tuning_db::Hardware& hardware = tuning_db::local_hardware());

// Fills `queries` anew from `sizes`.
void set_query_sizes(Nest& nest);

// A recipe for one unit, and the unit with it applied: legality is proven once.
struct Choice {
  std::size_t unit = 0;
  transforms::Match match;  // recipe as applied: roles matched, target forced
  sdfg::Sdfg applied = {};  // set by apply_choice
};

// Applies the recipe to the unit. `steps`: what each step did. Errors: a step's refusal (where: the step).
Result<void> apply_choice(const Nest& nest, Choice& choice, bool reassociate, std::vector<std::string>* steps);

// The nest with the applied units of `choices` (disjoint) in the place of its own. Errors: sdfg.* (never expected: the
// result is checked).
Result<sdfg::Sdfg> assemble(const Nest& nest, const std::vector<Choice>& choices);

// Executions of the unit's statements; where sizes are not known every one counts 1024, so that the units of a nest
// can be compared.
double unit_work(const Nest& nest, std::size_t unit);
bool sizes_known(const Nest& nest, std::size_t unit);
// "nest 2 of 3", "whole"
std::string unit_label(const Nest& nest, std::size_t unit);
// What recipes call the unit's loops, and what the program calls them: "i0 = i, i1 = j, i2". Loops that the program has
// no name for stand alone.
std::string loop_names(const Nest& nest, std::size_t unit);
// The line of the user's text for a loop of the normal form, if it is known: fission makes copies of a loop, "i_2" of
// "i".
std::optional<int> line_of_loop(const frontends::LiftedNest& lifted, const std::string& symbol);
// Whether unit 0 spans several others.
bool has_whole(const Nest& nest);

}  // namespace sous::client
