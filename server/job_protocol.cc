#include "server/job_protocol.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "server/protocol.h"
#include "server/protocol_fields.h"
#include "tuning-db/utc.h"

namespace sous::server {
namespace {

using tuning_db::dump;
using tuning_db::parse_json;

constexpr std::size_t most_targets = 16;
constexpr double longest_job = 24 * 3600;

Result<Json> parsed_request(std::string_view text) {
  return parse_json(text, "request", {.bytes = std::size_t{64} << 10, .depth = 8});
}

Result<tuning_db::WantedNest> read_wanted(const Json& json) {
  TRY(auto in, ObjectReader::of(json, "reply", "wanted"));
  tuning_db::WantedNest wanted;
  TRY(wanted.structural_hash, hash(in, "structural_hash"));
  TRY(wanted.sizes, in.integers("sizes"));
  TRY(wanted.reassociate, in.boolean("reassociate"));
  TRY(wanted.nest, nest(in));
  TRY_VOID(in.done());
  TRY_VOID(tuning_db::check(wanted));
  return wanted;
}

Result<LeasedJob> read_job(const Json& json) {
  TRY(auto in, ObjectReader::of(json, "reply", "job"));
  LeasedJob job;
  TRY(job.lease, hash(in, "lease"));
  TRY(const std::int64_t seconds, in.integer("seconds", 1, tuning_db::longest_lease));
  job.seconds = static_cast<int>(seconds);
  TRY(const std::string isa, in.line("isa", 16));
  const auto known = tuning_db::parse_isa(isa);
  if (!known) return in.refuse("\"isa\" is none");
  job.build.isa = *known;
  TRY(const std::int64_t cores, in.integer("cores", 1, 1 << 16));
  job.build.cores = static_cast<int>(cores);
  TRY(const std::int64_t threads, in.integer("threads", 1, cores));
  job.build.threads = static_cast<int>(threads);
  TRY(job.hardware_class, in.line("class", 256));
  if (in.has("wanted")) {
    TRY(const Json* wanted, in.object("wanted"));
    TRY(job.wanted, read_wanted(*wanted));
  } else {
    TRY(const Json* entry, in.object("entry"));
    TRY(job.entry, tuning_db::entry_from_json(dump(*entry)));
  }
  TRY_VOID(in.done());
  return job;
}

// Null: it cannot be told.
Json job_json(const tuning_db::Job& job, int seconds) {
  Json json{{"lease", job.lease},       {"seconds", seconds},           {"isa", to_string(job.build.isa)},
            {"cores", job.build.cores}, {"threads", job.build.threads}, {"class", job.hardware_class}};
  if (job.entry) {
    json["entry"] = parsed(tuning_db::to_json(*job.entry));
    return json;
  }
  Json nest = parsed(job.nest_json), sizes = parsed(job.sizes_json);
  if (nest.is_discarded() || sizes.is_discarded()) return nullptr;
  json["wanted"] = {{"nest", std::move(nest)},
                    {"structural_hash", job.structural_hash},
                    {"sizes", std::move(sizes)},
                    {"reassociate", job.reassociate}};
  return json;
}

}  // namespace

std::string to_json(const tuning_db::Worker& worker) {
  Json kinds = Json::array();
  if (worker.tunes) kinds.push_back(to_string(tuning_db::JobKind::tune));
  if (worker.measures) kinds.push_back(to_string(tuning_db::JobKind::measure));
  return dump(Json{{"protocol", protocol_version},
                   {"hardware", parsed(tuning_db::to_json(worker.hardware))},
                   {"kinds", std::move(kinds)},
                   {"targets", worker.targets},
                   {"seconds", worker.seconds}});
}

Result<tuning_db::Worker> lease_request_from_json(std::string_view text) {
  TRY(const Json json, parsed_request(text));
  TRY(auto in, ObjectReader::of(json, "request", ""));
  TRY_VOID(check_version(in, "request"));
  tuning_db::Worker worker{.party = {}, .hardware = {}, .tunes = false, .measures = false, .targets = {}};
  TRY(const Json* hardware, in.object("hardware"));
  TRY(worker.hardware, tuning_db::hardware_from_json(dump(*hardware)));
  TRY(const Json* kinds, in.array("kinds", 2));
  for (const Json& kind : *kinds) {
    worker.tunes = worker.tunes || kind == "tune";
    worker.measures = worker.measures || kind == "measure";
    if (kind != "tune" && kind != "measure") return in.refuse("\"kinds\" are some of tune and measure");
  }
  TRY(const Json* targets, in.array("targets", most_targets));
  for (const Json& target : *targets) {
    if (!target.is_string() || target.get_ref<const std::string&>().size() > 64)
      return in.refuse("\"targets\" are names");
    worker.targets.push_back(target.get<std::string>());
  }
  TRY(worker.seconds, in.number("seconds", 0, longest_job));
  TRY_VOID(in.done());
  return worker;
}

std::string lease_reply_json(const std::optional<tuning_db::Job>& job, int seconds, int retry_seconds) {
  Json reply{{"protocol", protocol_version}, {"job", job ? job_json(*job, seconds) : Json(nullptr)}};
  if (reply["job"].is_null()) reply["retry_seconds"] = retry_seconds;
  return dump(reply);
}

Result<LeaseReply> lease_reply_from_json(std::string_view text) {
  TRY(const Json json, parse_json(text, "reply", {.bytes = longest_reply, .depth = deepest}));
  TRY(auto in, ObjectReader::of(json, "reply", ""));
  TRY_VOID(check_version(in, "reply"));
  LeaseReply reply;
  if (in.has("retry_seconds")) {
    TRY(const std::int64_t retry, in.integer("retry_seconds", 1, 3600));
    reply.retry_seconds = static_cast<int>(retry);
    if (!json.contains("job") || !json["job"].is_null()) return in.refuse("\"job\" must be null");
    return reply;
  }
  TRY(const Json* job, in.object("job"));
  TRY_VOID(in.done());
  auto read = read_job(*job);
  if (read) {
    reply.job = std::move(*read);
    return reply;
  }
  TRY(auto fields, ObjectReader::of(*job, "reply", "job"));
  TRY(auto lease, hash(fields, "lease"));
  reply.unreadable = {std::move(lease), tuning_db::as_one_line(std::move(read).error())};
  return reply;
}

std::string renew_json(const std::string& lease) {
  return dump(Json{{"protocol", protocol_version}, {"lease", lease}});
}

Result<std::string> renew_request_from_json(std::string_view text) {
  TRY(const Json json, parsed_request(text));
  TRY(auto in, ObjectReader::of(json, "request", ""));
  TRY_VOID(check_version(in, "request"));
  TRY(std::string lease, hash(in, "lease"));
  TRY_VOID(in.done());
  return lease;
}

std::string to_json(const DoneRequest& request) {
  Json json{{"protocol", protocol_version}, {"lease", request.lease}, {"outcome", to_string(request.outcome)}};
  if (!request.entries.empty()) json["entries"] = request.entries;
  if (!request.code.empty()) json["code"] = request.code;
  return dump(json);
}

Result<DoneRequest> done_request_from_json(std::string_view text) {
  TRY(const Json json, parsed_request(text));
  TRY(auto in, ObjectReader::of(json, "request", ""));
  TRY_VOID(check_version(in, "request"));
  DoneRequest request;
  TRY(request.lease, hash(in, "lease"));
  TRY(const std::string said, in.line("outcome", 16));
  const auto outcome = tuning_db::parse_job_outcome(said);
  if (!outcome) return in.refuse("\"outcome\" must be found, nothing, failed or returned");
  request.outcome = *outcome;
  if (in.has("entries")) {
    TRY(const Json* entries, in.array("entries", most_entries));
    for (const Json& entry : *entries) {
      TRY(auto id, hash_text(in, entry.is_string() ? entry.get<std::string>() : "", "entries"));
      request.entries.push_back(std::move(id));
    }
  }
  if (in.has("code")) {
    TRY(request.code, in.line("code", 128));
  }
  TRY_VOID(in.done());
  return request;
}

std::string to_json(const std::vector<tuning_db::JobState>& jobs, const std::map<std::string, std::int64_t>& counts) {
  Json all = Json::array();
  for (const tuning_db::JobState& job : jobs) {
    all.push_back({{"kind", to_string(job.kind)},
                   {"structural_hash", job.structural_hash},
                   {"class", job.hardware_class},
                   {"state", job.state},
                   {"worker", job.worker},
                   {"since", tuning_db::utc_text(job.since)},
                   {"until", tuning_db::utc_text(job.until)},
                   {"tries", job.tries}});
    if (!job.code.empty()) all.back()["code"] = job.code;
  }
  return dump(Json{{"protocol", protocol_version}, {"counts", counts}, {"jobs", std::move(all)}});
}

}  // namespace sous::server
