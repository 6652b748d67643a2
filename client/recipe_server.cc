#include "client/recipe_server.h"

#include <utility>

#include "server/protocol.h"

namespace sous::client {

RecipeServer::RecipeServer(HttpUrl url, std::string token, HttpLimits limits)
    : url_(std::move(url)), token_(std::move(token)), name_(url_.origin()), limits_(limits) {}

Result<RecipeServer> RecipeServer::at(std::string_view text, HttpLimits limits) {
  TRY(HttpUrl url, parse_url(text));
  while (url.path.ends_with('/')) url.path.pop_back();  // the server may live under a path of a proxy
  TRY(std::string token, token_from_environment());
  return RecipeServer(std::move(url), std::move(token), limits);
}

Result<HttpResponse> RecipeServer::ask(const char* method, std::string_view path, std::string body) const {
  if (body.size() > server::longest_request)
    return fail("http.request", "the request is longer than a server accepts", name_);
  HttpRequest request{.method = method, .url = url_, .body = std::move(body), .token = token_};
  request.url.path += path;
  return exchange(request, limits_);
}

Result<void> check_status(const HttpResponse& response, const std::string& server) {
  if (response.status == 200) return {};
  const Error said = server::error_from_json(response.body);
  return fail("http.status",
              "the server answered " + std::to_string(response.status) + ": " + said.why + " [" + said.code + "]",
              server);
}

}  // namespace sous::client
