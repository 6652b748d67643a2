// A small HTTP/1.1 client, because a build must not hang: one deadline holds for the whole exchange, name look-up,
// connecting, sending and receiving together, also against a server that sends a byte now and then. (cpp-httplib's
// client, like most, limits each read and write instead.) No redirects. Requests of some length go in gzip; answers may
// come in it, and `longest_body` is of what they say.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include "sdfg/result.h"

namespace sous::client {

struct HttpUrl {
  std::string host;  // a name or an address, without the brackets of an IPv6 one
  std::string port = "80";
  std::string path = "/";
  bool tls = false;

  std::string authority() const;  // "host:port"
  std::string origin() const;     // "https://host:port"
};
// "http://host[:port][/path]", or https. Errors: http.url.
Result<HttpUrl> parse_url(std::string_view url);
// The token that SOUS_TOKEN holds; empty: none. Error: http.token (it cannot be one).
Result<std::string> token_from_environment();

struct HttpRequest {
  std::string method = "GET";
  HttpUrl url;
  std::string body;
  std::string token = {};  // shown as a bearer, in TLS or to this machine only; empty: none
};
struct HttpResponse {
  int status = 0;
  std::string body;
};
struct HttpLimits {
  std::chrono::milliseconds deadline{2000};
  std::size_t longest_body = std::size_t{32} << 20;
};

// Errors: http.resolve, http.connect, http.timeout, http.io, http.tls, http.token, http.malformed, http.too-long.
Result<HttpResponse> exchange(const HttpRequest& request, const HttpLimits& limits = {});
// The response in these bytes, as `exchange` reads it from a server that sends them and closes. Errors:
// http.malformed, http.too-long.
Result<HttpResponse> parse_response(std::string_view bytes, const HttpLimits& limits = {});

}  // namespace sous::client
