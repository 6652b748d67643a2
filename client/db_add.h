// `sous db add FILE.c --recipe R.json [-- compiler flags]`: measures a recipe in the user's own program.
//
// The program is built with each lifted nest between two looks at the clock, as it is, and once more for each unit that
// the recipe applies to and that does a fair part of its nest's work: with the recipe there and nowhere else. They run
// in turns (A B C A B C …); median seconds per call and their spread become the unit's entry. A unit that is one of
// several is compared with itself in a program where its nest is in normal form, the clock stopped while the others
// run, both times: nothing is apportioned.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "client/measure.h"
#include "client/options.h"
#include "tuning-db/entry.h"

namespace sous::client {

struct AddOptions {
  Pace pace = {};
  std::optional<transforms::Recipe> recipe = {};  // instead of --recipe
  std::string provenance = "sous db add";
};

// A program with the recipe that is stopped at the pace's limit counts as one that took as long; the provenance says
// so. `flags`: of the compiler; its first word may be the compiler itself (default: clang-19, -O3 -march=native).
// Errors: add.no-nest, add.no-unit (the recipe applies to none; with the refusal), add.build, add.run (with status),
// add.not-run (a nest was never reached), and those of the pipeline.
Result<std::vector<tuning_db::Entry>> measure_entries(const std::string& file, const std::vector<std::string>& flags,
                                                      const Options& options, const AddOptions& more);

}  // namespace sous::client
