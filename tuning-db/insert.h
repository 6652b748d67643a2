// Entries on their way into the database: read, checked, hashed and embedded first, so that the transaction that puts
// them there, for whose end all others who write wait, does nothing else.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tuning-db/connection.h"
#include "tuning-db/entry.h"
#include "tuning-db/features.h"
#include "tuning-db/store.h"

namespace sous::tuning_db {

struct Embedded {
  NestKey key;
  std::string isa;
  FeatureVector vector;
};

// An entry as rows.
struct Prepared {
  std::string id, name, nest_id, structural_hash, sizeless, nest, hardware_id, hardware_class, hardware, size_class,
      sizes, recipe, target, compiler, flags, provenance, time, least;
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

// Whose an entry is: of who has the file; of the seeds, with which it goes when others come; or sent by a client, which
// needs a second witness to serve everyone (tuning-db/confirm.h).
enum class Standing { own, seeded, sent };

// Inside a transaction. Whether it was added; false: it was there already. What was sent becomes the file's own when it
// is inserted as such.
Result<bool> insert(Connection& db, const Prepared& entry, const Embedding& embedding, Standing standing);
Result<ImportResult> insert(Connection& db, const std::vector<Prepared>& entries, const Embedding& embedding,
                            Standing standing);
// Whoever changes entries says so, in the same transaction: Store::generation.
Result<void> note_change(Connection& db);
// The hash of a nest in canonical names without its sizes (transforms/sizeless.h), as the database keeps it: with the
// version of what it is a hash of.
std::string kept_sizeless(const sdfg::Sdfg& nest);
// Of nests that came before there was one, or of another version. In transactions of its own, if there are any. Where
// nothing can be written, these are found by their structural hash alone.
Result<void> derive_sizeless(Connection& db);
Result<void> insert_vector(Connection& db, const std::string& id, const Embedded& embedded, const Embedding& embedding);

}  // namespace sous::tuning_db
