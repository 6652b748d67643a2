// A recipe server as a client talks to it: one exchange for each call, within one deadline.
#pragma once

#include <string>
#include <string_view>

#include "client/http.h"

namespace sous::client {

inline constexpr std::string_view query_path = "/v1/query";

class RecipeServer {
 public:
  // `url`: "http://host:port", maybe with the path of a proxy. The token is SOUS_TOKEN's. Errors: http.url, http.token.
  static Result<RecipeServer> at(std::string_view url, HttpLimits limits = {});

  // `path`: "/v1/query". Errors: http.* (client/http.h).
  Result<HttpResponse> post(std::string_view path, std::string body) const {
    return ask("POST", path, std::move(body));
  }
  Result<HttpResponse> get(std::string_view path) const { return ask("GET", path, {}); }
  const std::string& name() const { return name_; }  // for messages

 private:
  RecipeServer(HttpUrl url, std::string token, HttpLimits limits);
  Result<HttpResponse> ask(const char* method, std::string_view path, std::string body) const;

  HttpUrl url_;
  std::string token_, name_;
  HttpLimits limits_;
};

// Error: http.status (the server refused; its code and reason are in `why`).
Result<void> check_status(const HttpResponse& response, const std::string& server);

}  // namespace sous::client
