#include "tuning-db/store.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <set>
#include <utility>

#include "transforms/normal_form.h"
#include "tuning-db/connection.h"
#include "tuning-db/files.h"
#include "tuning-db/hash.h"
#include "tuning-db/insert.h"
#include "tuning-db/places.h"
#include "tuning-db/postgres_schema.h"
#include "tuning-db/rows.h"
#include "tuning-db/schema.h"

namespace sous::tuning_db {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t longest_seed = std::size_t{256} << 20;
constexpr int rows_at_once = 20'000;  // of one statement, within its budget

}  // namespace

struct Store::Impl {
  Handle db;
  fs::path path;
  std::shared_ptr<const Embedding> embedding;
  std::optional<Error> seeds_left = std::nullopt;
  std::int64_t seeds_replaced = 0;
  FileIdentity identity = {};
  std::set<std::string> no_vector = {};  // entries that were found to have none: they cannot be read

  // Whether the entries that the last seeds brought are those of `fingerprint`.
  Result<bool> has_seeds(const std::string& fingerprint) const {
    return Statement(*db, "SELECT 1 FROM seeds WHERE fingerprint = ?").bind(fingerprint).step();
  }

  // Whether an entry has no vector of the embedding, though it may have one.
  Result<bool> is_stale() const {
    Statement rows(*db, "SELECT id FROM entries WHERE id NOT IN (SELECT entry FROM embeddings WHERE version = ?)",
                   Rows::many);
    rows.bind(embedding->version());
    while (true) {
      TRY(const bool row, rows.step());
      if (!row) return false;
      if (!no_vector.contains(rows.text(0))) return true;
    }
  }

  // Inside a transaction. Whether there was any.
  Result<bool> embed_what_has_no_vector() {
    bool any = false;
    Statement rows(*db,
                   entry_rows(*db, "WHERE e.id NOT IN (SELECT entry FROM embeddings WHERE version = ?) ORDER BY e.id"),
                   Rows::many);
    rows.bind(embedding->version());
    while (true) {
      TRY(const bool row, rows.step());
      if (!row) return any;
      // An entry that cannot be read has no vector; `verify` reports it.
      const auto entry = read_entry(rows);
      const auto vector = entry ? embedded(*entry, *embedding) : std::nullopt;
      if (vector) {
        TRY_VOID(insert_vector(*db, rows.text(0), *vector, *embedding));
        any = true;
      } else {
        no_vector.insert(rows.text(0));
      }
    }
  }

  // Path, size and time of change of each file.
  static std::string states(const std::vector<fs::path>& files) {
    std::string all;
    for (const fs::path& file : files) {
      std::error_code error;
      const auto size = fs::file_size(file, error);
      const auto time = fs::last_write_time(file, error).time_since_epoch().count();
      all += file.string() + "\n" + std::to_string(size) + " " + std::to_string(time) + "\n";
    }
    return content_hash(all);
  }
  // That the files in this state hold what is in the database.
  Result<void> remember(const std::string& state) {
    TRY_VOID(db->execute("DELETE FROM seeds WHERE fingerprint LIKE 'state %'"));
    return Statement(*db, "INSERT INTO seeds(fingerprint) VALUES(?) ON CONFLICT DO NOTHING").bind(state).run();
  }

  // Puts the entries of the seeds in the place of those that earlier seeds brought: a new version of Sous brings
  // others. What was added or removed by hand stays so until then.
  Result<void> take_seeds(const std::vector<fs::path>& files) {
    if (files.empty() || db->is_read_only()) return {};
    // Reading and hashing half a megabyte is a fifth of what a file without a recipe costs.
    const std::string state = "state " + states(files);
    TRY(const bool unchanged, has_seeds(state));
    if (unchanged) return {};
    std::vector<std::string> texts;
    std::string all;
    for (const fs::path& file : files) {
      auto text = read_file(file, longest_seed);
      if (!text) return fail("db.seed", text.error().why, file.string());
      all += *text;
      texts.push_back(std::move(*text));
    }
    const std::string fingerprint = content_hash(all);
    TRY(const bool there, has_seeds(fingerprint));
    if (there) {
      static_cast<void>(remember(state));  // another build has the file now: the next one remembers
      return {};
    }
    const PatientConnection patient(*db);
    TRY(auto transaction, Transaction::begin(*db, Turn::write));
    TRY(const bool another_build_did, has_seeds(fingerprint));
    if (another_build_did) return {};
    TRY(const std::int64_t replaced, number(*db, "SELECT count(id) FROM entries WHERE seeded = 1"));
    for (const char* old : {"DELETE FROM entries WHERE seeded = 1", "DELETE FROM seeds WHERE true",
                            "DELETE FROM nests WHERE id NOT IN (SELECT nest FROM entries)",
                            "DELETE FROM hardware WHERE id NOT IN (SELECT hardware FROM entries)"})
      TRY_VOID(db->execute(old));
    // Read in the transaction, unlike what is imported: of many builds that find new seeds one shall read them.
    for (std::size_t k = 0; k < files.size(); ++k) {
      const auto entries = prepare_lines(texts[k], files[k].string(), *embedding);
      if (!entries) return fail("db.seed", entries.error().why, entries.error().where);
      TRY_VOID(tuning_db::insert(*db, *entries, *embedding, Standing::seeded));
    }
    TRY_VOID(note_change(*db));
    TRY_VOID(Statement(*db, "INSERT INTO seeds(fingerprint) VALUES(?)").bind(fingerprint).run());
    TRY_VOID(remember(state));
    TRY_VOID(transaction.commit());
    seeds_replaced = replaced;
    return {};
  }

  Result<std::vector<std::pair<std::string, std::int64_t>>> counts(const char* sql) const {
    std::vector<std::pair<std::string, std::int64_t>> result;
    Statement rows(*db, sql);
    while (true) {
      TRY(const bool row, rows.step());
      if (!row) return result;
      result.emplace_back(rows.text(0), rows.integer(1));
    }
  }
};

Store::Store(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

const std::optional<Error>& Store::seeds_left() const { return impl_->seeds_left; }
std::int64_t Store::seeds_replaced() const { return impl_->seeds_replaced; }

const fs::path& Store::path() const { return impl_->path; }
FileIdentity Store::identity() const { return impl_->identity; }

std::shared_ptr<const Embedding> Store::shared_embedding() const { return impl_->embedding; }
const Embedding& Store::embedding() const { return *impl_->embedding; }

Result<Store> Store::open(const StoreOptions& options) {
  const auto over = [&](Handle db) { return std::make_unique<Impl>(std::move(db), options.path, options.embedding); };
  std::error_code error;
  const bool is_file = !is_postgres(options.path), is_new = is_file && !fs::exists(options.path, error);
  if (is_new)
    TRY_VOID(create_file(options.path, [&](Handle db) { return over(std::move(db))->take_seeds(options.seeds); }));
  if (!is_file) TRY_VOID(create_tables(options.path.string()));
  TRY(auto db, open_existing(options.path));
  auto impl = over(std::move(db));
  if (is_file) impl->identity = identity_of(options.path);
  // A database with the recipes of older seeds, because the new ones cannot be read or another build has the file, is
  // still one; the next build tries again.
  if (!is_new)
    if (auto taken = impl->take_seeds(options.seeds); !taken) impl->seeds_left = std::move(taken.error());
  return Store(std::move(impl));
}

Result<Store> Store::open_or_recreate(const StoreOptions& options, fs::path& kept_aside) {
  kept_aside.clear();
  auto store = open(options);
  if (is_postgres(options.path)) return store;  // nobody's to move
  if (store || (store.error().code != "db.corrupt" && store.error().code != "db.foreign")) return store;
  for (int n = 1; n < 10'000; ++n) {
    const fs::path aside = options.path.string() + ".corrupt-" + std::to_string(n);
    // link and not rename: it refuses to overwrite.
    if (::link(options.path.c_str(), aside.c_str()) != 0) {
      if (errno == EEXIST) continue;
      return fail("db.io", std::strerror(errno), aside.string());
    }
    ::unlink(options.path.c_str());
    // What SQLite keeps beside the damaged file belongs to it.
    for (const char* suffix : {"-wal", "-shm"})
      ::rename((options.path.string() + suffix).c_str(), (aside.string() + suffix).c_str());
    kept_aside = aside;
    return open(options);
  }
  return fail("db.io", "too many damaged copies are kept beside it", options.path.string());
}

Result<bool> Store::add(const Entry& entry) {
  const Prepared prepared = prepare(entry, embedding());
  TRY(auto transaction, Transaction::begin(*impl_->db, Turn::write));
  TRY(const bool added, insert(*impl_->db, prepared, embedding(), Standing::own));
  TRY_VOID(note_change(*impl_->db));
  TRY_VOID(transaction.commit());
  return added;
}

Result<bool> Store::remove(const std::string& id) {
  TRY(auto transaction, Transaction::begin(*impl_->db, Turn::write));
  TRY(const std::int64_t removed, Statement(*impl_->db, "DELETE FROM entries WHERE id = ?").bind(id).change());
  TRY_VOID(note_change(*impl_->db));
  TRY_VOID(transaction.commit());
  return removed > 0;
}

Result<std::optional<Entry>> Store::get(const std::string& id) const {
  if (id.size() < 4 || id.find_first_not_of("0123456789abcdef") != std::string::npos) return std::nullopt;
  Statement rows(*impl_->db, entry_rows(*impl_->db, "WHERE e.id >= ? AND e.id < ? LIMIT 2"));
  TRY(const bool found, rows.bind(id).bind(id + "g").step());  // 'g' follows every hex digit
  if (!found) return std::nullopt;
  TRY(Entry entry, read_entry(rows));
  TRY(const bool second, rows.step());
  if (second) return fail("db.ambiguous", "more than one entry starts with " + id);
  return std::optional(std::move(entry));
}

Result<std::vector<Summary>> Store::list() const {
  TRY([[maybe_unused]] auto reading, Transaction::begin(*impl_->db, Turn::read));
  Statement rows(*impl_->db, summary_rows(*impl_->db, "ORDER BY e.name, e.id"), Rows::many);
  return read_summaries(rows);
}

Result<std::vector<std::string>> Store::own() const {
  Statement rows(*impl_->db, "SELECT id FROM entries WHERE seeded = 0 AND sent = 0 ORDER BY id");
  return read_texts(rows);
}

Result<std::optional<std::string>> Store::nest(const std::string& nest) const {
  Statement rows(*impl_->db, "SELECT json FROM nests WHERE id = ?");
  TRY(const bool found, rows.bind(nest).step());
  return found ? std::optional(rows.text(0)) : std::nullopt;
}

// Piece by piece, since a statement has a budget; a file in which ids do not ascend could be read for ever.
Result<std::vector<Summary>> Store::by_id() const {
  std::vector<Summary> all;
  while (true) {
    Statement rows(*impl_->db, summary_rows(*impl_->db, "WHERE e.id > ? ORDER BY e.id LIMIT ?"));
    TRY(auto some, read_summaries(rows.bind(all.empty() ? "" : all.back().id).bind(rows_at_once)));
    if (some.empty()) return all;
    for (Summary& one : some) {
      if (!all.empty() && one.id <= all.back().id)
        return fail("db.corrupt", "the database is damaged inside; it is left as it is", shown(impl_->path));
      all.push_back(std::move(one));
    }
  }
}

Result<std::vector<Summary>> Store::with_hash(const std::string& hash) const {
  Statement rows(*impl_->db, summary_rows(*impl_->db, "WHERE n.structural_hash = ? ORDER BY e.id"));
  return read_summaries(rows.bind(hash));
}

Result<std::vector<Summary>> Store::with_sizeless(const std::string& sizeless) const {
  Statement rows(*impl_->db, summaries_with_sizeless(*impl_->db));
  return read_summaries(rows.bind(sizeless));
}

Result<std::vector<Summary>> Store::with_ids(const std::vector<std::string>& ids) const {
  std::vector<Summary> result;
  for (const std::string& id : ids) {
    Statement rows(*impl_->db, summary_rows(*impl_->db, "WHERE e.id = ?"));
    TRY(auto one, read_summaries(rows.bind(id)));
    result.insert(result.end(), std::make_move_iterator(one.begin()), std::make_move_iterator(one.end()));
  }
  return result;
}

Result<std::vector<StoredVector>> Store::vectors() {
  TRY_VOID(derive_sizeless(*impl_->db));
  TRY(const bool stale, impl_->is_stale());
  if (stale) {
    const PatientConnection patient(*impl_->db);
    TRY(auto transaction, Transaction::begin(*impl_->db, Turn::write));
    TRY(const bool any, impl_->embed_what_has_no_vector());
    // Nobody else has to look where nothing became of it.
    if (any) TRY_VOID(note_change(*impl_->db));
    TRY_VOID(transaction.commit());
  }
  std::vector<StoredVector> result;
  TRY([[maybe_unused]] auto reading, Transaction::begin(*impl_->db, Turn::read));
  Statement rows(*impl_->db, "SELECT entry, type, depth, isa, vector FROM embeddings WHERE version = ? ORDER BY entry",
                 Rows::many);
  rows.bind(impl_->embedding->version());
  while (true) {
    TRY(const bool row, rows.step());
    if (!row) return result;
    const auto type = sdfg::parse_type(rows.text(1));
    const auto isa = parse_isa(rows.text(3));
    if (!type || !isa)
      return fail("db.entry", "a stored embedding has an unknown type; rebuild the index", rows.text(0));
    result.push_back({rows.text(0), {*type, static_cast<int>(rows.integer(2))}, *isa, rows.vector(4)});
  }
}

Result<void> Store::rebuild_embeddings() {
  const PatientConnection patient(*impl_->db);
  TRY(auto transaction, Transaction::begin(*impl_->db, Turn::write));
  TRY_VOID(impl_->db->execute("DELETE FROM embeddings"));
  impl_->no_vector.clear();
  TRY_VOID(impl_->embed_what_has_no_vector());
  TRY_VOID(note_change(*impl_->db));
  return transaction.commit();
}

Result<StoreStats> Store::stats() const {
  Connection& db = *impl_->db;
  StoreStats result;
  // Not count(*): SQLite counts all rows in one step, outside of every budget.
  TRY(result.entries, number(db, "SELECT count(id) FROM entries"));
  TRY(result.nests, number(db, "SELECT count(DISTINCT structural_hash) FROM nests"));
  TRY(result.machines, number(db, "SELECT count(id) FROM hardware"));
  TRY(result.bytes, db.bytes());
  TRY(const std::int64_t version, db.schema_version());
  result.schema = static_cast<int>(version);
  result.embedding = impl_->embedding->version();
  TRY(result.by_target, impl_->counts("SELECT target, count(id) FROM entries GROUP BY target ORDER BY target"));
  TRY(result.by_hardware,
      impl_->counts("SELECT h.class, count(e.id) FROM entries e JOIN hardware h ON h.id = e.hardware "
                    "GROUP BY h.class ORDER BY h.class"));
  return result;
}

Result<std::vector<Error>> Store::verify() const {
  std::vector<Error> problems;
  TRY(const auto damage, impl_->db->damage());
  for (const std::string& why : damage) problems.push_back({"db.corrupt", why, shown(impl_->path)});
  TRY([[maybe_unused]] auto reading, Transaction::begin(*impl_->db, Turn::read));
  Statement rows(*impl_->db, entry_rows(*impl_->db, "ORDER BY e.id"), Rows::many);
  while (true) {
    TRY(const bool row, rows.step());
    if (!row) return problems;
    const std::string id = rows.text(0);
    const auto entry = read_entry(rows);
    if (!entry) {
      problems.push_back(entry.error());
      continue;
    }
    if (transforms::structural_hash(entry->nest) != entry->structural_hash)
      problems.push_back({"entry.hash", "the structural hash is not that of the nest", "entry " + id});
    if (entry_id(*entry) != id) problems.push_back({"entry.id", "the content does not hash to the id", "entry " + id});
  }
}

Result<std::string> Store::export_lines() const {
  std::string lines;
  Connection& db = *impl_->db;
  TRY([[maybe_unused]] auto reading, Transaction::begin(db, Turn::read));
  Statement rows(db, entry_rows(db, "WHERE " + for_everyone(db) + "ORDER BY e.id"), Rows::many);
  while (true) {
    TRY(const bool row, rows.step());
    if (!row) return lines;
    TRY(const Entry entry, read_entry(rows));
    lines += to_json(entry) + "\n";
  }
}

Result<ImportResult> Store::import_lines(std::string_view lines, const std::string& origin) {
  TRY(const auto entries, prepare_lines(lines, origin, embedding()));
  // Another import may have the file for as long as it takes to write what it brings.
  const PatientConnection patient(*impl_->db);
  TRY(auto transaction, Transaction::begin(*impl_->db, Turn::write));
  TRY(const ImportResult result, insert(*impl_->db, entries, embedding(), Standing::own));
  TRY_VOID(note_change(*impl_->db));
  TRY_VOID(transaction.commit());
  return result;
}

Result<void> Store::wait_for_change(std::chrono::milliseconds most, int wake) {
  return impl_->db->wait_for_change(most, wake);
}

Result<std::string> Store::generation() const {
  // What is noted besides the entries (tuning-db/ledger.h) is no change of them.
  Statement changes(*impl_->db, "SELECT entries FROM changes");
  if (const auto row = changes.step(); row && *row) return std::to_string(changes.integer(0));
  // A file that cannot be written may be of an earlier schema.
  return impl_->db->other_changes();
}

}  // namespace sous::tuning_db
