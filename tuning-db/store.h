// Where entries are kept: one SQLite file in WAL mode, or a PostgreSQL database that several servers share. Which of
// them it is only their drivers see (tuning-db/connection.h).
//
// Schema 1 (tuning-db/migrations.h has all of them):
//   nests(id, structural_hash, json)      each nest once; since schema 8 with its sizeless hash, which is derived data
//   hardware(id, class, json)             each machine once
//   entries(id, nest, hardware, …)        the measurements; id is the hash of the content (tuning-db/entry.h)
//   embeddings(entry, version, …)         derived data: rebuild_embeddings makes them anew
// What a server keeps there besides is in tuning-db/ledger.h.
// A file that is damaged, belongs to another program or to a newer version is refused and left alone; only
// open_or_recreate moves it aside, under a new name, and never overwrites anything.
//
// The file may have been filled, or forged, by anyone: its schema must be exactly ours (no views, triggers or computed
// columns), every statement has a budget of steps and bytes, and what a row says is read as input.
#pragma once

#include <chrono>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sdfg/result.h"
#include "tuning-db/entry.h"
#include "tuning-db/features.h"
#include "tuning-db/file_identity.h"

namespace sous::tuning_db {

struct StoreOptions {
  std::filesystem::path path;  // or the URL of a PostgreSQL database (tuning-db/places.h)
  // JSON lines files whose entries a new database begins with. In an existing one they replace those that other seeds
  // brought; what was added by hand stays.
  std::vector<std::filesystem::path> seeds;
  std::shared_ptr<const Embedding> embedding = static_embedding();
};

// Whether `name` is one of the names with commas between them.
bool is_among(std::string_view name, std::string_view names);

// Shared by the lists and the ranking: an entry without its nest. The hardware class is that of the build that was
// measured (tuning-db/build_isa.h).
struct Summary {
  std::string id, name, structural_hash, size_class, recipe_json, target, hardware_class, compiler, flags, time;
  double baseline_seconds = 0, tuned_seconds = 0;
  int threads = 1;
  std::string sizeless = {};    // hash of the nest without its sizes (tuning-db/insert.h); empty: not known
  bool has_thresholds = false;  // how far below its size it reaches was measured
  // Of an entry that one party alone vouches for (tuning-db/confirm.h): its tokens' names, with commas. Nobody:
  // nullopt.
  std::optional<std::string> only_for = std::nullopt;
  // What else an answer says: which of the nests it is, and as they are stored.
  std::string nest = {}, sizes = {}, least = {};
  double baseline_spread = 0, tuned_spread = 0;
  // `name`: of the token of who asks; empty: there is none.
  bool is_for(std::string_view name) const { return !only_for || is_among(name, *only_for); }
  // Finite, so that it can be sorted by: a stored row may hold infinities.
  double ratio() const {
    const double ratio = tuned_seconds > 0 ? baseline_seconds / tuned_seconds : 0;
    return std::isfinite(ratio) ? ratio : 0;
  }
};

struct StoredVector {
  std::string id;  // of the entry
  NestKey key;
  Isa isa = Isa::scalar;
  FeatureVector vector;
};

struct StoreStats {
  std::int64_t entries = 0, nests = 0, machines = 0, bytes = 0;
  int schema = 0;
  std::string embedding;
  std::vector<std::pair<std::string, std::int64_t>> by_target;    // sorted by name
  std::vector<std::pair<std::string, std::int64_t>> by_hardware;  // sorted by class
};

// What an import did. Lines that could not be read end it with an error; nothing of it is then kept.
struct ImportResult {
  int added = 0, known = 0;
};

class Store {
 public:
  // Opens; makes the file from the seeds if there is none (under another name first, so that a build that is stopped
  // leaves no half-filled database, and two builds at once make one), or takes new seeds in (in one transaction).
  // Errors: db.corrupt, db.foreign, db.schema-newer, db.open, db.io, db.seed. Every function: db.budget.
  static Result<Store> open(const StoreOptions& options);
  // The same; a corrupt or foreign file is first renamed to <name>.corrupt-<n>, which is returned in `kept_aside`.
  static Result<Store> open_or_recreate(const StoreOptions& options, std::filesystem::path& kept_aside);

  // Why an existing database was opened with the entries of older seeds, if it was.
  const std::optional<Error>& seeds_left() const;

  // How many entries of other seeds gave way to those of the seeds that it was opened with.
  std::int64_t seeds_replaced() const;

  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  // Whether it was added; false: it was there already. Errors: db.io, and the entry's own.
  Result<bool> add(const Entry& entry);
  Result<bool> remove(const std::string& id);
  // By id or by a prefix of at least 4 digits. Errors: db.ambiguous, db.entry (a stored entry cannot be read), db.io.
  Result<std::optional<Entry>> get(const std::string& id) const;
  Result<std::vector<Summary>> list() const;     // sorted by name, then id
  Result<std::vector<std::string>> own() const;  // ids of what neither seeds nor clients brought
  Result<std::vector<Summary>> by_id() const;    // all, in order of id; however many there are
  Result<std::vector<Summary>> with_hash(const std::string& structural_hash) const;
  // `sizeless`: as Summary has it.
  Result<std::vector<Summary>> with_sizeless(const std::string& sizeless) const;
  Result<std::vector<Summary>> with_ids(const std::vector<std::string>& ids) const;
  // As JSON; nullopt: it is gone. `nest`: as Summary has it.
  Result<std::optional<std::string>> nest(const std::string& nest) const;
  // Vectors of the embedding in use. Entries without one are embedded first, and what else is derived of nests is
  // derived.
  Result<std::vector<StoredVector>> vectors();
  Result<void> rebuild_embeddings();
  Result<StoreStats> stats() const;
  // Every problem that it finds: SQLite's own checks, entries that do not parse or whose ids or hashes are wrong.
  Result<std::vector<Error>> verify() const;
  // JSON lines, sorted by id: equal databases give equal bytes. Without what one token alone vouches for: who imports
  // the lines would believe it.
  Result<std::string> export_lines() const;
  // All or nothing. `origin` is named in errors. Others can write while the lines are read, and import meanwhile: only
  // putting them into the file waits for its turn. Errors: db.import (which line, why), db.io.
  Result<ImportResult> import_lines(std::string_view lines, const std::string& origin);
  // Changes whenever anyone, this process or another, has changed the entries, by the functions of this folder.
  Result<std::string> generation() const;

  // Waits until others may have changed entries (Connection::wait_for_change).
  Result<void> wait_for_change(std::chrono::milliseconds most, int wake);

  const std::filesystem::path& path() const;
  FileIdentity identity() const;  // of the file that was opened

  const Embedding& embedding() const;
  std::shared_ptr<const Embedding> shared_embedding() const;

  struct Impl;

 private:
  explicit Store(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace sous::tuning_db
