#include "tuning-db/store.h"

#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <utility>

#include "sdfg/check.h"
#include "sdfg/json.h"
#include "transforms/normal_form.h"
#include "tuning-db/files.h"
#include "tuning-db/hash.h"
#include "tuning-db/json_reader.h"
#include "tuning-db/size_class.h"

namespace sous::tuning_db {
namespace {

namespace fs = std::filesystem;

constexpr int application_id = 0x736f7573;  // "sous"
constexpr int busy_milliseconds = 5000;
constexpr std::size_t longest_seed = std::size_t{256} << 20;

// Budgets, since the file may come from anyone. Interior pages that all lead to the same page make of a small file a
// table of any number of rows: each statement may take this many steps of SQLite's machine (a row of the largest query
// takes about 100). No value is longer than a nest may be as JSON, and a little.
constexpr std::int64_t most_instructions = 30'000'000;
constexpr int instructions_between_looks = 10'000;
constexpr int longest_value = 17 << 20;
constexpr std::size_t most_bytes = std::size_t{1} << 30;  // that one statement reads
constexpr int most_of_one_hash = 1000;                    // measurements of one nest that are looked at

// Of the outermost statement that runs in this thread; SQLite counts per connection and resets nothing.
thread_local int statements_alive = 0;
thread_local std::int64_t looks = 0;
thread_local std::size_t bytes_read = 0;

int over_budget(void*) { return ++looks > most_instructions / instructions_between_looks ? 1 : 0; }

// migrations[v] brings schema v to v + 1. Never edited once released: a change is a new line.
constexpr const char* migrations[] = {
    R"(
CREATE TABLE nests(
  id TEXT PRIMARY KEY,
  structural_hash TEXT NOT NULL,
  json TEXT NOT NULL);
CREATE INDEX nests_by_hash ON nests(structural_hash);
CREATE TABLE hardware(
  id TEXT PRIMARY KEY,
  class TEXT NOT NULL,
  json TEXT NOT NULL);
CREATE TABLE entries(
  id TEXT PRIMARY KEY,
  nest TEXT NOT NULL REFERENCES nests(id),
  hardware TEXT NOT NULL REFERENCES hardware(id),
  name TEXT NOT NULL,
  size_class TEXT NOT NULL,
  sizes TEXT NOT NULL,
  recipe TEXT NOT NULL,
  target TEXT NOT NULL,
  baseline_seconds REAL NOT NULL,
  baseline_spread REAL NOT NULL,
  tuned_seconds REAL NOT NULL,
  tuned_spread REAL NOT NULL,
  threads INTEGER NOT NULL,
  compiler TEXT NOT NULL,
  flags TEXT NOT NULL,
  provenance TEXT NOT NULL,
  time TEXT NOT NULL);
CREATE INDEX entries_by_nest ON entries(nest);
CREATE INDEX entries_by_hardware ON entries(hardware);
CREATE TABLE embeddings(
  entry TEXT PRIMARY KEY REFERENCES entries(id) ON DELETE CASCADE,
  version TEXT NOT NULL,
  type TEXT NOT NULL,
  depth INTEGER NOT NULL,
  isa TEXT NOT NULL,
  vector BLOB NOT NULL);
)",
};
constexpr int schema = std::size(migrations);

using Handle = std::unique_ptr<sqlite3, decltype([](sqlite3* db) { sqlite3_close_v2(db); })>;

// One statement: bound left to right, read column by column.
class Statement {
 public:
  Statement(sqlite3* db, const char* sql) : db_(db) {
    if (statements_alive++ == 0) looks = 0, bytes_read = 0;
    if (sqlite3_prepare_v2(db, sql, -1, &statement_, nullptr) != SQLITE_OK) broken_ = true;
  }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  ~Statement() {
    sqlite3_finalize(statement_);
    --statements_alive;
  }

  Statement& bind(const std::string& text) {
    check(sqlite3_bind_text64(statement_, next_++, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
    return *this;
  }
  Statement& bind(std::string_view text) { return bind(std::string(text)); }
  Statement& bind(const char* text) { return bind(std::string(text)); }
  Statement& bind(double value) {
    check(sqlite3_bind_double(statement_, next_++, value));
    return *this;
  }
  Statement& bind(int value) {
    check(sqlite3_bind_int(statement_, next_++, value));
    return *this;
  }
  Statement& bind(const FeatureVector& vector) {
    check(sqlite3_bind_blob64(statement_, next_++, vector.data(), vector.size() * sizeof(float), SQLITE_TRANSIENT));
    return *this;
  }

  // Whether there is a (further) row.
  Result<bool> step() {
    if (bytes_read > most_bytes) return over();
    const int code = broken_ ? SQLITE_ERROR : sqlite3_step(statement_);
    if (code == SQLITE_ROW) return true;
    if (code == SQLITE_DONE) return false;
    if (sqlite3_errcode(db_) == SQLITE_INTERRUPT) return over();
    if (sqlite3_errcode(db_) == SQLITE_CORRUPT) {
      return fail("db.corrupt", "the database is damaged inside; it is left as it is",
                  sqlite3_db_filename(db_, "main"));
    }
    return fail("db.io", sqlite3_errmsg(db_));
  }
  Result<void> run() {
    TRY([[maybe_unused]] const bool row, step());
    return {};
  }

  std::string text(int column) const {
    const auto* data = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
    const auto bytes = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
    bytes_read += bytes;
    return data ? std::string(data, bytes) : "";
  }
  double real(int column) const { return sqlite3_column_double(statement_, column); }
  std::int64_t integer(int column) const { return sqlite3_column_int64(statement_, column); }
  FeatureVector vector(int column) const {
    const auto bytes = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
    bytes_read += bytes;
    FeatureVector result(bytes / sizeof(float));
    if (!result.empty())
      std::memcpy(result.data(), sqlite3_column_blob(statement_, column), result.size() * sizeof(float));
    return result;
  }

 private:
  void check(int code) {
    if (code != SQLITE_OK) broken_ = true;
  }
  static std::unexpected<Error> over() {
    return fail("db.budget", "a query takes more than one on a sound database would");
  }
  sqlite3* db_;
  sqlite3_stmt* statement_ = nullptr;
  int next_ = 1;
  bool broken_ = false;
};

Result<void> execute(sqlite3* db, const char* sql) {
  if (statements_alive == 0) looks = 0;
  if (sqlite3_exec(db, sql, nullptr, nullptr, nullptr) == SQLITE_OK) return {};
  return fail("db.io", sqlite3_errmsg(db));
}

Result<std::int64_t> pragma(sqlite3* db, const char* sql) {
  Statement statement(db, sql);
  TRY(const bool row, statement.step());
  return row ? statement.integer(0) : 0;
}

// Rolls back unless committed.
class Transaction {
 public:
  static Result<Transaction> begin(sqlite3* db) {
    TRY_VOID(execute(db, "BEGIN IMMEDIATE"));
    return Transaction(db);
  }
  Transaction(Transaction&& other) noexcept : db_(std::exchange(other.db_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction() {
    if (db_) sqlite3_exec(db_, "ROLLBACK", nullptr, nullptr, nullptr);
  }
  Result<void> commit() {
    TRY_VOID(execute(db_, "COMMIT"));
    db_ = nullptr;
    return {};
  }

 private:
  explicit Transaction(sqlite3* db) : db_(db) {}
  sqlite3* db_;
};

Result<Handle> open_file(const fs::path& path, int flags) {
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &raw, flags, nullptr);
  Handle db(raw);
  if (code != SQLITE_OK) return fail("db.open", raw ? sqlite3_errmsg(raw) : "out of memory", path.string());
  sqlite3_busy_timeout(raw, busy_milliseconds);
  sqlite3_extended_result_codes(raw, 0);
  // What a file may bring besides data is off: views and triggers, functions in its schema that have effects, editing
  // the schema as a table. The checks of cells cost little.
  sqlite3_db_config(raw, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  sqlite3_limit(raw, SQLITE_LIMIT_LENGTH, longest_value);
  sqlite3_limit(raw, SQLITE_LIMIT_ATTACHED, 0);
  sqlite3_progress_handler(raw, instructions_between_looks, over_budget, nullptr);
  TRY_VOID(execute(raw, "PRAGMA cell_size_check = ON"));
  return db;
}

// "type name sql" of everything in the schema, sorted.
Result<std::string> schema_text(sqlite3* db) {
  Statement rows(db, "SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY type, name");
  std::string text;
  while (true) {
    TRY(const bool row, rows.step());
    if (!row) return text;
    text += rows.text(0) + " " + rows.text(1) + " " + rows.text(2) + "\n";
    if (text.size() > (1 << 20)) return text;
  }
}

Result<void> migrate(sqlite3* db, int from) {
  TRY(auto transaction, Transaction::begin(db));
  for (int version = from; version < schema; ++version) TRY_VOID(execute(db, migrations[version]));
  TRY_VOID(execute(db, ("PRAGMA user_version = " + std::to_string(schema)).c_str()));
  TRY_VOID(execute(db, ("PRAGMA application_id = " + std::to_string(application_id)).c_str()));
  return transaction.commit();
}

Error at(Error error, const fs::path& path) {
  if (error.where.empty()) error.where = path.string();
  return error;
}

// A file whose tables are not exactly those that the migrations make came from elsewhere: a table of the right name may
// be a view, or compute a column by an expression of its own.
Result<void> check_schema(sqlite3* db, const fs::path& path) {
  TRY(auto model, open_file(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY));
  TRY_VOID(migrate(model.get(), 0));
  TRY(const std::string expected, schema_text(model.get()));
  TRY(const std::string found, schema_text(db));
  if (found == expected) return {};
  return fail("db.foreign", "this database has other tables than this program makes; it is left as it is",
              path.string());
}

// Opens a file that exists and says whether it is ours.
Result<Handle> open_existing(const fs::path& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return fail("db.open", "this is no regular file", path.string());
  TRY(auto db, open_file(path, SQLITE_OPEN_READWRITE));
  struct Header {
    std::int64_t version = 0, application = 0, objects = 0;
  };
  // Reading the header is what makes SQLite look at the file.
  const auto header = [&]() -> Result<Header> {
    Header h;
    TRY(h.version, pragma(db.get(), "PRAGMA user_version"));
    TRY(h.application, pragma(db.get(), "PRAGMA application_id"));
    TRY(h.objects, pragma(db.get(), "SELECT count(name) FROM sqlite_master"));
    return h;
  }();
  if (const int code = sqlite3_errcode(db.get()); !header && (code == SQLITE_NOTADB || code == SQLITE_CORRUPT))
    return fail("db.corrupt", "this is no SQLite database, or a damaged one; it is left as it is", path.string());
  if (!header) return std::unexpected(at(header.error(), path));
  const auto [version, application, objects] = *header;
  const bool blank = application == 0 && version == 0 && objects == 0;
  if (application != application_id && !blank)
    return fail("db.foreign", "this SQLite database belongs to another program; it is left as it is", path.string());
  if (version > schema)
    return fail("db.schema-newer",
                "the database has schema " + std::to_string(version) + "; this program knows " + std::to_string(schema),
                path.string());
  if (auto mode = execute(db.get(), "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON");
      !mode && sqlite3_db_readonly(db.get(), "main") != 1)
    return std::unexpected(at(mode.error(), path));
  if (version < schema)
    if (auto done = migrate(db.get(), static_cast<int>(version)); !done) return std::unexpected(at(done.error(), path));
  if (auto same = check_schema(db.get(), path); !same) return std::unexpected(at(same.error(), path));
  return db;
}

constexpr const char* summary_columns =
    "SELECT e.id, e.name, n.structural_hash, e.size_class, e.recipe, e.target, h.class, e.compiler, e.time, "
    "e.baseline_seconds, e.tuned_seconds, e.threads "
    "FROM entries e JOIN nests n ON n.id = e.nest JOIN hardware h ON h.id = e.hardware ";

Result<std::vector<Summary>> read_summaries(Statement& rows) {
  std::vector<Summary> result;
  while (true) {
    TRY(const bool row, rows.step());
    if (!row) return result;
    result.push_back({.id = rows.text(0),
                      .name = rows.text(1),
                      .structural_hash = rows.text(2),
                      .size_class = rows.text(3),
                      .recipe_json = rows.text(4),
                      .target = rows.text(5),
                      .hardware_class = rows.text(6),
                      .compiler = rows.text(7),
                      .time = rows.text(8),
                      .baseline_seconds = rows.real(9),
                      .tuned_seconds = rows.real(10),
                      .threads = static_cast<int>(std::clamp<std::int64_t>(rows.integer(11), 0, INT_MAX))});
  }
}

constexpr const char* entry_columns =
    "SELECT e.id, e.name, n.json, n.structural_hash, e.sizes, e.recipe, h.json, e.baseline_seconds, e.baseline_spread, "
    "e.tuned_seconds, e.tuned_spread, e.threads, e.compiler, e.flags, e.provenance, e.time "
    "FROM entries e JOIN nests n ON n.id = e.nest JOIN hardware h ON h.id = e.hardware ";

// A stored row can be anything that a person with an SQLite shell made of it: read as input.
Result<Entry> read_entry(const Statement& row) {
  const auto broken = [&](const Error& error) {
    return std::unexpected(as_one_line(Error{"db.entry", error.to_string(), "entry " + row.text(0)}));
  };
  Entry e;
  e.name = row.text(1);
  auto nest = sdfg::from_json(row.text(2));
  if (!nest) return broken(nest.error());
  if (auto checked = sdfg::check(*nest); !checked) return broken(checked.error());
  e.nest = std::move(*nest);
  e.structural_hash = row.text(3);
  const auto sizes = parse_json("{\"sizes\":" + row.text(4) + "}", "entry");
  if (!sizes) return broken(sizes.error());
  auto reader = ObjectReader::of(*sizes, "entry", "");
  if (!reader) return broken(reader.error());
  auto values = reader->integers("sizes");
  if (!values) return broken(values.error());
  if (auto done = reader->done(); !done) return broken(done.error());
  e.sizes = std::move(*values);
  auto recipe = transforms::recipe_from_json(row.text(5));
  if (!recipe) return broken(recipe.error());
  e.recipe = std::move(*recipe);
  auto hardware = hardware_from_json(row.text(6));
  if (!hardware) return broken(hardware.error());
  e.hardware = std::move(*hardware);
  e.baseline_seconds = row.real(7);
  e.baseline_spread = row.real(8);
  e.tuned_seconds = row.real(9);
  e.tuned_spread = row.real(10);
  e.threads = static_cast<int>(std::clamp<std::int64_t>(row.integer(11), 0, INT_MAX));
  e.compiler = row.text(12);
  e.flags = row.text(13);
  e.provenance = row.text(14);
  e.time = row.text(15);
  if (auto checked = check(e); !checked) return broken(checked.error());
  return e;
}

}  // namespace

struct Store::Impl {
  Handle db;
  fs::path path;
  std::shared_ptr<const Embedding> embedding;

  Result<void> embed(const std::string& id, const Entry& entry) {
    const NestKey key = nest_key(entry.nest);
    return Statement(db.get(),
                     "INSERT OR REPLACE INTO embeddings(entry, version, type, depth, isa, vector) VALUES(?,?,?,?,?,?)")
        .bind(id)
        .bind(embedding->version())
        .bind(info(key.type).name)
        .bind(key.depth)
        .bind(to_string(entry.hardware.isa))
        .bind(embedding->embed(entry.nest, entry.sizes))
        .run();
  }

  // Inside a transaction.
  Result<bool> insert(const Entry& entry) {
    const std::string id = entry_id(entry);
    Statement known(db.get(), "SELECT 1 FROM entries WHERE id = ?");
    TRY(const bool there, known.bind(id).step());
    if (there) return false;
    const std::string nest = sdfg::to_json(entry.nest), hardware = to_json(entry.hardware);
    const std::string nest_id = content_hash(nest), hardware_id = content_hash(hardware);
    TRY_VOID(Statement(db.get(), "INSERT OR IGNORE INTO nests(id, structural_hash, json) VALUES(?,?,?)")
                 .bind(nest_id)
                 .bind(entry.structural_hash)
                 .bind(nest)
                 .run());
    TRY_VOID(Statement(db.get(), "INSERT OR IGNORE INTO hardware(id, class, json) VALUES(?,?,?)")
                 .bind(hardware_id)
                 .bind(hardware_class(entry.hardware))
                 .bind(hardware)
                 .run());
    TRY_VOID(Statement(db.get(),
                       "INSERT INTO entries(id, nest, hardware, name, size_class, sizes, recipe, target, "
                       "baseline_seconds, baseline_spread, tuned_seconds, tuned_spread, threads, compiler, flags, "
                       "provenance, time) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)")
                 .bind(id)
                 .bind(nest_id)
                 .bind(hardware_id)
                 .bind(entry.name)
                 .bind(to_string(size_class(entry.nest, entry.sizes)))
                 .bind(dump(Json(entry.sizes)))
                 .bind(transforms::to_json(entry.recipe))
                 .bind(entry.recipe.target)
                 .bind(entry.baseline_seconds)
                 .bind(entry.baseline_spread)
                 .bind(entry.tuned_seconds)
                 .bind(entry.tuned_spread)
                 .bind(entry.threads)
                 .bind(entry.compiler)
                 .bind(entry.flags)
                 .bind(entry.provenance)
                 .bind(entry.time)
                 .run());
    TRY_VOID(embed(id, entry));
    return true;
  }

  Result<std::vector<std::pair<std::string, std::int64_t>>> counts(const char* sql) const {
    std::vector<std::pair<std::string, std::int64_t>> result;
    Statement rows(db.get(), sql);
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

const Embedding& Store::embedding() const { return *impl_->embedding; }

namespace {

// Fills a new database under a name of its own and puts it in place, unless someone else was faster.
Result<void> create(const StoreOptions& options, const std::function<Result<void>(Handle)>& fill) {
  std::error_code error;
  if (options.path.has_parent_path()) fs::create_directories(options.path.parent_path(), error);
  std::string temporary = options.path.string() + ".new-XXXXXX";
  const int file = ::mkstemp(temporary.data());
  if (file < 0) return fail("db.open", std::strerror(errno), options.path.string());
  ::fchmod(file, 0644);
  ::close(file);
  const auto made = [&]() -> Result<void> {
    TRY(auto db, open_file(temporary, SQLITE_OPEN_READWRITE));
    // No WAL while it is filled: nothing but the one file may be left to rename.
    TRY_VOID(migrate(db.get(), 0));
    TRY_VOID(execute(db.get(), "PRAGMA foreign_keys = ON"));
    TRY_VOID(fill(std::move(db)));
    if (::link(temporary.c_str(), options.path.c_str()) != 0 && errno != EEXIST)
      return fail("db.io", std::strerror(errno), options.path.string());
    return {};
  }();
  for (const char* suffix : {"", "-journal", "-wal", "-shm"}) ::unlink((temporary + suffix).c_str());
  if (!made) return std::unexpected(at(made.error(), options.path));
  return {};
}

}  // namespace

Result<Store> Store::open(const StoreOptions& options) {
  std::error_code error;
  if (!fs::exists(options.path, error)) {
    const auto fill = [&](Handle db) -> Result<void> {
      Store store(std::make_unique<Impl>(std::move(db), options.path, options.embedding));
      for (const fs::path& seed : options.seeds) {
        const auto lines = read_file(seed, longest_seed);
        if (!lines) return fail("db.seed", lines.error().why, seed.string());
        if (auto imported = store.import_lines(*lines, seed.string()); !imported)
          return fail("db.seed", imported.error().why, imported.error().where);
      }
      return {};
    };
    TRY_VOID(create(options, fill));
  }
  TRY(auto db, open_existing(options.path));
  return Store(std::make_unique<Impl>(std::move(db), options.path, options.embedding));
}

Result<Store> Store::open_or_recreate(const StoreOptions& options, fs::path& kept_aside) {
  kept_aside.clear();
  auto store = open(options);
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
  TRY(auto transaction, Transaction::begin(impl_->db.get()));
  TRY(const bool added, impl_->insert(entry));
  TRY_VOID(transaction.commit());
  return added;
}

Result<bool> Store::remove(const std::string& id) {
  TRY_VOID(Statement(impl_->db.get(), "DELETE FROM entries WHERE id = ?").bind(id).run());
  return sqlite3_changes(impl_->db.get()) > 0;
}

Result<std::optional<Entry>> Store::get(const std::string& id) const {
  if (id.size() < 4 || id.find_first_not_of("0123456789abcdef") != std::string::npos) return std::nullopt;
  Statement rows(impl_->db.get(), (std::string(entry_columns) + "WHERE e.id >= ? AND e.id < ? LIMIT 2").c_str());
  TRY(const bool found, rows.bind(id).bind(id + "g").step());  // 'g' follows every hex digit
  if (!found) return std::nullopt;
  TRY(Entry entry, read_entry(rows));
  TRY(const bool second, rows.step());
  if (second) return fail("db.ambiguous", "more than one entry starts with " + id);
  return std::optional(std::move(entry));
}

Result<std::vector<Summary>> Store::list() const {
  Statement rows(impl_->db.get(), (std::string(summary_columns) + "ORDER BY e.name, e.id").c_str());
  return read_summaries(rows);
}

Result<std::vector<Summary>> Store::with_hash(const std::string& hash) const {
  Statement rows(impl_->db.get(),
                 (std::string(summary_columns) + "WHERE n.structural_hash = ? ORDER BY e.id LIMIT ?").c_str());
  return read_summaries(rows.bind(hash).bind(most_of_one_hash));
}

Result<std::vector<Summary>> Store::with_ids(const std::vector<std::string>& ids) const {
  std::vector<Summary> result;
  for (const std::string& id : ids) {
    Statement rows(impl_->db.get(), (std::string(summary_columns) + "WHERE e.id = ?").c_str());
    TRY(auto one, read_summaries(rows.bind(id)));
    result.insert(result.end(), std::make_move_iterator(one.begin()), std::make_move_iterator(one.end()));
  }
  return result;
}

Result<std::vector<StoredVector>> Store::vectors() {
  TRY(const std::int64_t stale, [&]() -> Result<std::int64_t> {
    Statement count(impl_->db.get(),
                    "SELECT count(id) FROM entries WHERE id NOT IN (SELECT entry FROM embeddings WHERE version = ?)");
    TRY(const bool row, count.bind(impl_->embedding->version()).step());
    return row ? count.integer(0) : 0;
  }());
  if (stale > 0) TRY_VOID(rebuild_embeddings());
  std::vector<StoredVector> result;
  Statement rows(impl_->db.get(),
                 "SELECT entry, type, depth, isa, vector FROM embeddings WHERE version = ? ORDER BY entry");
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
  TRY(auto transaction, Transaction::begin(impl_->db.get()));
  TRY_VOID(execute(impl_->db.get(), "DELETE FROM embeddings"));
  Statement rows(impl_->db.get(), (std::string(entry_columns) + "ORDER BY e.id").c_str());
  while (true) {
    TRY(const bool row, rows.step());
    if (!row) break;
    // An entry that cannot be read has no vector; `verify` reports it.
    if (const auto entry = read_entry(rows)) TRY_VOID(impl_->embed(rows.text(0), *entry));
  }
  return transaction.commit();
}

Result<StoreStats> Store::stats() const {
  sqlite3* db = impl_->db.get();
  StoreStats result;
  // Not count(*): SQLite counts all rows in one step, outside of every budget.
  TRY(result.entries, pragma(db, "SELECT count(id) FROM entries"));
  TRY(result.nests, pragma(db, "SELECT count(DISTINCT structural_hash) FROM nests"));
  TRY(result.machines, pragma(db, "SELECT count(id) FROM hardware"));
  TRY(result.bytes, pragma(db, "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"));
  TRY(const std::int64_t version, pragma(db, "PRAGMA user_version"));
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
  for (const char* check : {"PRAGMA integrity_check", "PRAGMA foreign_key_check"}) {
    Statement rows(impl_->db.get(), check);
    while (true) {
      TRY(const bool row, rows.step());
      if (!row) break;
      if (rows.text(0) != "ok") problems.push_back({"db.corrupt", rows.text(0), impl_->path.string()});
    }
  }
  Statement rows(impl_->db.get(), (std::string(entry_columns) + "ORDER BY e.id").c_str());
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
  Statement rows(impl_->db.get(), (std::string(entry_columns) + "ORDER BY e.id").c_str());
  while (true) {
    TRY(const bool row, rows.step());
    if (!row) return lines;
    TRY(const Entry entry, read_entry(rows));
    lines += to_json(entry) + "\n";
  }
}

Result<ImportResult> Store::import_lines(std::string_view lines, const std::string& origin) {
  TRY(auto transaction, Transaction::begin(impl_->db.get()));
  ImportResult result;
  int number = 0;
  while (!lines.empty()) {
    ++number;
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    const std::string_view line = lines.substr(0, end);
    lines.remove_prefix(std::min(end + 1, lines.size()));
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const auto entry = entry_from_json(line);
    if (!entry) return fail("db.import", as_one_line(entry.error().to_string()), origin + ":" + std::to_string(number));
    TRY(const bool added, impl_->insert(*entry));
    ++(added ? result.added : result.known);
  }
  TRY_VOID(transaction.commit());
  return result;
}

Result<std::string> Store::generation() const {
  TRY(const std::int64_t others, pragma(impl_->db.get(), "PRAGMA data_version"));
  return std::to_string(others) + "." + std::to_string(sqlite3_total_changes64(impl_->db.get()));
}

}  // namespace sous::tuning_db
