#include "tuning-db/schema.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "tuning-db/migrations.h"
#include "tuning-db/places.h"
#include "tuning-db/postgres_schema.h"

namespace sous::tuning_db {
namespace {

namespace fs = std::filesystem;

constexpr int application_id = 0x736f7573;  // "sous"

// "type name sql" of everything in the schema, sorted.
Result<std::string> schema_text(SqliteConnection& db) {
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
Result<void> migrate(SqliteConnection& db, int from, int to = newest_schema) {
  TRY_VOID(db.execute(migration(from, to, SqlOf::sqlite)));
  TRY_VOID(db.execute("PRAGMA user_version = " + std::to_string(to)));
  return db.execute("PRAGMA application_id = " + std::to_string(application_id));
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

Result<Header> read_header(SqliteConnection& db) {
  Header h;
  TRY(h.version, number(db, "PRAGMA user_version"));
  TRY(h.application, number(db, "PRAGMA application_id"));
  TRY(h.objects, number(db, "SELECT count(name) FROM sqlite_master"));
  return h;
}

// Whether it is ours, and of which version. A file whose tables are not exactly those that the migrations make came
// from elsewhere: a table of the right name may be a view, or compute a column by an expression of its own.
Result<int> version_of(SqliteConnection& db, const fs::path& path) {
  TRY(const Header header, read_header(db));
  if (header.blank()) return 0;
  if (header.application != application_id || header.version < 0)
    return fail("db.foreign", "this SQLite database belongs to another program; it is left as it is", path.string());
  if (header.version > newest_schema)
    return fail("db.schema-newer",
                "the database has schema " + std::to_string(header.version) + "; this program knows " +
                    std::to_string(newest_schema),
                path.string());
  const int version = static_cast<int>(header.version);
  TRY(auto model, SqliteConnection::open(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY));
  TRY_VOID(migrate(*model, 0, version));
  TRY(const std::string expected, schema_text(*model));
  TRY(const std::string found, schema_text(db));
  if (found == expected) return version;
  return fail("db.foreign", "this database has other tables than this program makes; it is left as it is",
              path.string());
}

// Another build may bring the file up to date meanwhile: what is looked at is looked at in one transaction. A file that
// cannot be written stays as it is; nothing that is read of it is newer than the first schema.
Result<void> bring_up_to_date(SqliteConnection& db, const fs::path& path) {
  {
    TRY(auto reading, Transaction::begin(db, Turn::read));
    TRY(const int version, version_of(db, path));
    if (version == newest_schema || db.is_read_only()) return reading.commit();
  }
  TRY(auto transaction, Transaction::begin(db, Turn::write));
  TRY(const int version, version_of(db, path));
  TRY_VOID(migrate(db, version));
  return transaction.commit();
}

}  // namespace

Result<std::unique_ptr<SqliteConnection>> open_file(const fs::path& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return fail("db.open", "this is no regular file", path.string());
  TRY(auto db, SqliteConnection::open(path, SQLITE_OPEN_READWRITE));
  // Reading the header is what makes SQLite look at the file.
  const auto header = read_header(*db);
  if (const int code = sqlite3_errcode(db->raw()); !header && (code == SQLITE_NOTADB || code == SQLITE_CORRUPT))
    return fail("db.corrupt", "this is no SQLite database, or a damaged one; it is left as it is", path.string());
  if (!header) return std::unexpected(at(header.error(), path));
  if (header->application != application_id && !header->blank())
    return fail("db.foreign", "this SQLite database belongs to another program; it is left as it is", path.string());
  if (auto mode = db->execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON");
      !mode && !db->is_read_only())
    return std::unexpected(at(mode.error(), path));
  if (auto done = bring_up_to_date(*db, path); !done) return std::unexpected(at(done.error(), path));
  return db;
}

Result<Handle> open_existing(const fs::path& place) {
  if (is_postgres(place)) return postgres_at(place.string());
  return open_file(place);
}

Result<void> fill_file(SqliteConnection& db, int version) {
  TRY_VOID(migrate(db, 0, version));
  return db.execute("PRAGMA foreign_keys = ON");
}

Result<void> migrate_database(const fs::path& path, int to) {
  if (is_postgres(path)) return migrate_tables(path.string(), to);
  TRY(const auto db, open_file(path));
  TRY(auto transaction, Transaction::begin(*db, Turn::write));
  TRY(const int version, version_of(*db, path));
  TRY_VOID(migrate(*db, version, to));
  return transaction.commit();
}

Result<void> create_file(const fs::path& path, const std::function<Result<void>(Handle)>& fill) {
  std::error_code error;
  if (path.has_parent_path()) fs::create_directories(path.parent_path(), error);
  std::string temporary = path.string() + ".new-XXXXXX";
  const int file = ::mkstemp(temporary.data());
  if (file < 0) return fail("db.open", std::strerror(errno), path.string());
  ::fchmod(file, 0644);
  ::close(file);
  const auto made = [&]() -> Result<void> {
    TRY(auto db, SqliteConnection::open(temporary, SQLITE_OPEN_READWRITE));
    // No WAL while it is filled: nothing but the one file may be left to rename.
    TRY_VOID(fill_file(*db, newest_schema));
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
