// HTTP/1.1 in front of the routes. One thread with an event loop holds all connections; a few workers answer. So a
// connection that says nothing, or little, costs its memory and no thread, and everything a client can make last has a
// deadline:
//
//   idle      between requests, until the first byte of the next one, or of a TLS handshake
//   head      from that byte to the end of the head, or of the handshake
//   body      from the end of the head to the end of the body
//   queued    until a worker takes it; what waited longer is answered 503. Who writes may wait longer
//   request   from the first byte of the request to the last byte of the answer, all of the above included
//   linger    after a refusal, for what the client was still sending; else it would not read the answer
//   grace     from `stop` to the end, whatever clients and workers do
//
// Bodies are limited while they are read (also in chunks); who answers decompresses them, when it is known who asks,
// and limits them once more (server/routes.h). `held_bytes` limits all
// bodies and answers together, and beyond it the connection that has been at it for the longest gives way. Beyond
// `connections`, the one that has waited for the longest without a whole request does. A request of which the queue is
// full is answered 503 with Retry-After at once; one whose client hangs up while it waits is dropped.
// docs/decisions/031-an-event-loop-for-the-server.md says why.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "sdfg/result.h"
#include "server/metrics.h"
#include "server/protocol.h"
#include "server/routes.h"

namespace sous::server {

// PEM: a certificate with those between it and an authority, and its private key.
struct CertificateFiles {
  std::filesystem::path chain, key;
};

struct HttpLimits {
  std::chrono::milliseconds idle{30'000}, head{5'000}, body{20'000}, queued{1'000}, write_queued{10'000},
      lift_queued{10'000}, request{30'000}, linger{1'000}, grace{5'000};
  std::size_t head_bytes = std::size_t{32} << 10;
  std::size_t body_bytes = longest_request;
  std::size_t held_bytes = std::size_t{512} << 20;
  std::size_t connections = 8192;
  std::size_t queue = 256, write_queue = 32, lift_queue = 4, tell_queue = 16;
  int workers = 0;  // 0: as many as there are processors, at least two
};

// What answers. Called by several threads at once.
struct Service {
  std::function<Response(const Request&)> handle;
  // Which threads answer. Called by the loop.
  std::function<Lane(const Request&)> lane = [](const Request&) { return Lane::ask; };
  // The answer, if there is one without a body and without asking anybody: by the head alone. Called by the loop, ahead
  // of `lane`; what it refuses is neither read to its end nor decompressed, and waits for nobody.
  std::function<std::optional<Response>(const Request&)> refuse = [](const Request&) { return std::nullopt; };
};

class HttpServer {
 public:
  HttpServer(Service service, Metrics& metrics, const HttpLimits& limits = {});
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  ~HttpServer();

  // The port that it listens on, which is `port` unless that is 0. Error: server.listen.
  Result<int> listen(const std::string& host, int port);
  // Those who come from now on are spoken to in TLS, with the certificate that these files hold now; those who are
  // here keep theirs. By any thread. Returns until when it is valid. Errors: those of read_certificate.
  Result<std::string> speak_tls(const CertificateFiles& files);
  // SIGHUP calls it, on a thread that nobody waits for.
  void on_hangup(std::function<void()> then);
  // SIGTERM and SIGINT stop it from now on; a second one stops it without grace.
  void stop_on_signals();
  // Until it is stopped. Requests in progress are answered, within the grace. False: a worker has not come to an end.
  bool run();
  void stop();  // by any thread

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sous::server
