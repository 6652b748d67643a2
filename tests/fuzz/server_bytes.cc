// The bytes that a client sends on one connection before it closes its side: whatever they are, the server answers in
// HTTP or not at all, closes, and no handler sees a body beyond the limit.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "server/http_server.h"
#include "tests/fuzz/fuzz.h"

using namespace sous;

namespace {

constexpr std::size_t most = 4096;

int port() {
  static server::Metrics metrics;
  static server::HttpServer instance({.handle =
                                          [](const server::Request& request) {
                                            SOUS_ASSERT(request.body.size() <= most);
                                            const auto body = server::decoded_body(request);
                                            return body ? server::Response{.body = request.path + *body} : body.error();
                                          }},
                                     metrics, {.head_bytes = 2048, .body_bytes = most, .workers = 1});
  static const int listening = instance.listen("127.0.0.1", 0).value();
  // Ends before what it uses.
  static struct Running {
    std::jthread thread{[] { instance.run(); }};
    ~Running() { instance.stop(); }
  } running;
  return listening;
}

}  // namespace

SOUS_FUZZ_TARGET(input) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port()));
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  SOUS_ASSERT(fd >= 0 && ::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  // The server may have closed before all is sent, and reads no further then.
  static_cast<void>(::send(fd, input.data(), std::min<std::size_t>(input.size(), 1 << 16), MSG_NOSIGNAL));
  ::shutdown(fd, SHUT_WR);
  std::string answer;
  char bytes[65536];
  for (ssize_t n = 0; (n = ::recv(fd, bytes, sizeof bytes, 0)) > 0;) answer.append(bytes, static_cast<std::size_t>(n));
  ::close(fd);
  SOUS_ASSERT(answer.empty() || answer.starts_with("HTTP/1."));
}
