// What a server keeps in the database beside the entries: who may do what, what was written by whom, what is wanted,
// and who works on it. Threads may share one; who reads does not wait for who writes.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sdfg/result.h"
#include "tuning-db/entry.h"
#include "tuning-db/features.h"
#include "tuning-db/file_identity.h"
#include "tuning-db/jobs.h"
#include "tuning-db/wanted.h"

namespace sous::tuning_db {

// What a token lets its bearer do.
//   read    ask, where the server does not answer everyone
//   upload  send recipes and wanted nests
//   work    see what is wanted, and take jobs
//   admin   all of it
enum class Scope : unsigned { read = 1, upload = 2, work = 4, admin = 8 };

struct Scopes {
  unsigned bits = 0;
  bool has(Scope scope) const {
    return (bits & (static_cast<unsigned>(scope) | static_cast<unsigned>(Scope::admin))) != 0;
  }
  bool operator==(const Scopes&) const = default;
};
std::string_view to_string(Scope scope);
std::string to_string(Scopes scopes);  // "read,upload"
// Error: token.scopes.
Result<Scopes> parse_scopes(std::string_view text);

struct Token {
  std::string id;    // public: what the bearer's text begins with
  std::string name;  // the party; all tokens of one name are one
  std::string hash;  // of the bearer's text, which is kept nowhere
  Scopes scopes;
  std::string created = {}, revoked = {};  // UTC; not revoked: empty
};

struct Write {
  std::string time, who, what;
};
// Of writes so many are kept, and for so long.
inline constexpr std::int64_t most_noted = 1'000'000, noted_for_seconds = std::int64_t{400} * 24 * 3600;

// Entries that one party may have sent.
inline constexpr int most_sent = 100'000;

class Ledger {
 public:
  // Of a database that is there: a file, or the URL of one of PostgreSQL. It is opened when it is first asked.
  // `served`: which file is the one at that path that may be opened, if others may put another one there (a file that
  // takes its place must not be opened before its predecessor's log is out of the way: tuning-db/follower.h), or why
  // nobody need try: what is known not to answer holds up none of those who ask. Errors of every function, besides
  // those of opening and of the database: db.replaced, and what `served` says.
  explicit Ledger(std::filesystem::path path, std::function<Result<FileIdentity>()> served = {});
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;
  ~Ledger();

  // Times are set here. Error: token.name (not 1 to 64 letters, digits, dots, dashes and underscores).
  Result<void> add(const Token& token);
  Result<std::vector<Token>> tokens();  // in order of name, then of time
  Result<std::optional<Token>> token(const std::string& id);
  // By id, or all of a name. Error: token.not-found, also where all of them are revoked already.
  Result<int> revoke(const std::string& name_or_id);
  // Whether the database has an entry of this id.
  Result<bool> has(const std::string& id);
  // Keeps what the party `who` measured, all or nothing; whoever calls has proven it (tuning-db/proof.h). Of each
  // whether it is new; what was there already serves `who`, too. Error: token.quota.
  Result<std::vector<bool>> send(const std::vector<Entry>& entries, const std::string& who, const Embedding& embedding);
  // Keeps what the party `who` lacks (tuning-db/wanted.h): how many nests are new.
  Result<int> want(const std::vector<WantedNest>& nests, const Hardware& hardware, const std::string& who);
  Result<std::vector<Wanted>> wanted(std::string_view asker);
  // By the clock that all servers of the database have in common.
  Result<JobTime> now();
  // Jobs (tuning-db/jobs.h has the errors). The times are the caller's.
  Result<std::optional<Job>> lease(const Worker& worker, const std::string& lease, JobTime now, JobTime seconds);
  Result<void> renew(const std::string& lease, const std::string& party, JobTime now, JobTime seconds);
  Result<void> finish(const std::string& lease, const std::string& party, JobOutcome outcome,
                      const std::vector<std::string>& entries, const std::string& code, JobTime now);
  Result<std::vector<JobState>> jobs(JobTime now);
  Result<std::map<std::string, std::int64_t>> job_counts(JobTime now);
  // The last ones, oldest first.
  Result<std::vector<Write>> writes(int last);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sous::tuning_db
