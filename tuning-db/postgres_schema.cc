#include "tuning-db/postgres_schema.h"

#include "tuning-db/migrations.h"
#include "tuning-db/postgres.h"

namespace sous::tuning_db {
namespace {

// Of servers that start at the same moment one makes the tables: "sous" as a number.
constexpr const char* alone = "SELECT pg_advisory_xact_lock(1936683379)";

// By the catalogue's rows: the functions that look up names may remember that there was none before this waited.
constexpr const char* relations_there =
    "SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'sous'";
constexpr const char* are_there =
    "SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'sous' "
    "AND c.relname = 'schema'";

// 0: there are no tables yet. Behind `alone`.
Result<std::int64_t> version_there(PostgresConnection& db) {
  TRY(const std::int64_t ours, number(db, are_there));
  if (ours != 0) return number(db, "SELECT version FROM sous.schema");
  TRY(const std::int64_t taken, number(db, relations_there));
  if (taken == 0) return 0;
  return fail("db.foreign", "the schema \"sous\" of this database belongs to another program; it is left as it is");
}

Result<void> go_to(PostgresConnection& db, std::int64_t from, int to) {
  if (from > newest_schema)
    return fail("db.schema-newer", "the database has schema " + std::to_string(from) + "; this program knows " +
                                       std::to_string(newest_schema));
  if (from == 0)
    TRY_VOID(
        db.execute("CREATE SCHEMA IF NOT EXISTS sous; CREATE TABLE sous.schema(version BIGINT NOT NULL); "
                   "INSERT INTO sous.schema VALUES(0)"));
  if (from == to) return {};  // an empty query is an error there
  TRY_VOID(db.execute(migration(static_cast<int>(from), to, SqlOf::postgres)));
  return db.execute("UPDATE sous.schema SET version = " + std::to_string(to));
}

}  // namespace

Result<std::unique_ptr<Connection>> postgres_at(const std::string& url, bool any_schema) {
  return std::make_unique<PostgresConnection>(url, !any_schema);
}

Result<void> create_tables(const std::string& url) {
  PostgresConnection db(url, false);
  TRY(const std::int64_t there, number(db, are_there));
  if (there == 0) {
    const PatientConnection patient(db);
    TRY(auto transaction, Transaction::begin(db, Turn::rows));
    TRY_VOID(db.execute(alone));
    TRY(const std::int64_t version, version_there(db));
    if (version == 0) TRY_VOID(go_to(db, 0, newest_schema));
    TRY_VOID(transaction.commit());
  }
  PostgresConnection checked(url);
  TRY([[maybe_unused]] const std::int64_t now, checked.clock());
  return {};
}

Result<void> migrate_tables(const std::string& url, int to) {
  PostgresConnection db(url, false);
  const PatientConnection patient(db);
  TRY(auto transaction, Transaction::begin(db, Turn::rows));
  TRY_VOID(db.execute(alone));
  TRY(const std::int64_t version, version_there(db));
  TRY_VOID(go_to(db, version, to));
  return transaction.commit();
}

}  // namespace sous::tuning_db
