#include "client/wire.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "client/tls.h"

namespace sous::client {
namespace {

struct Socket {
  explicit Socket(int descriptor) : fd(descriptor) {}
  Socket(Socket&& other) noexcept : fd(std::exchange(other.fd, -1)) {}
  Socket& operator=(Socket&&) = delete;
  ~Socket() {
    if (fd >= 0) ::close(fd);
  }
  int fd;
};

using Addresses = std::unique_ptr<addrinfo, decltype([](addrinfo* list) { ::freeaddrinfo(list); })>;

std::pair<int, Addresses> look_up(const HttpUrl& url, int flags) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags;
  addrinfo* list = nullptr;
  const int code = ::getaddrinfo(url.host.c_str(), url.port.c_str(), &hints, &list);
  return {code, Addresses(code == 0 ? list : nullptr)};
}

// getaddrinfo cannot be given a deadline, so a thread of its own runs it, which nobody waits for when it is late; what
// it needs is shared.
Result<Addresses> resolve(const HttpUrl& url, const Exchange& exchange) {
  if (auto [code, numeric] = look_up(url, AI_NUMERICHOST | AI_NUMERICSERV); code == 0) return std::move(numeric);
  struct Shared {
    std::mutex mutex;
    std::condition_variable done;
    std::optional<std::pair<int, Addresses>> answer;
  };
  const auto shared = std::make_shared<Shared>();
  std::thread([shared, url] {
    auto answer = look_up(url, 0);
    const std::lock_guard lock(shared->mutex);
    shared->answer = std::move(answer);
    shared->done.notify_all();
  }).detach();
  std::unique_lock lock(shared->mutex);
  if (!shared->done.wait_until(lock, exchange.deadline, [&] { return shared->answer.has_value(); }))
    return exchange.late("looking up the name");
  auto& [code, addresses] = *shared->answer;
  if (code != 0) return exchange.refuse("http.resolve", ::gai_strerror(code));
  return std::move(addresses);
}

Result<Socket> connect(const addrinfo& addresses, const Exchange& exchange) {
  std::string why = "no address";
  for (const addrinfo* a = &addresses; a; a = a->ai_next) {
    Socket socket(::socket(a->ai_family, a->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, a->ai_protocol));
    if (socket.fd < 0) {
      why = std::strerror(errno);
      continue;
    }
    if (::connect(socket.fd, a->ai_addr, a->ai_addrlen) == 0) return socket;
    int error = errno;
    if (error == EINPROGRESS) {
      TRY_VOID(exchange.wait(socket.fd, POLLOUT, "connecting"));
      socklen_t size = sizeof error;
      if (::getsockopt(socket.fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
      if (error == 0) return socket;
    }
    why = std::strerror(error);
  }
  return exchange.refuse("http.connect", why);
}

class Plain final : public Wire {
 public:
  Plain(Socket socket, const Exchange& exchange) : socket_(std::move(socket)), exchange_(exchange) {}

  Result<void> send(std::string_view bytes) override {
    while (!bytes.empty()) {
      const ssize_t n = ::send(socket_.fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n >= 0) {
        bytes.remove_prefix(static_cast<std::size_t>(n));
        continue;
      }
      if (errno == EAGAIN)
        TRY_VOID(exchange_.wait(socket_.fd, POLLOUT, "sending"));
      else if (errno == EPIPE || errno == ECONNRESET)
        return {};
      else if (errno != EINTR)
        return exchange_.refuse("http.io", std::strerror(errno));
    }
    return {};
  }

  Result<bool> receive(std::string& buffer) override {
    char chunk[1 << 16];
    while (true) {
      TRY_VOID(exchange_.wait(socket_.fd, POLLIN, "receiving"));
      const ssize_t n = ::recv(socket_.fd, chunk, sizeof chunk, 0);
      if (n > 0) {
        buffer.append(chunk, static_cast<std::size_t>(n));
        return true;
      }
      if (n == 0) return false;
      if (errno != EAGAIN && errno != EINTR) return exchange_.refuse("http.io", std::strerror(errno));
    }
  }

  bool is_private() const override {
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    return ::getpeername(socket_.fd, reinterpret_cast<sockaddr*>(&address), &size) == 0 && is_this_machine(address);
  }

 private:
  Socket socket_;
  const Exchange& exchange_;
};

}  // namespace

std::unexpected<Error> Exchange::refuse(const char* code, std::string why) const {
  return fail(code, std::move(why), where);
}
std::unexpected<Error> Exchange::late(const char* what) const {
  return refuse("http.timeout", std::string("no answer within the deadline (") + what + ")");
}
int Exchange::milliseconds_left() const {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<long long>(left, 0, 1 << 30));
}
Result<void> Exchange::wait(int fd, short events, const char* what) const {
  while (true) {
    const int left = milliseconds_left();
    if (left == 0) return late(what);
    pollfd poll{fd, events, 0};
    const int ready = ::poll(&poll, 1, left);
    if (ready > 0) return {};
    if (ready < 0 && errno != EINTR) return refuse("http.io", std::strerror(errno));
  }
}

bool is_this_machine(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET)
    return ntohl(reinterpret_cast<const sockaddr_in&>(address).sin_addr.s_addr) >> 24 == 127;
  const in6_addr& six = reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
  return address.ss_family == AF_INET6 &&
         (IN6_IS_ADDR_LOOPBACK(&six) || (IN6_IS_ADDR_V4MAPPED(&six) && six.s6_addr[12] == 127));
}

Result<std::unique_ptr<Wire>> connect_to(const HttpUrl& url, const Exchange& exchange) {
  TRY(const Addresses addresses, resolve(url, exchange));
  TRY(Socket socket, connect(*addresses, exchange));
  auto plain = std::make_unique<Plain>(std::move(socket), exchange);
  if (!url.tls) return plain;
  return in_tls(std::move(plain), url.host, exchange);
}

}  // namespace sous::client
