// Entries on their way into the database: read, checked, hashed and embedded first, so that the transaction that puts
// them there, for whose end all others who write wait, does nothing else.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tuning-db/entry.h"
#include "tuning-db/features.h"
#include "tuning-db/sqlite.h"
#include "tuning-db/store.h"

namespace sous::tuning_db {

struct Embedded {
  NestKey key;
  std::string isa;
  FeatureVector vector;
};

// An entry as rows.
struct Prepared {
  std::string id, name, nest_id, structural_hash, nest, hardware_id, hardware_class, hardware, size_class, sizes,
      recipe, target, compiler, flags, provenance, time, least;
  double baseline_seconds = 0, baseline_spread = 0, tuned_seconds = 0, tuned_spread = 0;
  int threads = 1;
  std::optional<Embedded> embedded;
};

// Nullopt: the embedding cannot take it. Its nest's hash finds it.
std::optional<Embedded> embedded(const Entry& entry, const Embedding& embedding);
Prepared prepare(const Entry& entry, const Embedding& embedding);
// JSON lines. Error: db.import.
Result<std::vector<Prepared>> prepare_lines(std::string_view lines, const std::string& origin,
                                            const Embedding& embedding);

// Inside a transaction. `seeded`: it goes when other seeds come. Whether it was added; false: it was there already.
Result<bool> insert(sqlite3* db, const Prepared& entry, const Embedding& embedding, bool seeded);
Result<ImportResult> insert(sqlite3* db, const std::vector<Prepared>& entries, const Embedding& embedding, bool seeded);
Result<void> insert_vector(sqlite3* db, const std::string& id, const Embedded& embedded, const Embedding& embedding);

}  // namespace sous::tuning_db
