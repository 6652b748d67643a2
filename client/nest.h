// One lifted nest in the pipeline: its units, what is known about their sizes, and applying recipes to them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "client/meaning.h"
#include "frontends/lifted.h"
#include "transforms/apply.h"
#include "transforms/normal_form.h"
#include "transforms/source.h"
#include "tuning-db/hardware.h"

namespace sous::client {

// A part of a nest that may get a recipe of its own.
struct Unit : transforms::NormalForm::Unit {
  std::size_t index = 0;                              // in its nest, and what --unit calls it
  std::string label;                                  // "nest 2 of 3", "whole"
  std::map<std::string, std::int64_t> sizes;          // of its symbols, where known
  std::vector<transforms::Match> matches;             // what the sources of recipes know, best first
  bool as_written = false;                            // in the program's own order (PreparedNest::written)
  std::map<std::string, std::int64_t> greatest = {};  // what its symbols are at most, by greatest_declared (sized.h)

  // Whether other units of the nest run beside it: not so of the whole.
  bool one_of_several() const { return index > 0 && !as_written; }
  transforms::NestQuery query() const { return {nest, structural_hash, sizes}; }
};

struct PreparedNest {
  const frontends::LiftedNest* lifted = nullptr;
  sdfg::Sdfg normal;             // form
  std::vector<std::string> log;  // of what led to it
  std::vector<Unit> units;       // first the whole, if it has more than one nest
  // The whole in the program's own order, numbered as if it stood behind `units`, and what it is cut out of. Nullopt:
  // the normal form is in that order, too.
  std::optional<Unit> written = {};
  sdfg::Sdfg written_form = {};
  std::map<std::string, std::int64_t> sizes;          // by symbol of `normal`, where known
  std::map<std::string, std::int64_t> greatest = {};  // and what others are at most, by greatest_declared
  Meaning meaning = {};                               // `reassociate`: by flags, an option or the nest's own pragma
  tuning_db::Hardware hardware;                       // this machine as the build uses it: sizes in recipes

  const Unit& unit(std::size_t index) const { return index < units.size() ? units[index] : written.value(); }
  // Whether a lock file decides what becomes of it.
  bool pinned() const;
  const sdfg::Sdfg& form_of(const Unit& unit) const { return unit.as_written ? written_form : normal; }
};

// `meaning`: by the flags; the nest's own pragmas are added. `sizes`: of symbols that the program does not tell.
Result<PreparedNest> prepare(const frontends::LiftedNest& lifted, const Meaning& meaning,
                             const std::map<std::string, std::int64_t>& sizes,
                             const tuning_db::Hardware& hardware = tuning_db::local_hardware());

// Gives the units the nest's sizes.
void set_unit_sizes(PreparedNest& nest);

// "kernel", "12" or "kernel:12": a function, a line. Empty: every nest.
bool selected(const frontends::LiftedNest& nest, const std::string& selector);

// A recipe for one unit, and the unit with it applied: legality is proven once.
struct Choice {
  std::size_t unit = 0;
  transforms::Match match;  // recipe as applied: roles matched, target forced
  sdfg::Sdfg applied = {};  // set by apply_choice
};

// How recipes are applied to the nest, on this machine.
transforms::ApplyOptions apply_options(const PreparedNest& nest);

// Applies the recipe to the unit. `steps`: what each step did. Errors: a step's refusal (where: the step).
Result<void> apply_choice(const PreparedNest& nest, Choice& choice, std::vector<std::string>* steps);

// The nest with the applied units of `choices` (disjoint) in the place of its own. Errors: sdfg.* (never expected: the
// result is checked).
// `conditions`: none, or one for each choice, of which each is a part of several: where it does not hold, the unit runs
// as it was.
Result<sdfg::Sdfg> assemble(const PreparedNest& nest, const std::vector<Choice>& choices,
                            const std::vector<sdfg::Condition>& conditions = {});

// Executions of the unit's statements; where sizes are not known every one counts 1024, so that the units of a nest
// can be compared.
double unit_work(const Unit& unit);
bool sizes_known(const Unit& unit);
// "4^11:8", "unknown:8" (tuning-db/size_class.h)
std::string size_class_of(const Unit& unit);
// What recipes call the unit's loops, and what the program calls them: "i0 = i, i1 = j, i2". Loops that the program has
// no name for stand alone.
std::string loop_names(const Unit& unit);
// The line of the user's text for a loop of the normal form, if it is known: fission makes copies of a loop, "i_2" of
// "i".
std::optional<int> line_of_loop(const frontends::LiftedNest& lifted, const std::string& symbol);

}  // namespace sous::client
