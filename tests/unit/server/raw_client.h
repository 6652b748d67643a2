// A client that says what it likes, when it likes, and a server in the same process for it.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <utility>

#include "server/http_server.h"

namespace sous::server {

using namespace std::chrono_literals;

class Client {
 public:
  // `window`: bytes that it takes before it reads; 0: the usual.
  explicit Client(int port, int window = 0) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    if (window > 0) ::setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &window, sizeof window);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    if (::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) ADD_FAILURE() << "no connection";
  }
  Client(Client&& other) noexcept : fd_(std::exchange(other.fd_, -1)), read_(std::move(other.read_)) {}
  Client& operator=(Client&&) = delete;
  ~Client() { hang_up(); }

  void hang_up() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }
  int fd() const { return fd_; }
  // False: the server has closed.
  bool say(std::string_view text) {
    while (!text.empty()) {
      const ssize_t n = ::send(fd_, text.data(), text.size(), MSG_NOSIGNAL);
      if (n <= 0) return false;
      text.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
  }
  // The next answer, head and body; what there is of it where the server closes or says nothing for 10 s.
  std::string answer(bool with_body = true) {
    while (read_.find("\r\n\r\n") == std::string::npos)
      if (!more()) return std::exchange(read_, "");
    const std::size_t head = read_.find("\r\n\r\n") + 4, field = read_.find("Content-Length: ");
    const std::size_t body = with_body && field < head ? std::stoul(read_.substr(field + 16)) : 0;
    while (read_.size() < head + body)
      if (!more()) return std::exchange(read_, "");
    std::string one = read_.substr(0, head + body);
    read_.erase(0, head + body);
    return one;
  }
  // Whether the server closes within this time, whatever it says before that.
  bool is_closed(std::chrono::milliseconds within = 10s) {
    const auto end = std::chrono::steady_clock::now() + within;
    while (std::chrono::steady_clock::now() < end)
      if (!more(10ms) && closed_) return true;
    return false;
  }

 private:
  bool more(std::chrono::milliseconds wait = 10s) {
    pollfd look{fd_, POLLIN, 0};
    if (::poll(&look, 1, static_cast<int>(wait.count())) <= 0) return false;
    char bytes[65536];
    const ssize_t n = ::recv(fd_, bytes, sizeof bytes, 0);
    closed_ = n <= 0;
    if (n > 0) read_.append(bytes, static_cast<std::size_t>(n));
    return n > 0;
  }
  int fd_;
  bool closed_ = false;
  std::string read_;
};

inline int status(const std::string& answer) {
  return answer.starts_with("HTTP/1.1 ") || answer.starts_with("HTTP/1.0 ") ? std::atoi(answer.c_str() + 9) : 0;
}
inline std::string body_of(const std::string& answer) {
  const std::size_t head = answer.find("\r\n\r\n");
  return head == std::string::npos ? "" : answer.substr(head + 4);
}
inline std::string get(const std::string& path, const std::string& more = "") {
  return "GET " + path + " HTTP/1.1\r\nHost: x\r\n" + more + "\r\n";
}
inline std::string post(const std::string& body, const std::string& more = "") {
  return "POST /v1/query HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" + more +
         "\r\n" + body;
}

// Listens on a free port until the test ends.
class Served {
 public:
  explicit Served(Service service, const HttpLimits& limits = {}) : server_(std::move(service), metrics, limits) {
    port = server_.listen("127.0.0.1", 0).value();
    thread_ = std::jthread([this] { all_done = server_.run(); });
  }
  ~Served() { stop(); }
  void stop() { server_.stop(), join(); }
  void join() {
    if (thread_.joinable()) thread_.join();
  }
  Client client(int window = 0) const { return Client(port, window); }
  std::string ask(const std::string& request) const {
    Client one(port);
    one.say(request);
    return one.answer();
  }
  HttpServer& server() { return server_; }

  Metrics metrics;
  int port = 0;
  bool all_done = false;

 private:
  HttpServer server_;
  std::jthread thread_;
};

}  // namespace sous::server
