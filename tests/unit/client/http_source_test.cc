#include "client/http_source.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <functional>
#include <thread>

#include "client/wire.h"
#include "server/gzip.h"
#include "server/protocol.h"
#include "tests/unit/tuning_db/nests.h"
#include "tuning-db/database.h"

namespace sous::client {
namespace {

namespace nests = tuning_db::nests;
using namespace std::chrono_literals;

// Accepts one connection and lets `serve` do with it what it likes.
class FakeServer {
 public:
  explicit FakeServer(std::function<void(int fd)> serve) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    SOUS_ASSERT(::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) == 0 && ::listen(listener_, 4) == 0);
    SOUS_ASSERT(::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) == 0);
    url = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
    thread_ = std::jthread([this, serve = std::move(serve)] {
      const int fd = ::accept(listener_, nullptr, nullptr);
      if (fd < 0) return;
      serve(fd);
      ::close(fd);
    });
  }
  ~FakeServer() {
    ::shutdown(listener_, SHUT_RDWR);  // wakes an accept that nobody came to
    thread_.join();
    ::close(listener_);
  }
  std::string url;

 private:
  int listener_;
  std::jthread thread_;
};

std::string receive_request(int fd) {
  std::string text;
  char buffer[4096];
  while (true) {
    const std::size_t head = text.find("\r\n\r\n"), field = text.find("Content-Length: ");
    if (head != std::string::npos && text.size() - head - 4 >= std::stoul(text.substr(field + 16))) return text;
    const ssize_t n = ::recv(fd, buffer, sizeof buffer, 0);
    if (n <= 0) return text;
    text.append(buffer, static_cast<std::size_t>(n));
  }
}

// What it says, behind its encoding.
std::string body_of(const std::string& request) {
  const std::size_t head = request.find("\r\n\r\n") + 4;
  const std::string body = request.substr(head);
  if (request.substr(0, head).find("\r\nContent-Encoding: gzip\r\n") == std::string::npos) return body;
  return server::inflated(body, server::longest_request).value();
}

void say(int fd, const std::string& text) { ::send(fd, text.data(), text.size(), MSG_NOSIGNAL); }

std::string with_length(const std::string& body, const std::string& status = "200 OK") {
  return "HTTP/1.1 " + status + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

server::QueryReply reply() {
  return {{{tuning_db::match_of(nests::entry(nests::gemm, 500), 0, transforms::Origin::Server)}}};
}

auto ask(const std::string& url, HttpLimits limits = {.deadline = 500ms}) {
  return HttpSource::make(url, nests::machine(), limits).value()->query({nests::asks(nests::gemm, 500)}, 3);
}

// The code with which a query fails against a server that answers `text`.
std::string code_for(const std::string& text, HttpLimits limits = {.deadline = 500ms}) {
  FakeServer server([&](int fd) {
    receive_request(fd);
    say(fd, text);
  });
  const auto result = ask(server.url, limits);
  return result ? "answered" : result.error().code;
}

TEST(HttpSource, AsksOnceAndReadsTheMatches) {
  std::string request;
  FakeServer server([&](int fd) {
    request = receive_request(fd);
    say(fd, with_length(server::to_json(reply())));
  });
  const auto result = ask(server.url + "/behind/a/proxy/");
  ASSERT_TRUE(result) << result.error().to_string();
  ASSERT_EQ(result->size(), 1u);
  EXPECT_EQ((*result)[0][0].recipe, nests::entry(nests::gemm, 500).recipe);
  EXPECT_EQ((*result)[0][0].origin, transforms::Origin::Server);
  EXPECT_TRUE(request.starts_with("POST /behind/a/proxy/v1/query HTTP/1.1\r\nHost: 127.0.0.1:")) << request;
  EXPECT_TRUE(server::query_request_from_json(body_of(request)));
}

// The server would refuse it, and the other nests of the file with it.
TEST(HttpSource, WhatIsTooLargeIsNotAsked) {
  std::string request;
  FakeServer server([&](int fd) {
    request = receive_request(fd);
    say(fd, with_length(server::to_json(reply())));
  });
  const auto small = nests::asks(nests::gemm, 500);
  auto large = small;
  large.nest.symbols.resize(5000, "n");
  const auto result =
      HttpSource::make(server.url, nests::machine(), {.deadline = 5s}).value()->query({large, small}, 3);
  ASSERT_TRUE(result) << result.error().to_string();
  ASSERT_EQ(result->size(), 2u);
  EXPECT_TRUE((*result)[0].empty());
  EXPECT_EQ((*result)[1].size(), 1u);
  EXPECT_EQ(server::query_request_from_json(body_of(request))->nests.size(), 1u);
}

TEST(HttpSource, ChunkedAndUndelimitedAnswers) {
  const std::string body = server::to_json(reply());
  std::string chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (std::size_t at = 0; at < body.size(); at += 100) {
    const std::string piece = body.substr(at, 100);
    char size[16];
    std::snprintf(size, sizeof size, "%zx\r\n", piece.size());
    chunked += size + piece + "\r\n";
  }
  EXPECT_EQ(code_for(chunked + "0\r\n\r\n"), "answered");
  EXPECT_EQ(code_for("HTTP/1.0 200 OK\r\n\r\n" + body), "answered");
  EXPECT_EQ(code_for(chunked), "http.malformed");
}

TEST(HttpSource, GarbageIsAnError) {
  const std::string body = server::to_json(reply());
  EXPECT_EQ(code_for(""), "http.malformed");
  EXPECT_EQ(code_for("SSH-2.0-OpenSSH\r\n\r\n"), "http.malformed");
  EXPECT_EQ(code_for("HTTP/1.1 200 OK\r\nContent-Length: minus one\r\n\r\n"), "http.malformed");
  EXPECT_EQ(code_for("HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\nshort"), "http.malformed");
  EXPECT_EQ(code_for("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"), "http.malformed");
  EXPECT_EQ(code_for("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n"), "http.too-long");
  EXPECT_EQ(code_for(with_length("<html>hello</html>")), "reply.json");
  EXPECT_EQ(code_for(with_length("{}")), "reply.field");
  EXPECT_EQ(code_for(with_length(body.substr(0, body.size() / 2))), "reply.json");
  EXPECT_EQ(code_for(with_length(server::to_json(server::QueryReply{}))), "reply.field");
  EXPECT_EQ(code_for(with_length(server::to_json(Error{"db.io", "disk full"}), "500 Oops")), "http.status");
  EXPECT_EQ(code_for(with_length("", "302 Found")), "http.status");
}

TEST(HttpSource, LongAnswersAreCutOff) {
  const HttpLimits limits{.deadline = 500ms, .longest_body = 1000};
  EXPECT_EQ(code_for(with_length(std::string(2000, 'x')), limits), "http.too-long");
  EXPECT_EQ(code_for("HTTP/1.1 200 OK\r\n\r\n" + std::string(100'000, 'x'), limits), "http.too-long");
  EXPECT_EQ(code_for(std::string(100'000, 'x'), limits), "http.too-long");
}

TEST(HttpSource, TheDeadlineHoldsForTheWholeExchange) {
  const auto timed = [](std::function<void(int)> serve) {
    FakeServer server(std::move(serve));
    const auto start = std::chrono::steady_clock::now();
    const auto result = ask(server.url, {.deadline = 200ms});
    EXPECT_LT(std::chrono::steady_clock::now() - start, 2s);
    return result ? "answered" : result.error().code;
  };
  // Silent.
  EXPECT_EQ(timed([](int fd) { receive_request(fd), std::this_thread::sleep_for(400ms); }), "http.timeout");
  // A byte now and then, each well within the deadline.
  EXPECT_EQ(timed([](int fd) {
              receive_request(fd);
              for (const char c : with_length(std::string(40, ' '))) {
                std::this_thread::sleep_for(20ms);
                if (::send(fd, &c, 1, MSG_NOSIGNAL) < 0) return;
              }
            }),
            "http.timeout");
}

TEST(HttpSource, WhatAServerSaysDoesNotCommandTheTerminal) {
  const auto answer = HttpSource::read_answer({500, server::to_json(Error{"a\x1b[2J", "b\x07\r\n"})}, 1, 3, "http://x");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().why, "the server answered 500: b    [a [2J]");
  server::QueryReply forged = reply();
  forged.matches[0][0].name = "\x1b]0;title";
  EXPECT_EQ(HttpSource::read_answer({200, server::to_json(forged)}, 1, 3, "http://x").error().code, "reply.field");
  std::string unknown = server::to_json(reply());
  unknown.replace(unknown.find("\"assumptions\""), 13, "\"\\u001b[2J\"");
  const auto refused = HttpSource::read_answer({200, unknown}, 1, 3, "http://x");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().to_string().find('\x1b'), std::string::npos) << refused.error().to_string();
  EXPECT_EQ(HttpSource::read_answer({200, server::to_json(reply())}, 2, 3, "http://x").error().code, "reply.field");
}

TEST(HttpSource, BytesAreReadAsAnAnswer) {
  EXPECT_EQ(parse_response("HTTP/1.1 200 OK\r\n\r\nbody")->body, "body");
  EXPECT_EQ(parse_response("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n")->body, "abc");
  EXPECT_EQ(parse_response("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n").error().code,
            "http.too-long");
  EXPECT_EQ(parse_response("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nbody").error().code, "http.malformed");
  EXPECT_EQ(parse_response(std::string(100'000, 'x')).error().code, "http.too-long");
}

TEST(HttpSource, ReadingEndsWithThePatience) {
  const transforms::Patience over(0s), enough(1h);
  const HttpResponse answer{200, server::to_json(reply())};
  EXPECT_EQ(HttpSource::read_answer(answer, 1, 3, "http://x", &over).error().code, "reply.time");
  EXPECT_TRUE(HttpSource::read_answer(answer, 1, 3, "http://x", &enough));
  // Every value takes a hundred times its two bytes: they are counted before any is made.
  std::string many = "{\"protocol\":1,\"matches\":[[]";
  for (int i = 0; i < 2'000'000; ++i) many += ",0";
  EXPECT_EQ(HttpSource::read_answer({200, many + "]}"}, 1, 3, "http://x").error().code, "reply.budget");
}

TEST(HttpSource, CompressedAnswersAreReadWithinTheLimit) {
  const auto read = [](const std::string& encoding, const std::string& body) {
    HttpLimits limits;
    limits.longest_body = 100'000;
    return parse_response("HTTP/1.1 200 OK\r\nContent-Encoding: " + encoding +
                              "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body,
                          limits);
  };
  const std::string text(100'000, 'x'), small = server::gzipped(text).value();
  EXPECT_LT(small.size(), 1000U);
  EXPECT_EQ(read("gzip", small)->body, text);
  EXPECT_EQ(read("identity", text)->body, text);
  EXPECT_EQ(read("gzip", server::gzipped(text + "x").value()).error().code, "http.too-long");
  EXPECT_EQ(read("gzip", server::gzipped(std::string(30'000'000, 'x')).value()).error().code, "http.too-long");
  EXPECT_EQ(read("gzip", small.substr(0, small.size() - 1)).error().code, "http.malformed");
  EXPECT_EQ(read("gzip", text).error().code, "http.malformed");
  EXPECT_EQ(read("br", small).error().code, "http.malformed") << "nothing else was asked for";
}

TEST(HttpSource, RequestsOfSomeLengthAreCompressed) {
  const auto sent = [](const std::string& body) {
    std::string request;
    FakeServer server([&](int fd) {
      request = receive_request(fd);
      say(fd, with_length("{}"));
    });
    EXPECT_TRUE(exchange({.method = "POST", .url = parse_url(server.url).value(), .body = body}, {.deadline = 5s}));
    return request;
  };
  const std::string small(server::worth_compressing - 1, 'x'), large(20'000, 'x');
  EXPECT_TRUE(sent(small).ends_with("\r\n\r\n" + small)) << "a packet holds it";
  EXPECT_LT(sent(large).size(), 1000U);
  EXPECT_EQ(body_of(sent(large)), large);
}

TEST(HttpSource, NobodyThere) {
  std::string url;
  {
    url = FakeServer([](int) {}).url;
  }
  EXPECT_EQ(ask(url).error().code, "http.connect");
  EXPECT_EQ(ask("http://host.invalid:1").error().code.substr(0, 5), "http.");
}

TEST(HttpSource, ATokenInTheClearIsForThisMachine) {
  const auto is_here = [](const char* text) {
    sockaddr_storage address{};
    auto& four = reinterpret_cast<sockaddr_in&>(address);
    auto& six = reinterpret_cast<sockaddr_in6&>(address);
    address.ss_family = std::strchr(text, ':') == nullptr ? AF_INET : AF_INET6;
    const bool is_four = address.ss_family == AF_INET;
    EXPECT_EQ(::inet_pton(address.ss_family, text, is_four ? static_cast<void*>(&four.sin_addr) : &six.sin6_addr), 1);
    return is_this_machine(address);
  };
  for (const char* here : {"127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"}) EXPECT_TRUE(is_here(here)) << here;
  for (const char* other : {"10.0.0.1", "128.0.0.1", "::", "::ffff:10.0.0.1", "fe80::1"})
    EXPECT_FALSE(is_here(other)) << other;
}

TEST(HttpSource, Urls) {
  EXPECT_EQ(parse_url("http://a")->port, "80");
  EXPECT_EQ(parse_url("https://a/x")->port, "443");
  EXPECT_EQ(parse_url("https://[::1]:8421/x")->origin(), "https://[::1]:8421");
  EXPECT_FALSE(parse_url("http://a")->tls);
  EXPECT_EQ(parse_url("http://[::1]:8421/x")->host, "::1");
  EXPECT_EQ(parse_url("http://[::1]:8421/x")->path, "/x");
  for (const char* bad : {"", "a:1", "ftp://a", "https://", "http://", "http://a:0", "http://a:99999", "http://a:b",
                          "http://[::1", "http://a/\r\nX: y", "http://u@a"})
    EXPECT_EQ(parse_url(bad).error().code, "http.url") << bad;
}

}  // namespace
}  // namespace sous::client
