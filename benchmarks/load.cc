#include "benchmarks/load.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <string_view>
#include <utility>

namespace sous::benchmarks {
namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

class Client {
 public:
  explicit Client(int port) : port_(port) {}
  Client(Client&& other) noexcept
      : port_(other.port_), file_(std::exchange(other.file_, -1)), busy_(other.busy_), due_(other.due_) {}
  Client& operator=(Client&&) = delete;
  ~Client() { close(); }

  bool open() {
    if (file_ >= 0) return true;
    file_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port_));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int on = 1;
    ::setsockopt(file_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (::connect(file_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return true;
    close();
    return false;
  }
  bool busy() const { return busy_; }
  int file() const { return file_; }
  double due() const { return due_; }

  bool send(std::string_view request, double due) {
    due_ = due;
    while (!request.empty()) {
      const ssize_t sent = ::send(file_, request.data(), request.size(), MSG_NOSIGNAL);
      if (sent <= 0 && errno != EINTR) return false;
      request.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(sent, 0)));
    }
    busy_ = true;
    answer_.clear();
    return true;
  }
  // The status of a whole answer; 0: more has to come; -1: none will.
  int receive() {
    std::array<char, 1 << 16> bytes;
    const ssize_t got = ::recv(file_, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
    if (got <= 0) return close(), -1;
    answer_.append(bytes.data(), static_cast<std::size_t>(got));
    const std::size_t head = answer_.find("\r\n\r\n");
    if (head == std::string::npos) return 0;
    const auto number = [&](std::string_view behind) {
      const std::size_t at = answer_.find(behind);
      std::size_t value = 0;
      if (at < head) std::from_chars(answer_.data() + at + behind.size(), answer_.data() + answer_.size(), value);
      return value;
    };
    if (answer_.size() < head + 4 + number("Content-Length: ")) return 0;
    busy_ = false;
    const int status = static_cast<int>(number("HTTP/1.1 "));
    if (answer_.find("Connection: close") < head) close();
    return status;
  }
  void close() {
    if (file_ >= 0) ::close(std::exchange(file_, -1));
    busy_ = false;
  }

 private:
  int port_, file_ = -1;
  bool busy_ = false;
  double due_ = 0;
  std::string answer_;
};

struct Run {
  const Load& load;
  LoadResult result = {};
  std::vector<Client> clients = {};
  std::size_t next = 0;

  // Whether there was a connection to spare.
  bool begin(double due) {
    for (Client& client : clients) {
      if (client.busy()) continue;
      const std::string& request = load.requests[next++ % load.requests.size()];
      ++result.sent;
      if (!client.open() || !client.send(request, due)) ++result.lost, client.close();
      return true;
    }
    return false;
  }

  void take(Client& client) {
    const int status = client.receive();
    if (status == 0) return;
    if (status < 0) {
      ++result.lost;
      return;
    }
    ++result.by_status[status];
    if (status == 200) result.seconds.push_back(now() - client.due());
  }

  void wait(double until) {
    std::vector<pollfd> files;
    std::vector<Client*> of;
    for (Client& client : clients)
      if (client.busy()) files.push_back({client.file(), POLLIN, 0}), of.push_back(&client);
    const timespec most{.tv_sec = 0, .tv_nsec = static_cast<long>(std::clamp(until - now(), 0.0, 0.1) * 1e9)};
    ::ppoll(files.data(), files.size(), &most, nullptr);
    for (std::size_t k = 0; k < files.size(); ++k)
      if (files[k].revents != 0) take(*of[k]);
    for (Client& client : clients)
      if (client.busy() && now() - client.due() > load.deadline) ++result.late, client.close();
  }
};

}  // namespace

Result<LoadResult> run_load(const Load& load) {
  Run run{.load = load};
  for (int k = 0; k < load.connections; ++k)
    run.clients.emplace_back(load.ports[static_cast<std::size_t>(k) % load.ports.size()]);
  if (!run.clients.front().open()) return fail("bench.load", std::strerror(errno));
  const double begun = now(), end = begun + load.seconds;
  const auto due = [&](int number) { return begun + number / load.rate; };
  for (int number = 0; due(number) < end;) {
    while (due(number) <= now() && due(number) < end && run.begin(due(number))) ++number;
    // Who could not be sent in time has given up.
    while (due(number) < end && now() - due(number) > load.deadline) ++run.result.late, ++run.result.sent, ++number;
    run.wait(due(number) > now() ? due(number) : now() + 0.001);
  }
  const double last = now() + load.deadline;
  while (now() < last && std::ranges::any_of(run.clients, &Client::busy)) run.wait(last);
  return run.result;
}

}  // namespace sous::benchmarks
