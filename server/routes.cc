#include "server/routes.h"

#include <chrono>

#include "server/protocol.h"
#include "transforms/step.h"

namespace sous::server {
namespace {

constexpr std::string_view recipes_prefix = "/v1/recipes/";

// The fault of the server's own database; everything else that goes wrong here came with the request.
Response internal(const Error& error) { return refusal(500, error); }

}  // namespace

Response refusal(int status, const Error& error) { return {.status = status, .body = to_json(error) + "\n"}; }

Response Routes::handle(const Request& request) {
  const auto start = std::chrono::steady_clock::now();
  Answer answer = dispatch(request);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  counters_.count_request(answer.route, answer.response.status, seconds.count());
  return std::move(answer.response);
}

Routes::Answer Routes::dispatch(const Request& request) {
  const bool get = request.method == "GET" || request.method == "HEAD", post = request.method == "POST";
  const auto wrong_method = [&](const char* allowed) {
    Response response = refusal(405, {"request.method", request.path.substr(0, 256) + " is asked with " + allowed, ""});
    response.allow = allowed;
    return response;
  };
  if (request.body.size() > longest_request)
    return {"too-large",
            refusal(413, {"request.budget", "the body has more than " + std::to_string(longest_request) + " bytes"})};
  if (request.path == "/v1/query") return {"/v1/query", post ? query(request.body) : wrong_method("POST")};
  if (request.path.starts_with(recipes_prefix) && request.path.size() > recipes_prefix.size())
    return {"/v1/recipes/{id}", get ? recipe(request.path.substr(recipes_prefix.size())) : wrong_method("GET")};
  if (request.path == "/v1/steps")
    return {"/v1/steps", get ? Response{.body = transforms::steps_json() + "\n"} : wrong_method("GET")};
  if (request.path == "/healthz") return {"/healthz", get ? health() : wrong_method("GET")};
  if (request.path == "/metrics") return {"/metrics", get ? metrics() : wrong_method("GET")};
  return {"unknown", refusal(404, {"request.path", "there is nothing at " + request.path.substr(0, 256)})};
}

Response Routes::query(const std::string& body) {
  const auto request = query_request_from_json(body);
  if (!request) return refusal(400, request.error());
  auto matches = database_.query(request->nests, request->k, request->hardware);
  if (!matches) return internal(matches.error());
  std::uint64_t exact = 0, neighbours = 0, nothing = 0;
  for (std::size_t i = 0; i < matches->size(); ++i) {
    const auto& ranked = (*matches)[i];
    ++(ranked.empty() ? nothing : ranked.front().distance == 0 ? exact : neighbours);
  }
  counters_.count_nests(exact, neighbours, nothing);
  return {.body = to_json(QueryReply{std::move(*matches)}) + "\n"};
}

Response Routes::recipe(const std::string& id) {
  const auto entry = database_.get(id);
  if (!entry && entry.error().code == "db.ambiguous") return refusal(400, entry.error());
  if (!entry) return internal(entry.error());
  if (!*entry) return refusal(404, {"recipe.not-found", "no entry has the id " + id.substr(0, 64)});
  return {.body = tuning_db::to_json(**entry) + "\n"};
}

Response Routes::health() {
  if (const auto sound = database_.sound(); !sound) return refusal(503, sound.error());
  return {.body = "{\"status\":\"ok\"}\n"};
}

Response Routes::metrics() {
  const auto entries = database_.entries();
  if (!entries) return internal(entries.error());
  return {.body = counters_.text(*entries), .content_type = "text/plain; version=0.0.4"};
}

}  // namespace sous::server
