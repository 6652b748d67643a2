#include "server/routes.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <map>
#include <utility>

#include "server/content.h"
#include "server/protocol.h"
#include "transforms/step.h"
#include "tuning-db/json_reader.h"
#include "tuning-db/proof.h"

namespace sous::server {
namespace {

// Within the time that a request may take (server/http_server.h).
constexpr std::chrono::seconds longest_proving(10);

}  // namespace

int status_of_database(const Error& error) {
  return error.code == "db.replaced" || error.code == "db.unreachable" || error.code == "db.busy" ? 503 : 500;
}

Response internal(const Error& error) { return refusal(status_of_database(error), error); }

Response refusal(int status, const Error& error) { return {.status = status, .body = to_json(error) + "\n"}; }

std::expected<std::string, Response> decoded_body(const Request& request) {
  auto body = decoded(request.body, request.encoding, longest_request);
  if (body) return std::move(*body);
  const std::string& code = body.error().code;
  const int status = code == "request.encoding" ? 415 : code == "request.budget" ? 413 : 400;
  return std::unexpected(refusal(status, body.error()));
}

Lane Routes::lane(const Request& request) {
  if (request.path == "/healthz" || request.path == "/livez") return Lane::apart;
  if (request.path == "/metrics") return Lane::tell;
  if (request.path == "/v1/lift") return Lane::lift;
  return request.method == "POST" && request.path != "/v1/query" ? Lane::write : Lane::ask;
}

Response Routes::handle(const Request& request) {
  const auto start = std::chrono::steady_clock::now();
  Answer answer = dispatch(request);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  counters_.count_request(answer.route, answer.response.status, seconds.count());
  log(request, answer, seconds.count());
  return std::move(answer.response);
}

void Routes::log(const Request& request, const Answer& answer, double seconds) {
  if (log_ == nullptr) return;
  const int status = answer.response.status;
  const char* const event = status >= 500 ? "fault" : status == 401 || status == 403 ? "refused" : "request";
  if (log_->level() < (event == std::string_view("request") ? Log::Level::requests : Log::Level::events)) return;
  nlohmann::json fields{{"method", request.method.substr(0, 16)},
                        {"route", answer.route},
                        {"status", status},
                        {"milliseconds", std::round(seconds * 1e5) / 100},
                        {"asked", request.body.size()},
                        {"answered", answer.response.body.size()},
                        {"party", answer.party},
                        {"address", request.address}};
  if (status >= 400) {
    const Error error = error_from_json(answer.response.body);
    fields["code"] = error.code;
    if (status >= 500) fields["why"] = error.why;  // what is a client's fault repeats what it sent
  }
  log_->write(event, std::move(fields));
}

std::span<const Routes::Route> Routes::routes() {
  using enum Route::For;
  using tuning_db::Scope;
  static constexpr auto table = std::to_array<Route>({
      {"/v1/query", "POST", "Matches for all nests of a translation unit", readers, Scope::read, &Routes::query},
      {"/v1/recipes", "POST", "Keep what a client measured", scope, Scope::upload, &Routes::upload},
      {"/v1/recipes/{id}", "GET", "One entry of the database", readers, Scope::read, &Routes::recipe},
      {"/v1/wanted", "POST", "Tell for which nests a build found no good recipe", scope, Scope::upload, &Routes::want},
      {"/v1/wanted", "GET", "What is wanted and was not measured since", scope, Scope::work, &Routes::wanted},
      {"/v1/jobs", "GET", "Who works on what", scope, Scope::work, &Routes::jobs},
      {"/v1/jobs/lease", "POST", "A job for a worker", scope, Scope::work, &Routes::lease_job},
      {"/v1/jobs/renew", "POST", "Go on holding a job", scope, Scope::work, &Routes::renew_job},
      {"/v1/jobs/done", "POST", "What became of a job", scope, Scope::work, &Routes::finish_job},
      {"/v1/steps", "GET", "The declarations of all recipe steps", everyone, {}, &Routes::steps},
      {"/v1/map", "GET", "The nests of the database, and where each stands among them", readers, Scope::read,
       &Routes::map},
      {"/v1/nests", "GET", "Nests by name, hash or id", readers, Scope::read, &Routes::nests},
      {"/v1/nests/{hash}", "GET", "One nest, with its recipes and measurements", readers, Scope::read, &Routes::nest},
      {"/v1/pictures/{hash}", "GET", "One nest as a picture", readers, Scope::read, &Routes::picture},
      {"/v1/machines", "GET", "Classes of machines, and how much speaks for each", readers, Scope::read,
       &Routes::machines},
      {"/v1/lift", "POST", "What the nests of a C text are, and what is near them", readers, Scope::read,
       &Routes::lift},
      {"/", "GET", "The page that shows all of it to people", everyone, {}, &Routes::page},
      {"/page/{file}", "GET", "What the page consists of", everyone, {}, &Routes::page},
      {"/healthz", "GET", "Whether the server can answer", everyone, {}, &Routes::health},
      {"/livez", "GET", "That the server runs", everyone, {}, &Routes::alive},
      {"/metrics", "GET", "Counters in the Prometheus text format", everyone, {}, &Routes::metrics},
  });
  return table;
}

std::string Routes::table_json() {
  nlohmann::json all = nlohmann::json::array();
  for (const Route& route : routes()) {
    const bool watched =
        lane({route.method, route.pattern, ""}) == Lane::apart || lane({route.method, route.pattern, ""}) == Lane::tell;
    all.push_back({{"path", route.pattern},
                   {"method", route.method},
                   {"summary", route.summary},
                   {"limited", !watched},
                   {"who", route.who == Route::For::everyone  ? "everyone"
                           : route.who == Route::For::readers ? "readers"
                                                              : "scope"}});
    if (route.who != Route::For::everyone) all.back()["scope"] = to_string(route.scope);
  }
  return all.dump(1);
}

Routes::Answer Routes::dispatch(const Request& request) {
  if (request.body.size() > longest_request)
    return {"too-large",
            refusal(413, {"request.budget", "the body has more than " + std::to_string(longest_request) + " bytes"})};
  const Target target = target_of(request);
  if (target.route) return answer(*target.route, request, target.rest);
  return {target.pattern, no_route(target, request)};
}

Routes::Target Routes::target_of(const Request& request) {
  const std::string method = request.method == "HEAD" ? "GET" : request.method;
  Target target;
  for (const Route& route : routes()) {
    const std::string_view pattern = route.pattern, prefix = pattern.substr(0, pattern.find('{'));
    const bool whole = prefix.size() == pattern.size();
    if (whole ? request.path != pattern : !request.path.starts_with(prefix) || request.path.size() == prefix.size())
      continue;
    if (method == route.method) return {&route, request.path.substr(prefix.size()), route.pattern};
    target.pattern = route.pattern;
    target.allowed += (target.allowed.empty() ? "" : ", ") + std::string(route.method);
  }
  return target;
}

Response Routes::no_route(const Target& target, const Request& request) {
  auto taken = take(request, {}, RateLimits::Kind::requests, 1);
  if (!taken) return refused(std::move(taken).error());
  const std::string path = request.path.substr(0, 256);
  if (target.allowed.empty()) return refusal(404, {"request.path", "there is nothing at " + path});
  Response response = refusal(405, {"request.method", path + " is asked with " + target.allowed, ""});
  response.allow = target.allowed;
  return response;
}

std::optional<Response> Routes::refuse(const Request& head) {
  const auto start = std::chrono::steady_clock::now();
  const Target target = target_of(head);
  Answer answer{target.pattern, {}};
  if (target.route) {
    if (!head.authorization.empty()) return std::nullopt;
    auto admitted = admit_without_token(*target.route, head);
    if (admitted) return std::nullopt;
    auto taken = take(head, {}, RateLimits::Kind::requests, 1);
    answer.response = refused(taken ? std::move(admitted).error() : std::move(taken).error());
  } else {
    answer.response = no_route(target, head);
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  counters_.count_request(answer.route, answer.response.status, seconds.count());
  log(head, answer, seconds.count());
  return std::move(answer.response);
}

Routes::Answer Routes::answer(const Route& route, const Request& request, std::string rest) {
  auto caller = admit(route, request);
  if (!caller) return {route.pattern, refused(std::move(caller).error())};
  const std::string name = caller->name;
  // Not before: some kilobytes may stand for all that a body may have.
  Request plain;
  if (!request.encoding.empty()) {
    auto body = decoded_body(request);
    if (!body) return {route.pattern, std::move(body).error(), name};
    const std::size_t more = body->size() - std::min(body->size(), request.body.size());
    limits_.charge({name, request.address}, RateLimits::Kind::bytes, static_cast<double>(more));
    plain = request;
    plain.body = std::move(*body);
    plain.encoding.clear();
  }
  const Request& read = request.encoding.empty() ? request : plain;
  Response response = (this->*route.answer)({read, std::move(rest), std::move(*caller)});
  limits_.charge({name, request.address}, RateLimits::Kind::bytes, static_cast<double>(response.body.size()));
  return {route.pattern, std::move(response), name};
}

Response Routes::refused(Refusal refusal) {
  Response response = server::refusal(refusal.status, refusal.error);
  response.wants_token = refusal.status == 401;
  response.retry_after = refusal.retry_after;
  return response;
}

std::expected<void, Routes::Refusal> Routes::take(const Request& request, const Caller& caller, RateLimits::Kind kind,
                                                  double amount) {
  const int wait = limits_.take({caller.name, request.address}, kind, amount);
  if (wait == 0) return {};
  counters_.count_limited(to_string(kind), caller.name.empty() ? "address" : "token");
  const std::string why = "more " + std::string(to_string(kind)) + " a minute than one party may ask for";
  return std::unexpected(Refusal{429, {"request.rate", why}, wait});
}

std::expected<Caller, Routes::Refusal> Routes::admit(const Route& route, const Request& request) {
  const auto refuse = [](int status, Error error) { return std::unexpected(Refusal{status, std::move(error)}); };
  if (lane(request) == Lane::apart || lane(request) == Lane::tell) return Caller{};
  // Shown where none is needed, a token says whose evidence is to be seen, and who is charged; and one that is worth
  // nothing is said so.
  auto caller = caller_of(ledger_, request.authorization);
  const Caller charged = caller ? *caller : Caller{};
  for (const auto& [kind, amount] : {std::pair{RateLimits::Kind::requests, 1.0},
                                     std::pair{RateLimits::Kind::bytes, static_cast<double>(request.body.size())}})
    if (auto taken = take(request, charged, kind, amount); !taken) return std::unexpected(std::move(taken).error());
  if (route.who == Route::For::everyone) return Caller{};
  if (auto admitted = admit_without_token(route, request); !admitted)
    return std::unexpected(std::move(admitted).error());
  if (!caller && caller.error().code == "token.unknown") return refuse(401, std::move(caller).error());
  if (!caller) return refuse(status_of_database(caller.error()), std::move(caller).error());
  if (route.who == Route::For::readers && !policy_.is_private) return std::move(*caller);
  if (!caller->scopes.has(route.scope))
    return refuse(403, {"token.scope",
                        "this wants the scope " + std::string(to_string(route.scope)) + ", which the token has not"});
  return std::move(*caller);
}

std::expected<void, Routes::Refusal> Routes::admit_without_token(const Route& route, const Request& request) const {
  const auto refuse = [](int status, Error error) { return std::unexpected(Refusal{status, std::move(error)}); };
  if (policy_.read_only && std::string_view(route.method) != "GET" && route.who == Route::For::scope)
    return refuse(403, {"server.read-only", "nothing is written through this server"});
  const bool wanted = route.who == Route::For::scope || (route.who == Route::For::readers && policy_.is_private);
  if (wanted && request.authorization.empty())
    return refuse(401, {"token.missing", "this wants a token with the scope " + std::string(to_string(route.scope))});
  return {};
}

Response Routes::query(const Call& call) {
  const auto request = query_request_from_json(call.request.body);
  if (!request) return refusal(400, request.error());
  auto taken = take(call.request, call.caller, RateLimits::Kind::nests, static_cast<double>(request->nests.size()));
  if (!taken) return refused(std::move(taken).error());
  const auto ranked = database_.rank(request->nests, request->k, request->hardware, call.caller.name);
  if (!ranked) return internal(ranked.error());
  const auto matches = texts_.of(database_, *ranked, request->k);
  if (!matches) return internal(matches.error());
  std::uint64_t exact = 0, neighbours = 0, nothing = 0;
  for (const auto& ranked_here : *matches)
    ++(ranked_here.empty() ? nothing : ranked_here.front().distance == 0 ? exact : neighbours);
  counters_.count_nests(exact, neighbours, nothing);
  return {.body = to_json(*matches) + "\n"};
}

// What is added is proven first, entry by entry, as long as there is time, and then kept at once: an answer that a
// client gets is of what is on the disk.
Response Routes::upload(const Call& call) {
  const auto begun = std::chrono::steady_clock::now();
  auto entries = entries_from_json(call.request.body);
  if (!entries) return refusal(entries.error().code == "request.budget" ? 413 : 400, entries.error());
  auto allowed = take(call.request, call.caller, RateLimits::Kind::nests, static_cast<double>(entries->size()));
  if (!allowed) return refused(std::move(allowed).error());
  std::vector<TakenEntry> taken(entries->size());
  std::vector<tuning_db::Entry> proven;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < entries->size(); ++i) {
    auto& entry = (*entries)[i];
    if (entry && std::chrono::steady_clock::now() - begun > longest_proving) break;
    // An id is a hash of all that the entry says: what is there was proven, or is the file's own.
    const bool known = entry && ledger_.has(tuning_db::entry_id(*entry)).value_or(false);
    auto legal = !entry ? std::unexpected(entry.error()) : known ? Result<void>() : prove(*entry);
    if (legal) {
      proven.push_back(std::move(*entry));
      places.push_back(i);
    } else {
      taken[i] = {.taken = Taken::refused, .error = tuning_db::as_one_line(std::move(legal).error())};
    }
  }
  const auto added = ledger_.send(proven, call.caller.name, *tuning_db::static_embedding());
  if (!added) return added.error().code == "token.quota" ? refusal(403, added.error()) : internal(added.error());
  for (std::size_t i = 0; i < proven.size(); ++i)
    taken[places[i]] = {.taken = (*added)[i] ? Taken::added : Taken::known, .id = tuning_db::entry_id(proven[i])};
  for (const TakenEntry& one : taken) counters_.count_entry(to_string(one.taken));
  return {.body = to_json(taken) + "\n"};
}

Response Routes::want(const Call& call) {
  const auto request = wanted_request_from_json(call.request.body);
  if (!request) return refusal(request.error().code == "request.budget" ? 413 : 400, request.error());
  auto taken = take(call.request, call.caller, RateLimits::Kind::nests, static_cast<double>(request->nests.size()));
  if (!taken) return refused(std::move(taken).error());
  const auto added = ledger_.want(request->nests, request->hardware, call.caller.name);
  if (!added) return internal(added.error());
  counters_.count_wanted(static_cast<std::uint64_t>(*added));
  return {.body = "{\"added\":" + std::to_string(*added) + ",\"protocol\":1}\n"};
}

Response Routes::wanted(const Call& call) {
  const auto wanted = ledger_.wanted(call.caller.name);
  if (!wanted) return internal(wanted.error());
  return {.body = to_json(*wanted) + "\n"};
}

Response Routes::recipe(const Call& call) {
  const std::string& id = call.rest;
  const auto entry = database_.get(id, call.caller.name);
  if (!entry && entry.error().code == "db.ambiguous") return refusal(400, entry.error());
  if (!entry) return internal(entry.error());
  if (!*entry) return refusal(404, {"recipe.not-found", "no entry has the id " + id.substr(0, 64)});
  return {.body = tuning_db::to_json(**entry) + "\n"};
}

Response Routes::steps(const Call&) { return {.body = transforms::steps_json() + "\n"}; }

Response Routes::health(const Call&) {
  if (const auto sound = database_.sound(); !sound) return refusal(503, sound.error());
  return {.body = "{\"status\":\"ok\"}\n"};
}

Response Routes::alive(const Call&) { return {.body = "{\"status\":\"ok\"}\n"}; }

// They are wanted most where the database does not answer: what only it knows is left out then.
Response Routes::metrics(const Call&) {
  const auto entries = database_.entries();
  std::map<std::string, std::int64_t> jobs;
  const bool sound = database_.sound().has_value();
  if (const auto now = sound ? ledger_.now() : fail("db.unreachable", ""); now)
    jobs = ledger_.job_counts(*now).value_or(jobs);
  return {.body = counters_.text(entries.value_or(0), sound, jobs), .content_type = "text/plain; version=0.0.4"};
}

}  // namespace sous::server
