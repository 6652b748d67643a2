#include "client/http.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "client/wire.h"
#include "server/gzip.h"

namespace sous::client {
namespace {

constexpr std::size_t longest_head = std::size_t{64} << 10;

std::optional<std::size_t> parse_number(std::string_view digits, int base) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

struct Head {
  int status = 0;
  std::optional<std::size_t> length;
  bool chunked = false;
  bool gzip = false;
};

// Status line and headers, without the empty line behind them.
std::optional<Head> parse_head(std::string_view text) {
  Head head;
  bool first = true;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find("\r\n"), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 2, text.size()));
    if (std::exchange(first, false)) {
      const auto status = line.starts_with("HTTP/1.") && line.size() >= 12 && line[8] == ' '
                              ? parse_number(line.substr(9, 3), 10)
                              : std::nullopt;
      if (!status || *status < 100 || *status > 599) return std::nullopt;
      head.status = static_cast<int>(*status);
      continue;
    }
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return std::nullopt;
    std::string name(line.substr(0, colon));
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    line.remove_prefix(colon + 1);
    while (!line.empty() && (line.front() == ' ' || line.front() == '\t')) line.remove_prefix(1);
    while (!line.empty() && (line.back() == ' ' || line.back() == '\t')) line.remove_suffix(1);
    if (name == "content-length") {
      head.length = parse_number(line, 10);
      if (!head.length) return std::nullopt;
    }
    if (name == "transfer-encoding") {
      if (line != "chunked") return std::nullopt;
      head.chunked = true;
    }
    if (name == "content-encoding") {
      if (line != "gzip" && line != "identity") return std::nullopt;  // nothing else was asked for
      head.gzip = line == "gzip";
    }
  }
  return first ? std::nullopt : std::optional(head);
}

// Appends more of the answer to the buffer; false at its end.
using More = std::function<Result<bool>(std::string& buffer)>;

std::unexpected<Error> too_long(const HttpLimits& limits, const Exchange& exchange) {
  return exchange.refuse("http.too-long",
                         "the answer is longer than " + std::to_string(limits.longest_body) + " bytes");
}

// The body's chunks, read from `buffer` and then from the stream (RFC 9112, section 7.1; trailers are ignored).
Result<std::string> receive_chunks(const More& receive, std::string buffer, const HttpLimits& limits,
                                   const Exchange& exchange) {
  std::string body;
  const auto need = [&](const auto& enough) -> Result<void> {
    while (!enough()) {
      TRY(const bool more, receive(buffer));
      if (!more) return exchange.refuse("http.malformed", "the answer ends in the middle of a chunk");
    }
    return {};
  };
  while (true) {
    std::size_t end = std::string::npos;
    TRY_VOID(need([&] { return (end = buffer.find("\r\n")) != std::string::npos || buffer.size() > longest_head; }));
    if (end == std::string::npos) return exchange.refuse("http.malformed", "a chunk has no size");
    const std::string_view line = std::string_view(buffer).substr(0, end);
    const auto size = parse_number(line.substr(0, line.find(';')), 16);
    if (!size) return exchange.refuse("http.malformed", "a chunk has no size");
    if (*size == 0) return body;
    if (*size > limits.longest_body || body.size() + *size > limits.longest_body) return too_long(limits, exchange);
    buffer.erase(0, end + 2);
    TRY_VOID(need([&] { return buffer.size() >= *size + 2; }));
    if (buffer.compare(*size, 2, "\r\n") != 0)
      return exchange.refuse("http.malformed", "a chunk is longer than its size");
    body.append(buffer, 0, *size);
    buffer.erase(0, *size + 2);
  }
}

// As it was sent. `buffer`: what there is of it.
Result<std::string> receive_body(const More& receive, const Head& head, std::string buffer, const HttpLimits& limits,
                                 const Exchange& exchange) {
  if (head.chunked) return receive_chunks(receive, std::move(buffer), limits, exchange);
  if (head.length && *head.length > limits.longest_body) return too_long(limits, exchange);
  while (!head.length || buffer.size() < *head.length) {
    if (buffer.size() > limits.longest_body) return too_long(limits, exchange);
    TRY(const bool more, receive(buffer));
    if (more) continue;
    if (head.length) return exchange.refuse("http.malformed", "the answer is shorter than it says");
    break;
  }
  if (head.length) buffer.resize(*head.length);
  return buffer;
}

Result<HttpResponse> receive_response(const More& receive, const HttpLimits& limits, const Exchange& exchange) {
  std::string buffer;
  std::size_t end = std::string::npos;
  while ((end = buffer.find("\r\n\r\n")) == std::string::npos) {
    if (buffer.size() > longest_head) return exchange.refuse("http.too-long", "the head of the answer does not end");
    TRY(const bool more, receive(buffer));
    if (!more) return exchange.refuse("http.malformed", "the connection ended before an answer");
  }
  const auto head = parse_head(std::string_view(buffer).substr(0, end));
  if (!head) return exchange.refuse("http.malformed", "the answer is not HTTP");
  buffer.erase(0, end + 4);
  TRY(std::string body, receive_body(receive, *head, std::move(buffer), limits, exchange));
  if (!head->gzip) return HttpResponse{head->status, std::move(body)};
  auto text = server::inflated(body, limits.longest_body);
  if (text) return HttpResponse{head->status, std::move(*text)};
  if (text.error() == server::NotInflated::too_long) return too_long(limits, exchange);
  return exchange.refuse("http.malformed", "the answer is not what its Content-Encoding says");
}

}  // namespace

Result<HttpUrl> parse_url(std::string_view text) {
  constexpr std::string_view plain = "http://", tls = "https://";
  const auto refuse = [&](const char* why) { return fail("http.url", why, std::string(text.substr(0, 256))); };
  HttpUrl url;
  url.tls = text.starts_with(tls);
  if (url.tls) url.port = "443";
  if (!url.tls && !text.starts_with(plain)) return refuse("a server is named as http://host:port or https://host:port");
  // What would end or split a line of the request has no place in it.
  if (std::ranges::any_of(text, [](unsigned char c) { return c <= ' ' || c == 127; }))
    return refuse("white space and control characters are not allowed");
  std::string_view rest = text.substr(url.tls ? tls.size() : plain.size());
  const std::size_t slash = rest.find('/');
  if (slash != std::string_view::npos) url.path = rest.substr(slash);
  std::string_view authority = rest.substr(0, slash);
  if (authority.find('@') != std::string_view::npos) return refuse("user names are not supported");
  if (authority.starts_with('[')) {
    const std::size_t bracket = authority.find(']');
    if (bracket == std::string_view::npos) return refuse("the bracket is not closed");
    url.host = authority.substr(1, bracket - 1);
    authority.remove_prefix(bracket + 1);
  } else {
    const std::size_t colon = std::min(authority.find(':'), authority.size());
    url.host = authority.substr(0, colon);
    authority.remove_prefix(colon);
  }
  if (url.host.empty()) return refuse("the host is missing");
  if (!authority.empty()) {
    const auto port = authority.starts_with(':') ? parse_number(authority.substr(1), 10) : std::nullopt;
    if (!port || *port == 0 || *port > 65535) return refuse("the port is no number from 1 to 65535");
    url.port = std::to_string(*port);
  }
  return url;
}

// The characters of RFC 6750: what would end or split a line of the request is none.
Result<std::string> token_from_environment() {
  const char* value = std::getenv("SOUS_TOKEN");
  std::string token = value == nullptr ? "" : value;
  const auto allowed = [](unsigned char c) {
    return std::isalnum(c) || std::string_view("-._~+/=").find(static_cast<char>(c)) != std::string_view::npos;
  };
  if (token.size() > 1024 || !std::ranges::all_of(token, allowed))
    return fail("http.token", "no server gives out a token such as this", "SOUS_TOKEN");
  return token;
}

std::string HttpUrl::origin() const { return (tls ? "https://" : "http://") + authority(); }
std::string HttpUrl::authority() const {
  return (host.find(':') == std::string::npos ? host : "[" + host + "]") + ":" + port;
}

Result<HttpResponse> exchange(const HttpRequest& request, const HttpLimits& limits) {
  const Exchange exchange{Exchange::Clock::now() + limits.deadline, request.url.origin()};
  TRY(const auto wire, connect_to(request.url, exchange));
  if (!request.token.empty() && !wire->is_private())
    return exchange.refuse("http.token",
                           "a token is shown over https, or to this machine: everyone between could take it");
  // Where there is no memory for it, as it is.
  const auto smaller = request.body.size() < server::worth_compressing ? std::nullopt : server::gzipped(request.body);
  const std::string& body = smaller ? *smaller : request.body;
  const std::string head =
      request.method + " " + request.url.path + " HTTP/1.1\r\nHost: " + request.url.authority() +
      "\r\nUser-Agent: sous\r\nAccept: application/json\r\nAccept-Encoding: gzip\r\nConnection: close\r\n" +
      (request.token.empty() ? "" : "Authorization: Bearer " + request.token + "\r\n") +
      (smaller ? "Content-Encoding: gzip\r\n" : "") +
      "Content-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n";
  TRY_VOID(wire->send(head + body));
  return receive_response([&](std::string& buffer) { return wire->receive(buffer); }, limits, exchange);
}

Result<HttpResponse> parse_response(std::string_view bytes, const HttpLimits& limits) {
  constexpr std::size_t packet = 1400;
  const auto more = [&](std::string& buffer) -> Result<bool> {
    if (bytes.empty()) return false;
    buffer.append(bytes.substr(0, packet));
    bytes.remove_prefix(std::min(packet, bytes.size()));
    return true;
  };
  return receive_response(more, limits, Exchange{Exchange::Clock::time_point::max(), ""});
}

}  // namespace sous::client
