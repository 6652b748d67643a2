// The HTTP layer in front of an echo: what clients may do, and what they may not do to each other.
#include "server/http_server.h"

#include <brotli/encode.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <csignal>
#include <future>
#include <memory>
#include <sstream>
#include <vector>

#include "server/gzip.h"
#include "server/protocol.h"
#include "tests/unit/server/raw_client.h"

namespace sous::server {
namespace {

Response echo(const Request& request) {
  const auto body = decoded_body(request);
  if (!body) return body.error();
  return {.body = request.method + " " + request.path + " " + *body};
}

std::string code(const std::string& answer) { return error_from_json(body_of(answer)).code; }

// A service of which each POST waits until it is let go; all else is answered apart.
struct Gate {
  std::atomic<int> begun = 0;
  std::promise<void> go;
  std::shared_future<void> gone_on = go.get_future().share();
  bool open = false;
  Service service() {
    return {.handle =
                [this](const Request& request) {
                  if (request.method == "POST") ++begun, gone_on.wait();
                  return echo(request);
                },
            .lane = [](const Request& request) { return request.method == "GET" ? Lane::apart : Lane::ask; }};
  }
  void let_go() {
    if (!std::exchange(open, true)) go.set_value();
  }
  void wait_for(int requests) const {
    while (begun < requests) std::this_thread::sleep_for(1ms);
  }
  ~Gate() { let_go(); }
};

TEST(Http, WhoWritesKeepsNobodyWaitingWhoAsks) {
  Gate gate;
  Service service = gate.service();
  service.lane = [](const Request& request) { return request.method == "POST" ? Lane::write : Lane::ask; };
  const Served served(service, {.write_queue = 1, .workers = 1});
  Client writing = served.client(), waiting = served.client();
  writing.say(post("1"));
  gate.wait_for(1);
  waiting.say(post("2"));
  for (int i = 0; i < 20; ++i) EXPECT_EQ(body_of(served.ask(get("/x"))), "GET /x ");
  // One writes and one waits: a third is one too many.
  EXPECT_EQ(status(served.ask(post("3"))), 503);
  gate.let_go();
  EXPECT_EQ(body_of(writing.answer()), "POST /v1/query 1");
  EXPECT_EQ(body_of(waiting.answer()), "POST /v1/query 2");
}

std::string chunk(const std::string& bytes) {
  std::ostringstream out;
  out << std::hex << bytes.size() << "\r\n" << bytes << "\r\n";
  return out.str();
}
const std::string chunked = "POST /v1/query HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";

TEST(Http, MethodsPathsAndBodies) {
  const Served served({echo});
  EXPECT_EQ(body_of(served.ask(get("/a/b?c=d"))), "GET /a/b ");
  EXPECT_EQ(body_of(served.ask(get("/a%2Fb%20c"))), "GET /a/b c ");
  EXPECT_EQ(body_of(served.ask(get("http://host:1/x"))), "GET /x ");
  EXPECT_EQ(body_of(served.ask(post("{}"))), "POST /v1/query {}");
  EXPECT_EQ(body_of(served.ask(chunked + chunk("ab") + chunk("c") + "0\r\n\r\n")), "POST /v1/query abc");
  EXPECT_EQ(body_of(served.ask("DELETE /x HTTP/1.1\r\nHost: x\r\n\r\n")), "DELETE /x ");
  EXPECT_EQ(status(served.ask(get("/%zz"))), 400);
  EXPECT_EQ(code(served.ask("SSH-2.0-OpenSSH\r\n\r\n")), "request.http");
  Client head = served.client();
  head.say("HEAD /x HTTP/1.1\r\nHost: x\r\n\r\n" + get("/y"));
  EXPECT_NE(head.answer(false).find("Content-Length: 8\r\n"), std::string::npos);
  EXPECT_EQ(body_of(head.answer()), "GET /y ");
}

TEST(Http, ConnectionsStayAndRequestsInOnePacketAreAnsweredInOrder) {
  const Served served({echo});
  Client client = served.client();
  std::string many;
  for (int i = 0; i < 50; ++i) many += i % 2 ? get("/" + std::to_string(i)) : post(std::to_string(i));
  client.say(many);
  for (int i = 0; i < 50; ++i)
    EXPECT_EQ(body_of(client.answer()),
              i % 2 ? "GET /" + std::to_string(i) + " " : "POST /v1/query " + std::to_string(i));
  client.say(get("/last", "Connection: close\r\n"));
  EXPECT_NE(client.answer().find("Connection: close\r\n"), std::string::npos);
  EXPECT_TRUE(client.is_closed());
  Client old = served.client();
  old.say("GET /x HTTP/1.0\r\n\r\n");
  EXPECT_EQ(body_of(old.answer()), "GET /x ");
  EXPECT_TRUE(old.is_closed());
}

TEST(Http, ABodyThatIsAnnouncedIsAskedFor) {
  const Served served({echo});
  Client client = served.client();
  client.say("POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(status(client.answer()), 100);
  client.say("ok");
  EXPECT_EQ(body_of(client.answer()), "POST /x ok");
}

TEST(Http, LengthsThatContradictEachOtherAreRefused) {
  const Served served({echo});
  const std::string both = "POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n";
  EXPECT_EQ(status(served.ask(both + "0\r\n\r\n")), 400);
  EXPECT_EQ(status(served.ask("POST /x HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab")), 400);
  EXPECT_EQ(status(served.ask("POST /x HTTP/1.1\r\nContent-Length: -1\r\n\r\n")), 400);
}

TEST(Http, HeadsAreLimited) {
  const Served served({echo});
  EXPECT_EQ(status(served.ask(get("/" + std::string(100'000, 'a')))), 414);
  EXPECT_EQ(status(served.ask(get("/", "X: " + std::string(100'000, 'a') + "\r\n"))), 431);
  std::string many;
  for (int i = 0; i < 10'000; ++i) many += "X-" + std::to_string(i) + ": y\r\n";
  const std::string refused = served.ask(get("/", many));
  EXPECT_EQ(status(refused), 431);
  EXPECT_EQ(code(refused), "request.budget");
}

TEST(Http, ByteRangesMeanNothing) {
  const Served served({echo});
  std::string ranges = "Range: bytes=0-0";
  for (int i = 1; i < 2700; ++i) ranges += ",0-0";
  const std::string answer = served.ask(get("/x", ranges + "\r\n"));
  EXPECT_EQ(status(answer), 200);
  EXPECT_EQ(body_of(answer), "GET /x ");
}

TEST(Http, BodiesAreLimitedWhileTheyAreRead) {
  const Served served({echo}, {.body_bytes = 100'000});
  const std::string announced = served.ask(post(std::string(100'001, 'x')));
  EXPECT_EQ(status(announced), 413);
  EXPECT_EQ(code(announced), "request.budget");
  EXPECT_EQ(status(served.ask(post(std::string(100'000, 'x')))), 200);
  // No end, in chunks: refused when the limit is reached, and closed though the client goes on.
  Client endless = served.client();
  endless.say(chunked);
  const std::string piece = chunk(std::string(1000, 'x'));
  int pieces = 0;
  while (pieces < 100'000 && endless.say(piece)) ++pieces;
  EXPECT_LT(pieces, 100'000);
  // A chunk's head without end.
  Client extension = served.client();
  extension.say(chunked + "1;" + std::string(200'000, 'e'));
  EXPECT_NE(status(extension.answer()), 200);
}

// Less than a thousand bytes that stand for `bytes`.
std::string brotli_bomb(std::size_t bytes) {
  const std::string all(bytes, ' ');
  std::string out(1 << 20, 0);
  std::size_t size = out.size();
  EXPECT_TRUE(BrotliEncoderCompress(5, BROTLI_MAX_WINDOW_BITS, BROTLI_MODE_GENERIC, all.size(),
                                    reinterpret_cast<const std::uint8_t*>(all.data()), &size,
                                    reinterpret_cast<std::uint8_t*>(out.data())));
  out.resize(size);
  return out;
}

TEST(Http, BodiesAreLimitedWhileTheyAreDecompressed) {
  std::atomic<std::size_t> longest = 0;
  const Served served({[&](const Request& request) {
    const Response answer = echo(request);
    longest = std::max<std::size_t>(longest, answer.body.size());
    return answer;
  }});
  const std::string bomb = brotli_bomb(std::size_t{256} << 20);
  ASSERT_LT(bomb.size(), 1000u);
  for (int i = 0; i < 8; ++i) {
    const std::string answer = served.ask(post(bomb, "Content-Encoding: br\r\n"));
    EXPECT_EQ(status(answer), 413);
    EXPECT_EQ(code(answer), "request.budget");
  }
  EXPECT_LT(longest, 1000u);
  const std::string small(
      "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xcb\x48\xcd\xc9\xc9\x07\x00\x86\xa6\x10\x36\x05\x00\x00\x00", 25);
  EXPECT_EQ(body_of(served.ask(post(small, "Content-Encoding: gzip\r\n"))), "POST /v1/query hello");
  EXPECT_EQ(status(served.ask(post("hello", "Content-Encoding: gzip\r\n"))), 400);
  EXPECT_EQ(code(served.ask(post("hello", "Content-Encoding: zstd\r\n"))), "request.encoding");
}

TEST(Http, WhatTheHeadRefusesIsNotReadNorDecompressed) {
  std::atomic<int> handled = 0;
  Service service{.handle = [&](const Request& request) { return ++handled, echo(request); },
                  .refuse = [](const Request& head) -> std::optional<Response> {
                    if (head.path != "/nothing") return std::nullopt;
                    return refusal(404, {"request.path", ""});
                  }};
  const Served served(service);
  Client client = served.client();
  client.say(get("/nothing") + get("/x"));
  EXPECT_EQ(status(client.answer()), 404);
  EXPECT_EQ(body_of(client.answer()), "GET /x ") << "without a body it goes on";
  Client waiting = served.client();
  waiting.say("POST /nothing HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(status(waiting.answer()), 404) << "without its body";
  EXPECT_EQ(handled, 1);
  // Neither is what a GET brings.
  EXPECT_EQ(body_of(served.ask("GET /x HTTP/1.1\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nnone")),
            "GET /x ");
}

TEST(Http, AnswersAreCompressedForWhoAcceptsIt) {
  const Served served({echo});
  const std::string text(5000, 'x');
  const auto is_gzip = [&](const std::string& head, std::size_t length = 5000) {
    const std::string answer = served.ask(post(text.substr(0, length), head));
    const bool said = answer.find("Content-Encoding: gzip\r\n") != std::string::npos;
    EXPECT_EQ(said ? inflated(body_of(answer), 10'000).value() : body_of(answer),
              "POST /v1/query " + text.substr(0, length));
    EXPECT_EQ(said, body_of(answer).size() < length);
    return said;
  };
  for (const char* yes : {"gzip", "br, GZIP;q=0.5", "*", "deflate;q=1.0, x-gzip", "gzip;q=0.001"})
    EXPECT_TRUE(is_gzip("Accept-Encoding: " + std::string(yes) + "\r\n")) << yes;
  for (const char* no : {"", "br", "gzip;q=0", "gzip; q=0.0, *", "identity", "gzipped"})
    EXPECT_FALSE(is_gzip("Accept-Encoding: " + std::string(no) + "\r\n")) << no;
  EXPECT_FALSE(is_gzip(""));
  EXPECT_FALSE(is_gzip("Accept-Encoding: gzip\r\n", 100)) << "it is one packet anyway";
}

TEST(Http, SilentAndSlowClientsAreClosedAndOthersAnswered) {
  const Served served({echo}, {.idle = 500ms, .head = 500ms, .body = 500ms, .workers = 2});
  std::vector<Client> slow;
  for (int i = 0; i < 8; ++i) slow.push_back(served.client());
  for (int i = 0; i < 8; ++i) (slow.emplace_back(served.client())).say("GET / HTTP/1.1\r\nHost");
  for (int i = 0; i < 8; ++i)
    (slow.emplace_back(served.client())).say("POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\n12");
  EXPECT_EQ(status(served.ask(get("/healthz"))), 200);
  EXPECT_EQ(status(served.ask(post("{}"))), 200);
  // A byte now and then does not help.
  Client drop = served.client();
  int drops = 0;
  while (drops < 1000 && drop.say("G")) std::this_thread::sleep_for(10ms), ++drops;
  EXPECT_LT(drops, 1000);
  for (Client& one : slow) EXPECT_TRUE(one.is_closed());
}

TEST(Http, WhoDoesNotReadIsClosedAndOthersAnswered) {
  constexpr std::size_t length = 16 << 20;
  const Served served({[](const Request& request) {
                        return request.path == "/long" ? Response{.body = std::string(length, 'x')} : echo(request);
                      }},
                      {.request = 2s, .held_bytes = 6 * length});
  std::vector<Client> slow;
  for (int i = 0; i < 8; ++i) (slow.emplace_back(served.client(4096))).say(get("/long"));
  EXPECT_EQ(status(served.ask(get("/x"))), 200);
  EXPECT_EQ(body_of(served.ask(get("/long"))).size(), length);
  std::this_thread::sleep_for(2200ms);
  for (Client& one : slow) EXPECT_TRUE(one.is_closed());
}

TEST(Http, AThousandIdleConnectionsBesideGoodClients) {
  rlimit files{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &files), 0);
  files.rlim_cur = std::min<rlim_t>(files.rlim_max, 8192);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &files), 0);
  const Served served({echo}, {.connections = 1000});
  std::vector<Client> idle;
  for (int i = 0; i < 1000; ++i) idle.push_back(served.client());
  for (int i = 0; i < 20; ++i) EXPECT_EQ(status(served.ask(post("{}"))), 200);
  // Beyond the limit those go that have waited for the longest.
  EXPECT_TRUE(idle.front().is_closed());
  EXPECT_FALSE(idle.back().is_closed(20ms));
}

TEST(Http, BodiesThatNeverComeKeepNobodyOut) {
  const Served served({echo}, {.held_bytes = std::size_t{1} << 20});
  std::vector<Client> silent;
  for (int i = 0; i < 100; ++i)
    (silent.emplace_back(served.client())).say("POST /x HTTP/1.1\r\nContent-Length: 200000\r\n\r\n");
  EXPECT_EQ(status(served.ask(post(std::string(200'000, 'x')))), 200);
  EXPECT_TRUE(silent.front().is_closed());
}

TEST(Http, WhoAnnouncesABodyHoldsNoPlaceForEver) {
  const Served served({echo}, {.connections = 20});
  std::vector<Client> silent;
  for (int i = 0; i < 20; ++i)
    (silent.emplace_back(served.client())).say("POST /x HTTP/1.1\r\nContent-Length: 1\r\nExpect: 100-continue\r\n\r\n");
  for (Client& one : silent) EXPECT_EQ(status(one.answer()), 100);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(status(served.ask(post("{}"))), 200);
  EXPECT_TRUE(silent.front().is_closed());
}

// Until the counters say so.
void wait_for(const Served& served, const std::string& line) {
  for (int i = 0; i < 10'000 && served.metrics.text(0).find(line) == std::string::npos; ++i)
    std::this_thread::sleep_for(1ms);
  EXPECT_NE(served.metrics.text(0).find(line), std::string::npos) << line;
}

TEST(Http, AFullQueueIsSaidAndHealthIsAnswered) {
  Gate gate;
  const Served served(gate.service(), {.queued = 60s, .queue = 2, .workers = 2});
  std::vector<Client> clients;
  for (int i = 0; i < 2; ++i) (clients.emplace_back(served.client())).say(post("x")), gate.wait_for(i + 1);
  for (int i = 0; i < 6; ++i) (clients.emplace_back(served.client())).say(post("x"));
  wait_for(served, "sous_shed_total{reason=\"queue\"} 4\n");
  EXPECT_EQ(body_of(served.ask(get("/healthz"))), "GET /healthz ");
  gate.let_go();
  int taken = 0, refused = 0;
  for (Client& one : clients) {
    const std::string answer = one.answer();
    taken += status(answer) == 200;
    refused += status(answer) == 503 && code(answer) == "server.busy" &&
               answer.find("Retry-After: 1\r\n") != std::string::npos;
  }
  EXPECT_EQ(taken, 4);
  EXPECT_EQ(refused, 4);
}

TEST(Http, WhoHangsUpWhileWaitingCostsNoWork) {
  Gate gate;
  const Served served(gate.service(), {.queued = 60s, .workers = 1});
  Client first = served.client(), last = served.client();
  first.say(post("first"));
  gate.wait_for(1);
  for (int i = 0; i < 20; ++i) served.client().say(post("gone"));
  wait_for(served, "sous_shed_total{reason=\"gone\"} 20\n");
  last.say(post("last"));
  gate.let_go();
  EXPECT_EQ(body_of(last.answer()), "POST /v1/query last");
  EXPECT_EQ(gate.begun, 2);
}

TEST(Http, WhatWaitedTooLongIsRefused) {
  Gate gate;
  const Served served(gate.service(), {.queued = 50ms, .workers = 1});
  Client first = served.client(), second = served.client();
  first.say(post("1"));
  gate.wait_for(1);
  second.say(post("2"));
  std::this_thread::sleep_for(200ms);
  gate.let_go();
  EXPECT_EQ(status(first.answer()), 200);
  EXPECT_EQ(status(second.answer()), 503);
  EXPECT_EQ(gate.begun, 1);
}

TEST(Http, WhatAHandlerThrowsIsItsOwnAffair) {
  const Served served({[](const Request& request) -> Response {
    if (request.path == "/throw") throw std::bad_alloc();
    return echo(request);
  }});
  EXPECT_EQ(status(served.ask(get("/throw"))), 500);
  EXPECT_EQ(status(served.ask(get("/x"))), 200);
}

TEST(Http, ASignalEndsItWhenWhatIsInProgressIsAnswered) {
  Gate gate;
  Served served(gate.service(), {.grace = 60s, .workers = 1});
  served.server().stop_on_signals();
  Client idle = served.client(), busy = served.client();
  idle.say(get("/x"));
  EXPECT_EQ(status(idle.answer()), 200);
  busy.say(post("x"));
  gate.wait_for(1);
  ::raise(SIGTERM);
  EXPECT_TRUE(idle.is_closed());
  gate.let_go();
  const std::string answer = busy.answer();
  EXPECT_EQ(body_of(answer), "POST /v1/query x");
  EXPECT_NE(answer.find("Connection: close\r\n"), std::string::npos);
  served.join();
}

TEST(Http, TheEndIsBoundedWhateverClientsAndWorkersDo) {
  Gate gate;
  Served served(gate.service(), {.grace = 200ms, .workers = 1});
  Client silent = served.client(), slow = served.client(), busy = served.client();
  slow.say("POST /x HTTP/1.1\r\nContent-Length: 9\r\n\r\n1");
  busy.say(post("x"));
  gate.wait_for(1);
  const auto start = std::chrono::steady_clock::now();
  served.stop();
  EXPECT_LT(std::chrono::steady_clock::now() - start, 5s);
  EXPECT_FALSE(served.all_done);
  gate.let_go();
}

TEST(Http, APortThatIsTakenIsAnError) {
  const Served served({echo});
  Metrics metrics;
  HttpServer second({echo}, metrics);
  EXPECT_EQ(second.listen("127.0.0.1", served.port).error().code, "server.listen");
  EXPECT_EQ(second.listen("host.invalid", 0).error().code, "server.listen");
}

}  // namespace
}  // namespace sous::server
