// One connection of the event loop: reads a request, has it answered, writes the answer, and again. Boost is seen
// by this, stream.h, tls.h and http_server.cc only.
#pragma once

#include <array>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <list>
#include <memory>
#include <optional>
#include <string>

#include "server/http_server.h"
#include "server/stream.h"
#include "server/tls.h"
#include "server/workers.h"

namespace sous::server {

namespace asio = boost::asio;
namespace beast = boost::beast;

class Connection;

// What the connections of a loop share. Only the loop's thread touches it, but the workers, which are shared by nature.
struct Loop {
  const Service& service;
  const HttpLimits& limits;
  Metrics& metrics;
  std::list<Connection*> connections = {};  // in order of coming
  std::size_t held = 0;                     // bytes of bodies and answers
  bool stopping = false;
  std::function<void()> on_last = {};    // the last connection has ended
  std::array<Workers*, 5> workers = {};  // by Lane
  std::shared_ptr<TlsContext> tls = {};  // what new connections speak; null: as they are

  // Closes the connection of those in `phases` that has been there for the longest. False: there is none.
  bool close_oldest(unsigned phases, const Connection* but);
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  // What it waits for; as bits, for Loop::close_oldest.
  enum Phase : unsigned { idle = 1, head = 2, body = 4, work = 8, answer = 16, linger = 32 };

  Connection(asio::ip::tcp::socket socket, Loop& loop);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  asio::awaitable<void> run();
  void close();
  Phase phase() const { return phase_; }
  Workers::Clock::time_point since() const { return since_; }  // in this phase

 private:
  struct Incoming;

  // What they are given lives in the frame of the caller: g++ 12 destroys temporaries of a co_await twice.
  asio::awaitable<bool> shake_hands();
  asio::awaitable<void> say_goodbye();
  asio::awaitable<bool> first_byte();
  asio::awaitable<bool> serve_one();
  Result<Request> request_of(const Incoming& in) const;
  asio::awaitable<bool> write_refusal(Response& response, const Incoming& in, bool with_body);
  asio::awaitable<bool> read_body(Incoming& in);
  asio::awaitable<bool> refuse(int status, const Error& error);
  asio::awaitable<bool> refuse_unreadable(beast::error_code error, const Incoming& in);
  asio::awaitable<std::optional<Response>> have_answered(Request& request, Lane lane);
  asio::awaitable<bool> write(Response& response, bool with_body, unsigned version, bool keep);
  asio::awaitable<void> drain();
  void enter(Phase phase);
  bool hold(std::size_t bytes);  // of body and answer now; false: there is no room
  bool hung_up();

  Loop& loop_;
  Stream stream_;
  beast::flat_buffer buffer_;
  std::list<Connection*>::iterator place_;
  const std::string address_;  // of who asks, as limits know it
  Phase phase_ = idle;
  Workers::Clock::time_point since_, begun_;  // begun_: the first byte of the request
  std::size_t held_ = 0;
};

}  // namespace sous::server
