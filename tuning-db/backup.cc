#include "tuning-db/backup.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "tuning-db/migrations.h"
#include "tuning-db/places.h"
#include "tuning-db/postgres_schema.h"
#include "tuning-db/schema.h"
#include "tuning-db/tables.h"

namespace sous::tuning_db {
namespace {

namespace fs = std::filesystem;

struct Finish {
  void operator()(sqlite3_backup* copying) const { sqlite3_backup_finish(copying); }
};
using Copying = std::unique_ptr<sqlite3_backup, Finish>;

Result<void> copy(sqlite3* from, sqlite3* to) {
  const Copying copying(sqlite3_backup_init(to, "main", from, "main"));
  if (copying && sqlite3_backup_step(copying.get(), -1) == SQLITE_DONE) return {};
  return fail("db.io", sqlite3_errmsg(to));
}

// A name of its own until it is whole. What SQLite keeps beside it goes with it.
class Temporary {
 public:
  static Result<Temporary> beside(const fs::path& path) {
    std::string name = path.string() + ".new-XXXXXX";
    const int file = ::mkstemp(name.data());
    if (file < 0) return fail("db.io", std::strerror(errno), path.string());
    ::close(file);
    return Temporary(std::move(name));
  }
  Temporary(Temporary&& other) noexcept : path_(std::exchange(other.path_, fs::path())) {}
  Temporary& operator=(Temporary&&) = delete;
  ~Temporary() {
    if (path_.empty()) return;
    for (const char* suffix : {"", "-journal", "-wal", "-shm"}) ::unlink((path_.string() + suffix).c_str());
  }
  const fs::path& path() const { return path_; }
  // link and not rename: it refuses to overwrite.
  Result<void> put_at(const fs::path& place) const {
    if (::link(path_.c_str(), place.c_str()) == 0) return {};
    if (errno == EEXIST) return fail("db.exists", "there is a file already; it is left as it is", place.string());
    return fail("db.io", std::strerror(errno), place.string());
  }

 private:
  explicit Temporary(fs::path path) : path_(std::move(path)) {}
  fs::path path_;
};

Result<Temporary> copy_beside(const SqliteConnection& from, const fs::path& path) {
  TRY(Temporary made, Temporary::beside(path));
  TRY(const auto to, SqliteConnection::open(made.path(), SQLITE_OPEN_READWRITE));
  TRY_VOID(copy(from.raw(), to->raw()));
  // One file is all of it: without a log beside it.
  TRY_VOID(to->execute("PRAGMA journal_mode = DELETE"));
  return made;
}

// A database of PostgreSQL as such a file; in a transaction, of which it is one moment.
Result<Temporary> file_of(Connection& db, const fs::path& beside) {
  TRY(const std::int64_t version, db.schema_version());
  if (version < 1 || version > newest_schema)
    return fail("db.schema-newer", "the database has schema " + std::to_string(version) + "; this program knows " +
                                       std::to_string(newest_schema));
  TRY(Temporary made, Temporary::beside(beside));
  TRY(const auto file, SqliteConnection::open(made.path(), SQLITE_OPEN_READWRITE));
  file->lift_budgets();
  TRY_VOID(fill_file(*file, static_cast<int>(version)));
  TRY(const auto tables, tables_of(*file));
  TRY(auto filling, Transaction::begin(*file, Turn::write));
  TRY_VOID(file->execute("DELETE FROM changes"));
  for (const Table& table : tables) TRY_VOID(copy_rows(table, db, *file));
  TRY_VOID(filling.commit());
  return made;
}

// Under the first name beside `place` that is free.
Result<fs::path> keep(const fs::path& place, const Temporary& copy) {
  for (int n = 1; n < 10'000; ++n) {
    const fs::path aside = place.string() + ".before-restore-" + std::to_string(n);
    const auto put = copy.put_at(aside);
    if (put) return aside;
    if (put.error().code != "db.exists") return std::unexpected(put.error());
  }
  return fail("db.io", "too many older ones are kept beside it", place.string());
}

Result<void> make_way(const fs::path& database, fs::path& kept) {
  for (int n = 1; n < 10'000; ++n) {
    kept = database.string() + ".before-restore-" + std::to_string(n);
    if (::link(database.c_str(), kept.c_str()) == 0) break;
    if (errno != EEXIST) return fail("db.io", std::strerror(errno), kept.string());
  }
  ::unlink(database.c_str());
  for (const char* suffix : {"-wal", "-shm"})
    ::rename((database.string() + suffix).c_str(), (kept.string() + suffix).c_str());
  return {};
}

// One try. False: somebody wrote meanwhile.
Result<bool> replace(SqliteConnection& copy, const fs::path& database, fs::path& kept) {
  TRY(const auto watching, open_file(database));
  TRY(const auto live, open_file(database));
  constexpr const char* version = "PRAGMA data_version";
  TRY(const auto before, number(*watching, version));
  TRY(const Temporary old, copy_beside(*watching, database));
  // Who follows the database looks at this number (Store::generation): it has to be one that was not there before.
  TRY(const auto changes, number(*watching, "SELECT entries FROM changes"));
  TRY(const auto own, number(copy, "SELECT entries FROM changes"));
  Statement set(copy, "UPDATE changes SET entries = ?");
  TRY_VOID(set.bind(std::to_string(std::max(changes, own) + 1)).run());

  Copying copying(sqlite3_backup_init(live->raw(), "main", copy.raw(), "main"));
  if (!copying) return fail("db.io", sqlite3_errmsg(live->raw()), database.string());
  // From the first page on nobody else writes; up to then somebody may have, of which `old` knows nothing.
  const int first = sqlite3_backup_step(copying.get(), 1);
  if (first == SQLITE_BUSY || first == SQLITE_LOCKED) return false;
  if (first == SQLITE_OK || first == SQLITE_DONE) {
    TRY(const auto now, number(*watching, version));
    if (now != before) return false;
    TRY(kept, keep(database, old));
  }
  if (first == SQLITE_DONE || sqlite3_backup_step(copying.get(), -1) == SQLITE_DONE) {
    copying.reset();
    return true;
  }
  return fail("db.io", sqlite3_errmsg(live->raw()), database.string());
}

// Those who read go on with what was there until it is done; those who write wait.
Result<fs::path> put_into_postgres(SqliteConnection& copy, const fs::path& from, const std::string& url) {
  TRY_VOID(create_tables(url));
  TRY(const Handle db, postgres_at(url));
  const PatientConnection patient(*db);
  TRY(const auto tables, tables_of(copy));
  std::string names;
  for (const Table& table : tables) names += (names.empty() ? "" : ", ") + table.name;
  TRY(auto reading, Transaction::begin(copy, Turn::read));
  TRY(auto transaction, Transaction::begin(*db, Turn::write));
  TRY_VOID(db->execute("LOCK TABLE " + names + " IN EXCLUSIVE MODE"));
  TRY(const std::int64_t held, number(*db, "SELECT (SELECT count(*) FROM entries) + (SELECT count(*) FROM tokens)"));
  fs::path kept;
  if (held > 0) {
    TRY(const Temporary old, file_of(*db, from));
    TRY(kept, keep(from, old));
  }
  TRY(const std::int64_t before, number(*db, "SELECT entries FROM changes"));
  for (auto table = tables.rbegin(); table != tables.rend(); ++table)
    TRY_VOID(db->execute("DELETE FROM " + table->name));
  for (const Table& table : tables) TRY_VOID(copy_rows(table, copy, *db));
  // A number that was not there before, as in `replace`.
  TRY_VOID(Statement(*db, "UPDATE changes SET entries = CASE WHEN entries < ?1 THEN ?1 ELSE entries END + 1")
               .bind(before)
               .run());
  TRY_VOID(db->announce_change());
  TRY_VOID(transaction.commit());
  return kept;
}

Result<void> back_up_postgres(const std::string& url, const fs::path& to) {
  TRY(const Handle db, postgres_at(url, true));
  const PatientConnection patient(*db);
  TRY([[maybe_unused]] auto reading, Transaction::begin(*db, Turn::read));
  TRY(const Temporary made, file_of(*db, to));
  return made.put_at(to);
}

}  // namespace

Result<void> back_up(const fs::path& database, const fs::path& to) {
  if (is_postgres(database)) return back_up_postgres(database.string(), to);
  TRY(const auto from, open_file(database));
  TRY(const Temporary made, copy_beside(*from, to));
  return made.put_at(to);
}

Result<fs::path> restore(const fs::path& from, const fs::path& database) {
  std::error_code error;
  if (!fs::is_regular_file(from, error)) return fail("db.open", "this is no regular file", from.string());
  const auto in = [&](Error why) {
    why.where = from.string();
    return std::unexpected(std::move(why));
  };
  // Looked at, and brought to this schema, as a copy.
  TRY(const auto original, SqliteConnection::open(from, SQLITE_OPEN_READONLY));
  const auto made = copy_beside(*original, is_postgres(database) ? from : database);
  if (!made) return in(made.error());
  const auto copy = open_file(made->path());
  if (!copy) return in(copy.error());
  (*copy)->lift_budgets();  // all of it is looked at, however large it is
  Statement check(**copy, "PRAGMA quick_check(1)");
  TRY(const bool row, check.step());
  if (!row || check.text(0) != "ok") return fail("db.corrupt", "the database is damaged inside", from.string());

  if (is_postgres(database)) return put_into_postgres(**copy, from, database.string());
  fs::path kept;
  const auto place = open_file(database);
  const bool is_there = fs::exists(database, error);
  if (!place && is_there && place.error().code != "db.corrupt") return std::unexpected(place.error());
  if (!place) {
    if (is_there) TRY_VOID(make_way(database, kept));
    TRY(const Temporary whole, copy_beside(**copy, database));
    TRY_VOID(whole.put_at(database));
    return kept;
  }
  for (int times = 0; times < 20; ++times) {
    TRY(const bool done, replace(**copy, database, kept));
    if (done) return kept;
  }
  return fail("db.busy", "others write to it all the time", database.string());
}

}  // namespace sous::tuning_db
