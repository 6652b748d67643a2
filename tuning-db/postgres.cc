#include "tuning-db/postgres.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string_view>
#include <utility>

#include "tuning-db/libpq.h"
#include "tuning-db/migrations.h"

namespace sous::tuning_db {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds longest_connecting = 5s, longest_answer = 10s, longest_patient_answer = 120s;
// Of one that was asked something: then it is asked for a sign of life, since what it was asked may take long.
constexpr std::chrono::milliseconds longest_silence = 2s;
constexpr const char* longest_sign_of_life = "2";  // seconds
// After a try to connect that failed, everybody is told so at once: who waits holds up the others.
constexpr auto pause_between_tries = 500ms;

bool is_read(std::string_view sql) {
  return sql.starts_with("SELECT") || sql.starts_with("WITH") || sql.starts_with("BEGIN");
}

// False: the time is over. Errors of poll are seen by who reads.
bool wait_for(int socket, short events, Clock::time_point end, int wake = -1) {
  std::array<pollfd, 2> files{{{socket, events, 0}, {wake, POLLIN, 0}}};
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
    const int ready = ::poll(files.data(), wake < 0 ? 1 : 2, static_cast<int>(std::clamp<long>(left, 0, 1 << 30)));
    if (ready < 0 && errno == EINTR) continue;
    return ready != 0;
  }
}

std::string one_line(const char* message) {
  std::string text = message == nullptr ? "" : message;
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  std::ranges::replace(text, '\n', ' ');
  return text;
}

// What PostgreSQL refused, by its SQLSTATE.
Error error_of(const PGresult* result) {
  const char* const field = libpq()->PQresultErrorField(result, PG_DIAG_SQLSTATE);
  const std::string_view state = field == nullptr ? "" : field;
  const std::string why = one_line(libpq()->PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY));
  if (state == "55P03" || state == "40P01" || state == "40001")
    return {"db.busy", "others have what is to be written: " + why};
  // Shutting down, starting, no connection to spare.
  if (state.starts_with("57P") || state.starts_with("08") || state == "53300") return {"db.unreachable", why};
  return {"db.io", "PostgreSQL: " + why};
}

}  // namespace

void PostgresConnection::drop() {
  if (connection_ != nullptr) libpq()->PQfinish(connection_);
  connection_ = nullptr;
  prepared_.clear();
  listens_ = false;
}

std::unexpected<Error> PostgresConnection::lost(std::string why) {
  drop();
  return fail("db.unreachable", "PostgreSQL: " + std::move(why));
}

// As if it could not be connected to: a second try would wait as long again.
std::unexpected<Error> PostgresConnection::hangs() {
  auto error = lost("it does not answer");
  failed_ = error.error();
  failed_at_ = Clock::now();
  return error;
}

Result<void> PostgresConnection::connect() {
  const Libpq* const pq = libpq();
  if (pq == nullptr) return fail("db.driver", "PostgreSQL's client library is not here: install libpq5");
  // The first ones are what a URL may say otherwise.
  const std::array names{"fallback_application_name", "tcp_user_timeout",  "keepalives_idle", "dbname",
                         "client_encoding",           (const char*)nullptr};
  const std::array values{"sous", "10000", "10", url_.c_str(), "UTF8", (const char*)nullptr};
  connection_ = pq->PQconnectStartParams(names.data(), values.data(), 1);
  if (connection_ == nullptr) return fail("db.unreachable", "out of memory");
  const auto end = Clock::now() + longest_connecting;
  for (auto state = PGRES_POLLING_WRITING; state != PGRES_POLLING_OK; state = pq->PQconnectPoll(connection_)) {
    if (state == PGRES_POLLING_FAILED || pq->PQstatus(connection_) == CONNECTION_BAD)
      return lost(one_line(pq->PQerrorMessage(connection_)));
    if (!wait_for(pq->PQsocket(connection_), state == PGRES_POLLING_READING ? POLLIN : POLLOUT, end))
      return lost("it does not answer");
  }
  pq->PQsetnonblocking(connection_, 1);
  pq->PQsetNoticeProcessor(connection_, [](void*, const char*) {}, nullptr);
  TRY([[maybe_unused]] const Reply set,
      plain("SET search_path TO sous; SET lock_timeout TO '5s'; SET statement_timeout TO '120s'; "
            "SET idle_in_transaction_session_timeout TO '120s'"));
  if (durable_) TRY_VOID(make_durable());
  return check_schema();
}

Result<void> PostgresConnection::check_schema() {
  if (!checked_) return {};
  TRY(const Reply there, plain("SELECT version FROM sous.schema"));
  const std::string version = libpq()->PQntuples(there.get()) == 1 ? libpq()->PQgetvalue(there.get(), 0, 0) : "";
  const std::string has =
      "the database has schema " + version + "; this program knows " + std::to_string(newest_schema);
  int number = 0;
  std::from_chars(version.data(), version.data() + version.size(), number);
  if (number < newest_schema) return fail("db.schema-older", has + ": sous db migrate brings it up to date");
  if (number > newest_schema) return fail("db.schema-newer", has);
  return {};
}

Result<void> PostgresConnection::ready() {
  if (connection_ != nullptr && libpq()->PQstatus(connection_) == CONNECTION_OK) return {};
  if (in_transaction_) return fail("db.unreachable", "PostgreSQL: the connection was lost");
  if (failed_ && Clock::now() - failed_at_ < pause_between_tries) return std::unexpected(*failed_);
  drop();
  failed_.reset();
  if (auto connected = connect(); !connected) {
    drop();
    failed_ = std::move(connected).error();
    failed_at_ = Clock::now();
    return std::unexpected(*failed_);
  }
  return {};
}

// Whether it says anything at all to one more who wants to connect.
bool PostgresConnection::lives() const {
  const std::array names{"dbname", "connect_timeout", (const char*)nullptr};
  // Behind the URL, which may say another time.
  const std::array values{url_.c_str(), longest_sign_of_life, (const char*)nullptr};
  return libpq()->PQpingParams(names.data(), values.data(), 1) != PQPING_NO_RESPONSE;
}

// False: nothing will come. Errors of the connection are seen by who reads.
bool PostgresConnection::wait_for_answer(short events, Clock::time_point end) {
  const int socket = libpq()->PQsocket(connection_);
  if (patient_) return wait_for(socket, events, end);
  while (!wait_for(socket, events, std::min(end, Clock::now() + longest_silence)))
    if (Clock::now() >= end || !lives()) return false;
  return true;
}

// Sends what is left, and takes what comes until the statement is done. The first error counts.
Result<PostgresConnection::Reply> PostgresConnection::finish_exchange(bool sent) {
  const Libpq* const pq = libpq();
  if (!sent) return lost(one_line(pq->PQerrorMessage(connection_)));
  const auto end = Clock::now() + (patient_ ? longest_patient_answer : longest_answer);
  Reply last;
  std::optional<Error> wrong;
  while (true) {
    const int left = pq->PQflush(connection_);
    if (left < 0) return lost(one_line(pq->PQerrorMessage(connection_)));
    if (left > 0 || pq->PQisBusy(connection_)) {
      if (!wait_for_answer(static_cast<short>(left > 0 ? POLLIN | POLLOUT : POLLIN), end)) return hangs();
      if (pq->PQconsumeInput(connection_) == 0) return lost(one_line(pq->PQerrorMessage(connection_)));
      continue;
    }
    PGresult* const result = pq->PQgetResult(connection_);
    if (result == nullptr) break;
    last = Reply(result, [](PGresult* one) { libpq()->PQclear(one); });
    const auto status = pq->PQresultStatus(result);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK && !wrong) wrong = error_of(result);
  }
  if (pq->PQstatus(connection_) != CONNECTION_OK) return lost(wrong ? wrong->why : "the connection was lost");
  if (wrong) return std::unexpected(std::move(*wrong));
  return last;
}

Result<PostgresConnection::Reply> PostgresConnection::plain(const std::string& sql) {
  return finish_exchange(libpq()->PQsendQuery(connection_, sql.c_str()) == 1);
}

Result<PostgresConnection::Reply> PostgresConnection::try_once(const std::string& sql,
                                                               const std::vector<Parameter>& parameters) {
  const Libpq* const pq = libpq();
  TRY_VOID(ready());
  auto known = prepared_.find(sql);
  if (known == prepared_.end()) {
    const std::string name = "s" + std::to_string(prepared_.size());
    TRY([[maybe_unused]] const Reply done,
        finish_exchange(pq->PQsendPrepare(connection_, name.c_str(), sql.c_str(), 0, nullptr) == 1));
    known = prepared_.emplace(sql, name).first;
  }
  std::vector<const char*> values;
  std::vector<int> lengths, formats;
  for (const Parameter& one : parameters) {
    values.push_back(one.bytes.c_str());
    lengths.push_back(static_cast<int>(one.bytes.size()));
    formats.push_back(one.is_binary ? 1 : 0);
  }
  return finish_exchange(pq->PQsendQueryPrepared(connection_, known->second.c_str(), static_cast<int>(values.size()),
                                                 values.data(), lengths.data(), formats.data(), 0) == 1);
}

// A connection that was lost while nobody asked is noticed by the first who does, and who only reads need not know.
Result<PostgresConnection::Reply> PostgresConnection::ask(const std::string& sql,
                                                          const std::vector<Parameter>& parameters) {
  const bool again = !in_transaction_ && connection_ != nullptr && is_read(sql);
  auto reply = try_once(sql, parameters);
  if (again && !reply && reply.error().code == "db.unreachable") return try_once(sql, parameters);
  return reply;
}

Result<void> PostgresConnection::execute(const std::string& sql) {
  TRY_VOID(ready());
  TRY([[maybe_unused]] const Reply done, plain(sql));
  return {};
}

// Whoever changes entries has the one row of `changes` first: so what it looks at stays as it is until it is done, as
// in SQLite, where a writer has the file.
Result<void> PostgresConnection::begin(Turn turn) {
  TRY([[maybe_unused]] const Reply begun,
      ask(turn == Turn::read ? "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY" : "BEGIN", {}));
  in_transaction_ = true;
  ++transactions_;
  const auto taken = [&]() -> Result<void> {
    if (patient_) TRY_VOID(execute("SET LOCAL lock_timeout TO '60s'"));
    if (turn == Turn::write) TRY_VOID(execute("SELECT entries FROM changes FOR UPDATE"));
    return {};
  }();
  if (!taken) rollback();
  return taken;
}

// Of a commit whose answer is lost nobody knows whether it was made: it is not acknowledged. After a statement that
// failed PostgreSQL takes it, and rolls back.
Result<void> PostgresConnection::commit() {
  TRY_VOID(ready());
  TRY(const Reply done, plain("COMMIT"));
  in_transaction_ = false;
  if (std::string_view(libpq()->PQcmdStatus(done.get())) != "COMMIT")
    return fail("db.io", "PostgreSQL: a statement of the transaction had failed; nothing of it is kept");
  return {};
}

void PostgresConnection::rollback() {
  if (connection_ != nullptr && libpq()->PQstatus(connection_) == CONNECTION_OK) static_cast<void>(plain("ROLLBACK"));
  in_transaction_ = false;
}

bool PostgresConnection::is_read_only() {
  return number(*this,
                "SELECT pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on' OR NOT "
                "has_table_privilege('entries', 'INSERT')")
             .value_or(0) == 1;
}

// Of one that is checked it is known.
Result<std::int64_t> PostgresConnection::schema_version() {
  if (checked_) return newest_schema;
  return number(*this, "SELECT version FROM sous.schema");
}

Result<std::int64_t> PostgresConnection::bytes() {
  return number(*this,
                "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::BIGINT FROM pg_class c "
                "JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'sous' AND c.relkind = 'r'");
}

Result<std::int64_t> PostgresConnection::clock() {
  return number(*this, "SELECT floor(extract(epoch FROM clock_timestamp()))::BIGINT");
}

// What an administrator asks for beyond that (a standby that has it, too) stays.
Result<void> PostgresConnection::make_durable() {
  durable_ = true;
  if (connection_ == nullptr) return {};  // when it is made
  TRY([[maybe_unused]] const Reply set,
      plain(
          "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'"));
  return {};
}

Result<void> PostgresConnection::announce_change() { return execute("NOTIFY sous_entries"); }

// Returns at once when it begins to listen: what was announced until then was missed.
Result<void> PostgresConnection::wait_for_change(std::chrono::milliseconds most, int wake) {
  const Libpq* const pq = libpq();
  TRY_VOID(ready());
  if (!listens_) {
    // A standby that only reads cannot listen: there the time is waited for.
    TRY(const std::int64_t standby, number(*this, "SELECT pg_is_in_recovery()"));
    if (standby == 0) TRY_VOID(execute("LISTEN sous_entries"));
    listens_ = true;
    return {};
  }
  // One look answers all that came until then.
  const auto came = [&] {
    bool any = false;
    while (PGnotify* const one = pq->PQnotifies(connection_)) any = true, pq->PQfreemem(one);
    return any;
  };
  if (came()) return {};
  if (!wait_for(pq->PQsocket(connection_), POLLIN, Clock::now() + most, wake)) return execute("SELECT 1");
  if (pq->PQconsumeInput(connection_) == 0 || pq->PQstatus(connection_) != CONNECTION_OK)
    return lost(one_line(pq->PQerrorMessage(connection_)));
  static_cast<void>(came());
  return {};
}

}  // namespace sous::tuning_db
