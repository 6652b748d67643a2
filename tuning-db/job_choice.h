// Which job a worker gets next (tuning-db/jobs.h says in which order): what is wanted and what is claimed, against what
// was tried and when.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tuning-db/connection.h"
#include "tuning-db/jobs.h"

namespace sous::tuning_db {

// A job as it was handed out to a class of machine.
struct TriedJob {
  std::string hardware_class, state, lease;
  JobTime until = 0;
  int tries = 0;
};
// Of what is to be done, whatever the class.
Result<std::vector<TriedJob>> tried_jobs(Connection& db, const std::string& subject);

// Keeps other servers from handing out, prolonging or ending what is to be done, until the transaction ends. False:
// another one is at it, which is waited for or not.
enum class Others : std::uint8_t { skip, wait };
Result<bool> hold_subject(Connection& db, JobKind kind, const std::string& subject, const std::string& structural_hash,
                          Others others);

bool is_held(const TriedJob& job, JobTime now);
// Whether it may be handed out again.
bool is_due(const TriedJob& job, JobTime now);

struct ChosenJob {
  Job job;              // without its lease
  std::string subject;  // what is to be done
  std::string entry;    // of a claim: its id
  std::string whose;    // the party for which it is done
  int tries = 0;        // without a result until now
};
Result<std::optional<ChosenJob>> choose_job(Connection& db, const Worker& worker, JobTime now);

// The number of jobs that were never handed out: nests that are wanted, and claims.
Result<std::int64_t> waiting_jobs(Connection& db);

}  // namespace sous::tuning_db
