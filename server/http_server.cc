#include "server/http_server.h"

#include <sys/resource.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <exception>
#include <thread>
#include <utility>

#include "server/connection.h"

namespace sous::server {
namespace {

using asio::ip::tcp;

int workers_of(const HttpLimits& limits) {
  return limits.workers > 0 ? limits.workers : std::max(2, static_cast<int>(std::thread::hardware_concurrency()));
}

// As many connections as there may be open files, less those of the database and some.
HttpLimits within_open_files(HttpLimits limits) {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return limits;
  constexpr rlim_t others = 64;
  files.rlim_cur = std::max<rlim_t>(files.rlim_cur, std::min<rlim_t>(files.rlim_max, limits.connections + others));
  ::setrlimit(RLIMIT_NOFILE, &files);
  if (::getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur > 2 * others)
    limits.connections = std::min<std::size_t>(limits.connections, files.rlim_cur - others);
  return limits;
}

}  // namespace

// In the order in which they may go: the workers before the loop that they post to, the loop before what its
// connections use.
struct HttpServer::Impl {
  Service service;
  HttpLimits limits;
  Loop loop;
  asio::io_context io{1};
  tcp::acceptor acceptor{io};
  asio::signal_set signals{io}, hangups{io};
  asio::steady_timer grace{io};
  Workers workers, writing, apart, telling, lifting;

  Impl(Service answers, Metrics& metrics, const HttpLimits& wanted)
      : service(std::move(answers)),
        limits(within_open_files(wanted)),
        loop{.service = service, .limits = limits, .metrics = metrics},
        workers(workers_of(limits), limits.queue, limits.queued),
        writing(1, limits.write_queue, limits.write_queued),
        apart(1, limits.queue, limits.queued),
        telling(1, limits.tell_queue, limits.queued),
        lifting(1, limits.lift_queue, limits.lift_queued) {
    loop.workers = {&workers, &writing, &apart, &telling, &lifting};
  }

  asio::awaitable<void> accept() {
    while (acceptor.is_open()) {
      boost::system::error_code error;
      tcp::socket socket = co_await acceptor.async_accept(asio::redirect_error(asio::use_awaitable, error));
      if (!acceptor.is_open()) break;
      if (error) {  // no more files, or the client has gone
        asio::steady_timer pause(io, std::chrono::milliseconds(20));
        co_await pause.async_wait(asio::redirect_error(asio::use_awaitable, error));
        continue;
      }
      if (loop.connections.size() >= limits.connections &&
          !loop.close_oldest(Connection::idle | Connection::head | Connection::body | Connection::linger, nullptr)) {
        loop.metrics.count_shed("connections");
        continue;
      }
      socket.set_option(tcp::no_delay(true), error);
      auto connection = std::make_shared<Connection>(std::move(socket), loop);
      // Of what goes wrong in one connection, out of memory above all, the others know nothing.
      asio::co_spawn(io, [connection] { return connection->run(); }, [](const std::exception_ptr&) {});
    }
  }

  void begin_to_stop() {
    if (std::exchange(loop.stopping, true)) return end();
    boost::system::error_code ignored;
    acceptor.close(ignored);
    loop.on_last = [this] { end(); };
    if (loop.connections.empty()) return end();
    close(Connection::idle);
    grace.expires_after(limits.grace);
    grace.async_wait([this](boost::system::error_code error) {
      if (!error) end();
    });
  }

  void close(unsigned phases) {
    for (Connection* one : loop.connections)
      if ((one->phase() & phases) != 0) one->close();
  }

  void end() {
    loop.on_last = {};
    io.stop();
  }

  void wait_for_hangup(const std::function<void()>& then) {
    hangups.async_wait([this, then](boost::system::error_code error, int) {
      if (error) return;
      apart.offer(std::make_shared<Workers::Job>(Workers::Job{.run = [then](bool) { then(); }}));
      wait_for_hangup(then);
    });
  }

  void wait_for_signal() {
    signals.async_wait([this](boost::system::error_code error, int) {
      if (error) return;
      begin_to_stop();
      wait_for_signal();
    });
  }
};

HttpServer::HttpServer(Service service, Metrics& metrics, const HttpLimits& limits)
    : impl_(std::make_unique<Impl>(std::move(service), metrics, limits)) {}
HttpServer::~HttpServer() = default;

Result<int> HttpServer::listen(const std::string& host, int port) {
  const std::string where = host + ":" + std::to_string(port);
  boost::system::error_code error;
  tcp::resolver resolver(impl_->io);
  const auto found = resolver.resolve(host, std::to_string(port), tcp::resolver::passive, error);
  if (error) return fail("server.listen", "cannot listen there: " + error.message(), where);
  for (const auto& entry : found) {
    tcp::acceptor acceptor(impl_->io);
    acceptor.open(entry.endpoint().protocol(), error);
    if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) acceptor.bind(entry.endpoint(), error);
    if (!error) acceptor.listen(tcp::acceptor::max_listen_connections, error);
    if (error) continue;
    impl_->acceptor = std::move(acceptor);
    return impl_->acceptor.local_endpoint(error).port();
  }
  return fail("server.listen", "cannot listen there: " + error.message(), where);
}

Result<std::string> HttpServer::speak_tls(const CertificateFiles& files) {
  TRY(const auto read, read_certificate(files));
  asio::post(impl_->io, [this, read] { impl_->loop.tls = read; });
  return read->until;
}

void HttpServer::on_hangup(std::function<void()> then) {
  impl_->hangups.add(SIGHUP);
  impl_->wait_for_hangup(then);
}

void HttpServer::stop_on_signals() {
  impl_->signals.add(SIGTERM);
  impl_->signals.add(SIGINT);
  impl_->wait_for_signal();
}

bool HttpServer::run() {
  asio::co_spawn(impl_->io, impl_->accept(), asio::detached);
  impl_->io.run();
  return impl_->workers.idle() && impl_->writing.idle() && impl_->apart.idle() && impl_->telling.idle() &&
         impl_->lifting.idle();
}

void HttpServer::stop() {
  asio::post(impl_->io, [this] { impl_->begin_to_stop(); });
}

}  // namespace sous::server
