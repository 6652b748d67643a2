#include "tuning-db/ledger.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <utility>

#include "tuning-db/confirm.h"
#include "tuning-db/connection.h"
#include "tuning-db/insert.h"
#include "tuning-db/places.h"
#include "tuning-db/schema.h"
#include "tuning-db/utc.h"

namespace sous::tuning_db {
namespace {

constexpr std::array scopes_in_order = {Scope::read, Scope::upload, Scope::work, Scope::admin};
constexpr const char* token_columns = "SELECT id, name, hash, scopes, created, revoked FROM tokens ";

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= 64 && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' ||
           c == '_';
  });
}

// The row may say anything: scopes that are not known give nothing.
Token read_token(const Statement& row) {
  return {.id = row.text(0),
          .name = row.text(1),
          .hash = row.text(2),
          .scopes = parse_scopes(row.text(3)).value_or(Scopes{}),
          .created = row.text(4),
          .revoked = row.text(5)};
}

Result<std::vector<Token>> read_tokens(Statement& rows) {
  std::vector<Token> all;
  while (true) {
    TRY(const bool row, rows.step());
    if (!row) return all;
    all.push_back(read_token(rows));
  }
}

// Who works on the file itself, and needs no token.
constexpr const char* operator_of_the_file = "-";

// Of what was written the last is kept. Some at a time, each some notes: so a look costs the same however many there
// are.
Result<void> forget_old_notes(Connection& db, std::int64_t now) {
  constexpr std::int64_t notes_between_looks = 64;
  TRY(const std::int64_t last, number(db, "SELECT max(number) FROM writes"));
  if (last % notes_between_looks != 0) return {};
  const auto forget = [&](const std::string& which) {
    return Statement(db, "DELETE FROM writes WHERE number IN (SELECT number FROM writes WHERE " + which +
                             " ORDER BY number LIMIT 1000 " + db.lock_free_rows() + ")");
  };
  // However much one party writes, what was done to the file itself is not pushed out.
  TRY_VOID(forget("number <= ? AND who <> ?").bind(last - most_noted).bind(operator_of_the_file).run());
  return forget("time < ? AND number <= (SELECT min(number) + 1000 FROM writes)")
      .bind(utc_text(now - noted_for_seconds))
      .run();
}

Result<void> note(Connection& db, const std::string& who, const std::string& what) {
  TRY(const std::int64_t now, db.clock());
  TRY_VOID(Statement(db, "INSERT INTO writes(time, who, what) VALUES(?, ?, ?)")
               .bind(utc_text(now))
               .bind(who)
               .bind(what)
               .run());
  return forget_old_notes(db, now);
}

}  // namespace

std::string_view to_string(Scope scope) {
  switch (scope) {
    case Scope::read:
      return "read";
    case Scope::upload:
      return "upload";
    case Scope::work:
      return "work";
    case Scope::admin:
      return "admin";
  }
  __builtin_unreachable();
}

std::string to_string(Scopes scopes) {
  std::string text;
  for (const Scope scope : scopes_in_order)
    if ((scopes.bits & static_cast<unsigned>(scope)) != 0)
      text += (text.empty() ? "" : ",") + std::string(to_string(scope));
  return text;
}

Result<Scopes> parse_scopes(std::string_view text) {
  Scopes scopes;
  while (true) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view name = text.substr(0, comma);
    const auto known = std::ranges::find_if(scopes_in_order, [&](Scope scope) { return to_string(scope) == name; });
    if (known == scopes_in_order.end())
      return fail("token.scopes",
                  "scopes are some of read,upload,work,admin; not \"" + std::string(name.substr(0, 64)) + "\"");
    scopes.bits |= static_cast<unsigned>(*known);
    if (comma == text.size()) return scopes;
    text.remove_prefix(comma + 1);
  }
}

struct Ledger::Impl {
  const std::filesystem::path path;
  const std::function<Result<FileIdentity>()> served;

  struct Used {
    std::mutex mutex;
    Handle db;
    FileIdentity identity = {};
  };
  Used reading, writing;

  // With its lock held, for as long as the file is used.
  struct Use {
    std::unique_lock<std::mutex> lock;
    Connection* db = nullptr;
  };
  Result<Use> use(Used& connection) const {
    std::unique_lock lock(connection.mutex);
    const FileIdentity there = is_postgres(path) ? FileIdentity{} : identity_of(path);
    if (served) {
      TRY(const FileIdentity one, served());
      if (there != one)
        return fail("db.replaced", "another file is in the database's place, and is not served yet", path.string());
    }
    if (!connection.db || connection.identity != there) {
      TRY(connection.db, open_existing(path));
      TRY_VOID(connection.db->make_durable());  // what is acknowledged
      connection.identity = there;
    }
    return Use{std::move(lock), connection.db.get()};
  }
};

Ledger::Ledger(std::filesystem::path path, std::function<Result<FileIdentity>()> served)
    : impl_(std::make_unique<Impl>(std::move(path), std::move(served))) {}
Ledger::~Ledger() = default;

Result<void> Ledger::add(const Token& token) {
  if (!is_name(token.name))
    return fail("token.name", "a token's name has 1 to 64 letters, digits, dots, dashes and underscores");
  TRY(const auto use, impl_->use(impl_->writing));
  TRY(auto transaction, Transaction::begin(*use.db, Turn::rows));
  TRY(const std::int64_t now, use.db->clock());
  TRY_VOID(Statement(*use.db, "INSERT INTO tokens(id, name, hash, scopes, created) VALUES(?, ?, ?, ?, ?)")
               .bind(token.id)
               .bind(token.name)
               .bind(token.hash)
               .bind(to_string(token.scopes))
               .bind(utc_text(now))
               .run());
  TRY_VOID(note(*use.db, operator_of_the_file,
                "token " + token.id + " of " + token.name + " added: " + to_string(token.scopes)));
  return transaction.commit();
}

Result<std::vector<Token>> Ledger::tokens() {
  TRY(const auto use, impl_->use(impl_->reading));
  Statement rows(*use.db, std::string(token_columns) + "ORDER BY name, created, id");
  return read_tokens(rows);
}

Result<std::optional<Token>> Ledger::token(const std::string& id) {
  TRY(const auto use, impl_->use(impl_->reading));
  Statement rows(*use.db, std::string(token_columns) + "WHERE id = ?");
  TRY(const bool found, rows.bind(id).step());
  return found ? std::optional(read_token(rows)) : std::nullopt;
}

Result<int> Ledger::revoke(const std::string& name_or_id) {
  TRY(const auto use, impl_->use(impl_->writing));
  TRY(auto transaction, Transaction::begin(*use.db, Turn::rows));
  Statement rows(*use.db, std::string(token_columns) + "WHERE (id = ? OR name = ?) AND revoked = ''");
  TRY(const auto revoked, read_tokens(rows.bind(name_or_id).bind(name_or_id)));
  if (revoked.empty()) return fail("token.not-found", "no token that counts has this name or id", name_or_id);
  TRY(const std::int64_t now, use.db->clock());
  for (const Token& token : revoked) {
    TRY_VOID(Statement(*use.db, "UPDATE tokens SET revoked = ? WHERE id = ?").bind(utc_text(now)).bind(token.id).run());
    TRY_VOID(note(*use.db, operator_of_the_file, "token " + token.id + " of " + token.name + " revoked"));
  }
  TRY_VOID(transaction.commit());
  return static_cast<int>(revoked.size());
}

Result<bool> Ledger::has(const std::string& id) {
  TRY(const auto use, impl_->use(impl_->reading));
  return Statement(*use.db, "SELECT 1 FROM entries WHERE id = ?").bind(id).step();
}

Result<std::vector<bool>> Ledger::send(const std::vector<Entry>& entries, const std::string& who,
                                       const Embedding& embedding) {
  SOUS_ASSERT(!who.empty());
  std::vector<Prepared> prepared;
  for (const Entry& entry : entries) prepared.push_back(prepare(entry, embedding));
  TRY(const auto use, impl_->use(impl_->writing));
  TRY(auto transaction, Transaction::begin(*use.db, Turn::write));
  std::vector<bool> all;
  std::string told;
  for (const Prepared& entry : prepared) {
    TRY(const bool added, insert(*use.db, entry, embedding, Standing::sent));
    all.push_back(added);
    // What is the file's own needs no one else.
    TRY(const std::int64_t new_senders,
        Statement(*use.db,
                  "INSERT INTO senders(entry, name) SELECT id, ? FROM entries WHERE id = ? AND sent <> 0 "
                  "ON CONFLICT DO NOTHING")
            .bind(who)
            .bind(entry.id)
            .change());
    if (added) TRY_VOID(confirm(*use.db, entry.id, who));
    if (added || new_senders > 0) told += " " + entry.id;
  }
  if (told.empty()) return all;  // nothing is changed
  TRY(const std::int64_t sent, [&]() -> Result<std::int64_t> {
    Statement count(*use.db, "SELECT count(entry) FROM senders WHERE name = ?");
    TRY([[maybe_unused]] const bool row, count.bind(who).step());
    return count.integer(0);
  }());
  if (sent > most_sent)
    return fail("token.quota", "no more than " + std::to_string(most_sent) + " entries of one token's name are kept",
                who);
  TRY_VOID(note(*use.db, who, "recipes:" + told));
  TRY_VOID(note_change(*use.db));
  TRY_VOID(transaction.commit());
  return all;
}

Result<int> Ledger::want(const std::vector<WantedNest>& nests, const Hardware& hardware, const std::string& who) {
  SOUS_ASSERT(!who.empty());
  TRY(const auto use, impl_->use(impl_->writing));
  TRY(auto transaction, Transaction::begin(*use.db, Turn::write));
  TRY(const int added, keep_wanted(*use.db, nests, hardware, who));
  if (added > 0) TRY_VOID(note(*use.db, who, "wanted: " + std::to_string(added) + " nests"));
  TRY_VOID(transaction.commit());
  return added;
}

Result<std::vector<Wanted>> Ledger::wanted(std::string_view asker) {
  TRY(const auto use, impl_->use(impl_->reading));
  return read_wanted(*use.db, asker);
}

Result<std::optional<Job>> Ledger::lease(const Worker& worker, const std::string& lease, JobTime now, JobTime seconds) {
  TRY(const auto use, impl_->use(impl_->writing));
  TRY(auto transaction, Transaction::begin(*use.db, Turn::rows));
  TRY(auto job, lease_job(*use.db, worker, lease, now, seconds));
  if (!job) return job;  // nothing is changed
  TRY_VOID(note(*use.db, worker.party,
                "job: " + std::string(to_string(job->kind)) + " " + job->structural_hash + " for " +
                    job->hardware_class + " leased"));
  TRY_VOID(transaction.commit());
  return job;
}

Result<void> Ledger::renew(const std::string& lease, const std::string& party, JobTime now, JobTime seconds) {
  TRY(const auto use, impl_->use(impl_->writing));
  TRY(auto transaction, Transaction::begin(*use.db, Turn::rows));
  TRY_VOID(renew_job(*use.db, lease, party, now, seconds));
  return transaction.commit();
}

Result<void> Ledger::finish(const std::string& lease, const std::string& party, JobOutcome outcome,
                            const std::vector<std::string>& entries, const std::string& code, JobTime now) {
  TRY(const auto use, impl_->use(impl_->writing));
  TRY(auto transaction, Transaction::begin(*use.db, Turn::rows));
  TRY_VOID(finish_job(*use.db, lease, party, outcome, entries, code, now));
  TRY_VOID(note(*use.db, party, "job: " + std::string(to_string(outcome)) + (code.empty() ? "" : " (" + code + ")")));
  return transaction.commit();
}

Result<JobTime> Ledger::now() {
  TRY(const auto use, impl_->use(impl_->reading));
  return use.db->clock();
}

Result<std::vector<JobState>> Ledger::jobs(JobTime now) {
  TRY(const auto use, impl_->use(impl_->reading));
  return read_jobs(*use.db, now);
}

Result<std::map<std::string, std::int64_t>> Ledger::job_counts(JobTime now) {
  TRY(const auto use, impl_->use(impl_->reading));
  return count_jobs(*use.db, now);
}

Result<std::vector<Write>> Ledger::writes(int last) {
  TRY(const auto use, impl_->use(impl_->reading));
  Statement rows(*use.db, "SELECT time, who, what FROM writes ORDER BY number DESC LIMIT ?");
  rows.bind(last);
  std::vector<Write> all;
  while (true) {
    TRY(const bool row, rows.step());
    if (!row) break;
    all.push_back({rows.text(0), rows.text(1), rows.text(2)});
  }
  std::ranges::reverse(all);
  return all;
}

}  // namespace sous::tuning_db
