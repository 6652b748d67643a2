// One measured fact of the tuning database: this recipe on this nest at this size on this machine.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sdfg/sdfg.h"
#include "transforms/recipe.h"
#include "transforms/source.h"
#include "tuning-db/hardware.h"

namespace sous::tuning_db {

struct Entry {
  std::string name;                           // what it was measured on: "gemm#1"
  sdfg::Sdfg nest;                            // normal form
  std::string structural_hash;                // of `nest`
  std::map<std::string, std::int64_t> sizes;  // values of the nest's symbols at which it was measured
  transforms::Recipe recipe;
  Hardware hardware;
  double baseline_seconds = 0, baseline_spread = 0;  // medians; half the interquartile range relative to the median
  double tuned_seconds = 0, tuned_spread = 0;
  int threads = 1;
  // Measured thresholds (transforms/source.h); without extents: none.
  std::vector<double> least_extents;
  double least_work = 0;
  std::string compiler;    // "clang-19"
  std::string flags;       // "-O3 -march=native"
  std::string provenance;  // who measured, how: "sous db add", "seed"
  std::string time;        // UTC, "2026-01-31T12:00:00Z"
  bool operator==(const Entry&) const = default;
};

inline constexpr int entry_schema = 1;

// What a measurement may say, wherever it comes from: finite numbers in sensible ranges, texts of one line and of
// sensible length. (The nest and the recipe have checks of their own.) Error: entry.field.
Result<void> check(const Entry& entry);

// The hash of the entry's content: equal entries have equal ids in every database, so that importing twice adds once.
std::string entry_id(const Entry& entry);

// One line, keys sorted, "id" and "schema" included; doubles survive exactly.
std::string to_json(const Entry& entry);
// Checks the nest, the recipe and the id. Errors: entry.json, entry.budget, entry.field, entry.schema, entry.id (the
// content is not what its id says), entry.hash (the structural hash is not the nest's); those of the nest and recipe.
Result<Entry> entry_from_json(std::string_view json);

transforms::Evidence evidence(const Entry& entry);

}  // namespace sous::tuning_db
