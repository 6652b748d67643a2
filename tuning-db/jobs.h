// Work for machines that look for recipes: which job a worker gets, and what became of it. Kept beside the entries
// (tuning-db/ledger.h).
//
// What is to be done is not kept, it follows from the rest of the database:
//   tune     a nest that is wanted on a class of machine and of which nothing is known there (tuning-db/wanted.h)
//   measure  a claim of a gain that one party alone vouches for (tuning-db/confirm.h), by another party's worker
//   calibrate  a gain that everyone sees and nobody measured on a class of machine from which something is wanted, by
//            a worker of that very class: of the greatest gains, so that work for it ends
// What is kept is who is at it, and what came of it the last time. A job is held by one worker at a time, as a lease
// with an end: a worker that says nothing until then is dead, or slow, and the job is handed out again. What was tried
// rests before it is tried again:
//   found     30 days                        the database knows it now
//   nothing   7 days, then twice as long …   on this class; another one may try at once
//   failed    an hour, then four times as long …, up to 30 days
//   lost      (its lease ended) not at all the first time, then as if it had failed: it may be what kills workers
//   returned  not at all
//
// Order. Claims and nests take turns. Claims: of the party for which the least was done in a day, the largest gain
// first, since it is what looks too good. Nests: as read_wanted has them, but parties alike in number take turns. A
// class is calibrated where nothing else is to be done, the largest gain first.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sdfg/result.h"
#include "tuning-db/connection.h"
#include "tuning-db/entry.h"
#include "tuning-db/hardware.h"

namespace sous::tuning_db {

enum class JobKind : std::uint8_t { tune, measure, calibrate };
std::string_view to_string(JobKind kind);

// What became of a job, as its worker says.
enum class JobOutcome : std::uint8_t { found, nothing, failed, returned };
std::string_view to_string(JobOutcome outcome);
std::optional<JobOutcome> parse_job_outcome(std::string_view text);

// Seconds since 1970, of whatever clock the caller has; all servers of a database the same (Ledger::now).
using JobTime = std::int64_t;

struct Worker {
  std::string party;                   // the name of its token
  Hardware hardware;                   // the machine, its instruction set the widest that it is to build for
  bool tunes = true, measures = true;  // measures: calibrates, too
  std::vector<std::string> targets;    // whose code it can run
  double seconds = 60;                 // that it has for a job
};

// How a worker's measurements come to speak for the class that is asked for.
struct JobBuild {
  Isa isa = Isa::scalar;  // to build for
  int cores = 1;          // to use
  int threads = 1;        // to run on
};

struct Job {
  std::string lease;
  JobKind kind = JobKind::tune;
  JobBuild build;
  std::string hardware_class;  // the worker's, built so
  // tune: a nest as wanted
  std::string nest_json, structural_hash, sizes_json;
  bool reassociate = false;
  // measure, calibrate
  std::optional<Entry> entry;
};

// How the machine `worker` can do what is asked on a class; nullopt: what it measures would not be believed there in
// full, or it has less than half of the cores.
struct JobFit {
  JobBuild build;
  std::string hardware_class;  // the worker's, built so
  bool exact = false;          // it is the class that is asked for
};
std::optional<JobFit> job_fit(const Hardware& worker, std::string_view hardware_class);

// Leases that one party may hold at once (a few more, where it asks several servers at the same moment).
inline constexpr int most_leases = 64;
// A lease is no longer, whoever asks.
inline constexpr JobTime longest_lease = 600;

// All inside a transaction. Those of several servers over one database may come at the same time.

// The next job for the worker, held until now + seconds; nullopt: there is none. `lease`: a new name that nobody can
// guess. Errors: job.quota.
Result<std::optional<Job>> lease_job(Connection& db, const Worker& worker, const std::string& lease, JobTime now,
                                     JobTime seconds);
// Holds it until now + seconds. Error: job.lease (it is not held by this party: it ended and another one has it).
Result<void> renew_job(Connection& db, const std::string& lease, const std::string& party, JobTime now,
                       JobTime seconds);
// `entries`: of what was found, as they were sent before (Ledger::send). `code`: of what failed. Errors: job.lease,
// job.entries (they are not there, are of others, or of another nest).
Result<void> finish_job(Connection& db, const std::string& lease, const std::string& party, JobOutcome outcome,
                        const std::vector<std::string>& entries, const std::string& code, JobTime now);

// A job that was handed out at least once.
struct JobState {
  JobKind kind = JobKind::tune;
  std::string structural_hash, hardware_class, state, worker, code;
  JobTime since = 0, until = 0;  // leased: its end; else: not handed out again before
  int tries = 0;                 // in a row without a result
};
// Those that are leased first, then the last ones; at most 64.
Result<std::vector<JobState>> read_jobs(Connection& db, JobTime now);
// How many there are by state: waiting (never handed out), leased, lost, found, nothing, failed, returned.
Result<std::map<std::string, std::int64_t>> count_jobs(Connection& db, JobTime now);

}  // namespace sous::tuning_db
