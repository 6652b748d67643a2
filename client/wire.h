// A connection to a server, as it is or in TLS, and the one deadline of all that is done with it.
#pragma once

#include <sys/socket.h>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "client/http.h"

namespace sous::client {

// One exchange: knows its deadline and where it talks to.
struct Exchange {
  using Clock = std::chrono::steady_clock;
  Clock::time_point deadline;
  std::string where;

  std::unexpected<Error> refuse(const char* code, std::string why) const;
  std::unexpected<Error> late(const char* what) const;
  // Waits until the socket is ready; an error if the deadline comes first.
  Result<void> wait(int fd, short events, const char* what) const;

 private:
  int milliseconds_left() const;
};

class Wire {
 public:
  Wire() = default;
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;
  virtual ~Wire() = default;

  // A server may answer (with a refusal) and close before it has read all: that is no error, for the answer counts.
  virtual Result<void> send(std::string_view bytes) = 0;
  // Reads more into `buffer`; false at the end of the stream.
  virtual Result<bool> receive(std::string& buffer) = 0;
  // Nobody else hears, or can be, who is at the other end: it was verified, or is this machine.
  virtual bool is_private() const = 0;
};

// 127.0.0.0/8, ::1, and the former in the form of the latter.
bool is_this_machine(const sockaddr_storage& address);

// Looks the name up and connects; for https what it gives is in TLS, with a server whose name and authority were
// verified. Errors: http.resolve, http.connect, http.timeout, http.io, http.tls.
Result<std::unique_ptr<Wire>> connect_to(const HttpUrl& url, const Exchange& exchange);

}  // namespace sous::client
