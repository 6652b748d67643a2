// The routes of workers.
#include "server/job_protocol.h"
#include "server/routes.h"
#include "server/secret.h"

namespace sous::server {
namespace {

// A worker without a job asks again then.
constexpr int retry_seconds = 10;
constexpr std::size_t lease_bytes = 16;

int status_of(const Error& error) {
  if (error.code == "job.lease") return 409;
  if (error.code == "job.quota") return 403;
  if (error.code == "job.entries") return 400;
  return status_of_database(error);
}

Response failed(const Error& error) { return refusal(status_of(error), error); }

Response malformed(const Error& error) { return refusal(error.code == "request.budget" ? 413 : 400, error); }

}  // namespace

Response Routes::lease_job(const Call& call) {
  auto worker = lease_request_from_json(call.request.body);
  if (!worker) return malformed(worker.error());
  worker->party = call.caller.name;
  const auto lease = random_hex(lease_bytes);
  if (!lease) return failed(lease.error());
  const auto now = ledger_.now();
  if (!now) return failed(now.error());
  const auto job = ledger_.lease(*worker, *lease, *now, policy_.lease_seconds);
  if (!job) return failed(job.error());
  return {.body = lease_reply_json(*job, policy_.lease_seconds, retry_seconds) + "\n"};
}

Response Routes::renew_job(const Call& call) {
  const auto lease = renew_request_from_json(call.request.body);
  if (!lease) return malformed(lease.error());
  const auto now = ledger_.now();
  if (!now) return failed(now.error());
  const auto renewed = ledger_.renew(*lease, call.caller.name, *now, policy_.lease_seconds);
  if (!renewed) return failed(renewed.error());
  return {.body = "{\"protocol\":1,\"seconds\":" + std::to_string(policy_.lease_seconds) + "}\n"};
}

Response Routes::finish_job(const Call& call) {
  const auto done = done_request_from_json(call.request.body);
  if (!done) return malformed(done.error());
  const auto now = ledger_.now();
  if (!now) return failed(now.error());
  const auto finished = ledger_.finish(done->lease, call.caller.name, done->outcome, done->entries, done->code, *now);
  if (!finished) return failed(finished.error());
  counters_.count_job(to_string(done->outcome));
  return {.body = "{\"protocol\":1}\n"};
}

Response Routes::jobs(const Call&) {
  const auto now = ledger_.now();
  if (!now) return failed(now.error());
  const auto jobs = ledger_.jobs(*now);
  if (!jobs) return failed(jobs.error());
  const auto counts = ledger_.job_counts(*now);
  if (!counts) return failed(counts.error());
  return {.body = to_json(*jobs, *counts) + "\n"};
}

}  // namespace sous::server
