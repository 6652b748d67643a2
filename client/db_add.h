// `sous db add FILE.c --recipe R.json [-- compiler flags]`: measures a recipe in the user's own program.
//
// The program is built twice, each lifted nest between two looks at the clock: once as it is, once with the recipe
// wherever it applies. Both run in turns (A B A B …). Each nest's median seconds per call and their spread become an
// entry for every unit that the recipe was applied to and that does a fair part of the nest's work; units that share a
// nest share its time by their work.
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

// A program with the recipe that is stopped at the pace's limit counts as one that took as long.
// `flags`: of the compiler; its first word may be the compiler itself (default: clang-19, -O3 -march=native).
// Errors: add.no-nest, add.no-unit (the recipe applies to none; with the refusal), add.build, add.run (with status),
// add.not-run (a nest was never reached), and those of the pipeline.
Result<std::vector<tuning_db::Entry>> measure_entries(const std::string& file, const std::vector<std::string>& flags,
                                                      const Options& options, const AddOptions& more);

}  // namespace sous::client
