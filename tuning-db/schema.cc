#include "tuning-db/schema.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace sous::tuning_db {
namespace {

namespace fs = std::filesystem;

constexpr int application_id = 0x736f7573;  // "sous"

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
    R"(
ALTER TABLE entries ADD COLUMN seeded INTEGER NOT NULL DEFAULT 0;
CREATE TABLE seeds(fingerprint TEXT PRIMARY KEY);
)",
    R"(
ALTER TABLE entries ADD COLUMN least TEXT NOT NULL DEFAULT '';
)",
    R"(
CREATE TABLE tokens(
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  hash TEXT NOT NULL,
  scopes TEXT NOT NULL,
  created TEXT NOT NULL,
  revoked TEXT NOT NULL DEFAULT '');
CREATE TABLE writes(
  number INTEGER PRIMARY KEY,
  time TEXT NOT NULL,
  who TEXT NOT NULL,
  what TEXT NOT NULL);
)",
    R"(
ALTER TABLE entries ADD COLUMN sent INTEGER NOT NULL DEFAULT 0;
CREATE INDEX entries_unconfirmed ON entries(nest) WHERE sent = 1;
CREATE TABLE senders(
  entry TEXT NOT NULL REFERENCES entries(id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  PRIMARY KEY(entry, name));
CREATE INDEX senders_by_name ON senders(name);
CREATE TABLE changes(entries INTEGER NOT NULL);
INSERT INTO changes(entries) VALUES(0);
)",
    R"(
CREATE TABLE wanted(
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  nest TEXT NOT NULL,
  structural_hash TEXT NOT NULL,
  sizes TEXT NOT NULL,
  size_class TEXT NOT NULL,
  hardware TEXT NOT NULL,
  class TEXT NOT NULL,
  reassociate INTEGER NOT NULL,
  work REAL NOT NULL,
  time TEXT NOT NULL,
  PRIMARY KEY(id, name));
CREATE INDEX wanted_by_name ON wanted(name);
)",
    R"(
CREATE TABLE jobs(
  subject TEXT NOT NULL,
  class TEXT NOT NULL,
  kind TEXT NOT NULL,
  structural_hash TEXT NOT NULL,
  entry TEXT NOT NULL,
  whose TEXT NOT NULL,
  state TEXT NOT NULL,
  lease TEXT NOT NULL,
  worker TEXT NOT NULL,
  since INTEGER NOT NULL,
  until INTEGER NOT NULL,
  tries INTEGER NOT NULL,
  code TEXT NOT NULL,
  PRIMARY KEY(subject, class));
CREATE INDEX jobs_by_lease ON jobs(lease);
CREATE INDEX jobs_by_entry ON jobs(entry);
CREATE INDEX jobs_by_time ON jobs(since);
CREATE INDEX wanted_by_hash ON wanted(structural_hash);
)",
    R"(
ALTER TABLE nests ADD COLUMN sizeless TEXT NOT NULL DEFAULT '';
CREATE INDEX nests_by_sizeless ON nests(sizeless);
)",
};
constexpr int schema = std::size(migrations);

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

// Inside a transaction, if others may look at the file.
Result<void> migrate(sqlite3* db, int from, int to = schema) {
  SOUS_ASSERT(from >= 0 && to <= schema);
  for (int version = from; version < to; ++version) TRY_VOID(execute(db, migrations[version]));
  TRY_VOID(execute(db, ("PRAGMA user_version = " + std::to_string(to)).c_str()));
  return execute(db, ("PRAGMA application_id = " + std::to_string(application_id)).c_str());
}

Error at(Error error, const fs::path& path) {
  if (error.where.empty()) error.where = path.string();
  return error;
}

// What the header of a file says, and what it holds.
struct Header {
  std::int64_t version = 0, application = 0, objects = 0;
  bool blank() const { return application == 0 && version == 0 && objects == 0; }
};

Result<Header> read_header(sqlite3* db) {
  Header h;
  TRY(h.version, number(db, "PRAGMA user_version"));
  TRY(h.application, number(db, "PRAGMA application_id"));
  TRY(h.objects, number(db, "SELECT count(name) FROM sqlite_master"));
  return h;
}

// Whether it is ours, and of which version. A file whose tables are not exactly those that the migrations make came
// from elsewhere: a table of the right name may be a view, or compute a column by an expression of its own.
Result<int> version_of(sqlite3* db, const fs::path& path) {
  TRY(const Header header, read_header(db));
  if (header.blank()) return 0;
  if (header.application != application_id || header.version < 0)
    return fail("db.foreign", "this SQLite database belongs to another program; it is left as it is", path.string());
  if (header.version > schema)
    return fail(
        "db.schema-newer",
        "the database has schema " + std::to_string(header.version) + "; this program knows " + std::to_string(schema),
        path.string());
  const int version = static_cast<int>(header.version);
  TRY(auto model, open_file(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY));
  TRY_VOID(migrate(model.get(), 0, version));
  TRY(const std::string expected, schema_text(model.get()));
  TRY(const std::string found, schema_text(db));
  if (found == expected) return version;
  return fail("db.foreign", "this database has other tables than this program makes; it is left as it is",
              path.string());
}

// Another build may bring the file up to date meanwhile: what is looked at is looked at in one transaction. A file that
// cannot be written stays as it is; nothing that is read of it is newer than the first schema.
Result<void> bring_up_to_date(sqlite3* db, const fs::path& path) {
  {
    TRY(auto reading, Transaction::begin(db, "BEGIN"));
    TRY(const int version, version_of(db, path));
    if (version == schema || sqlite3_db_readonly(db, "main") == 1) return reading.commit();
  }
  TRY(auto transaction, Transaction::begin(db));
  TRY(const int version, version_of(db, path));
  TRY_VOID(migrate(db, version));
  return transaction.commit();
}

}  // namespace

Result<Handle> open_existing(const fs::path& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return fail("db.open", "this is no regular file", path.string());
  TRY(auto db, open_file(path, SQLITE_OPEN_READWRITE));
  // Reading the header is what makes SQLite look at the file.
  const auto header = read_header(db.get());
  if (const int code = sqlite3_errcode(db.get()); !header && (code == SQLITE_NOTADB || code == SQLITE_CORRUPT))
    return fail("db.corrupt", "this is no SQLite database, or a damaged one; it is left as it is", path.string());
  if (!header) return std::unexpected(at(header.error(), path));
  if (header->application != application_id && !header->blank())
    return fail("db.foreign", "this SQLite database belongs to another program; it is left as it is", path.string());
  if (auto mode = execute(db.get(), "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON");
      !mode && sqlite3_db_readonly(db.get(), "main") != 1)
    return std::unexpected(at(mode.error(), path));
  if (auto done = bring_up_to_date(db.get(), path); !done) return std::unexpected(at(done.error(), path));
  return db;
}

Result<void> create_database(const fs::path& path, const std::function<Result<void>(Handle)>& fill) {
  std::error_code error;
  if (path.has_parent_path()) fs::create_directories(path.parent_path(), error);
  std::string temporary = path.string() + ".new-XXXXXX";
  const int file = ::mkstemp(temporary.data());
  if (file < 0) return fail("db.open", std::strerror(errno), path.string());
  ::fchmod(file, 0644);
  ::close(file);
  const auto made = [&]() -> Result<void> {
    TRY(auto db, open_file(temporary, SQLITE_OPEN_READWRITE));
    // No WAL while it is filled: nothing but the one file may be left to rename.
    TRY_VOID(migrate(db.get(), 0));
    TRY_VOID(execute(db.get(), "PRAGMA foreign_keys = ON"));
    TRY_VOID(fill(std::move(db)));
    if (::link(temporary.c_str(), path.c_str()) != 0 && errno != EEXIST)
      return fail("db.io", std::strerror(errno), path.string());
    return {};
  }();
  for (const char* suffix : {"", "-journal", "-wal", "-shm"}) ::unlink((temporary + suffix).c_str());
  if (!made) return std::unexpected(at(made.error(), path));
  return {};
}

}  // namespace sous::tuning_db
