// What a worker and a server say to each other (docs/openapi.yaml): read as strictly as server/protocol.h reads, on
// both sides.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sdfg/result.h"
#include "tuning-db/jobs.h"
#include "tuning-db/wanted.h"

namespace sous::server {

// POST /v1/jobs/lease: what the worker can do. The party is its token's.
std::string to_json(const tuning_db::Worker& worker);
// Errors: request.*, hardware.*.
Result<tuning_db::Worker> lease_request_from_json(std::string_view json);

struct LeasedJob {
  std::string lease;
  int seconds = 0;  // from now on it is held; then it is another's, unless it is renewed
  tuning_db::JobBuild build;
  std::string hardware_class;  // the worker's, built so
  // One of them.
  std::optional<tuning_db::WantedNest> wanted;  // to be tuned
  std::optional<tuning_db::Entry> entry;        // to be measured again
};
// A job that this version cannot read, or that no honest server sends: its lease can be ended all the same.
struct UnreadableJob {
  std::string lease;
  Error error;
};
struct LeaseReply {
  std::optional<LeasedJob> job;
  std::optional<UnreadableJob> unreadable;
  int retry_seconds = 0;  // without a job: when to ask again
};
// `seconds`: that it is held. A job that cannot be told (a row may be anything) is none.
std::string lease_reply_json(const std::optional<tuning_db::Job>& job, int seconds, int retry_seconds);
// Errors: reply.*. Of an unreadable job: those of the nest or the entry, too.
Result<LeaseReply> lease_reply_from_json(std::string_view json);

// POST /v1/jobs/renew
std::string renew_json(const std::string& lease);
// The lease. Errors: request.*.
Result<std::string> renew_request_from_json(std::string_view json);

// POST /v1/jobs/done
struct DoneRequest {
  std::string lease;
  tuning_db::JobOutcome outcome = tuning_db::JobOutcome::returned;
  std::vector<std::string> entries = {};  // found: as they were sent to /v1/recipes
  std::string code = {};                  // failed: of the error
};
std::string to_json(const DoneRequest& request);
// Errors: request.*.
Result<DoneRequest> done_request_from_json(std::string_view json);

// GET /v1/jobs
std::string to_json(const std::vector<tuning_db::JobState>& jobs, const std::map<std::string, std::int64_t>& counts);

}  // namespace sous::server
