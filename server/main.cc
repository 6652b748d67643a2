// sous-serve: the recipe server as a program. `sous serve` runs it.
#include <fcntl.h>
#include <httplib.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <string_view>
#include <thread>

#include "sdfg/suggest.h"
#include "server/protocol.h"
#include "server/routes.h"
#include "tuning-db/places.h"

namespace sous::server {
namespace {

constexpr const char* usage =
    "usage: sous-serve [--db FILE] [--listen HOST:PORT]\n"
    "  --db FILE           the tuning database (default: the one that builds on this machine use)\n"
    "  --listen HOST:PORT  where to answer (default: 127.0.0.1:8421; port 0: any free one, printed)\n";

struct Options {
  std::filesystem::path database = tuning_db::default_database_path();
  std::string host = "127.0.0.1";
  int port = 8421;
  bool help = false;
};

Result<Options> parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--help" || argument == "-h") {
      options.help = true;
      continue;
    }
    const std::size_t equals = argument.find('=');
    const std::string name(argument.substr(0, equals));
    if (name != "--db" && name != "--listen") {
      return fail("cli.unknown-option",
                  "there is no option " + name + did_you_mean(name, {"--db", "--listen", "--help"}));
    }
    if (equals == std::string_view::npos && ++i == argc) return fail("cli.value", name + " wants a value");
    const std::string value(equals == std::string_view::npos ? argv[i] : argument.substr(equals + 1));
    if (name == "--db") {
      options.database = value;
      continue;
    }
    const std::size_t colon = value.rfind(':');
    if (colon == std::string::npos || colon == 0)
      return fail("cli.value", "--listen takes HOST:PORT, such as 127.0.0.1:8421");
    const char* end = value.data() + value.size();
    const auto [stop, error] = std::from_chars(value.data() + colon + 1, end, options.port);
    if (error != std::errc() || stop != end || options.port < 0 || options.port > 65535)
      return fail("cli.value", "the port in --listen " + value + " is no number from 0 to 65535");
    options.host = value.substr(0, colon);
    if (options.host.starts_with('[') && options.host.ends_with(']'))
      options.host = options.host.substr(1, options.host.size() - 2);
  }
  if (options.database.empty()) return fail("cli.value", "no home to keep a database in; name one with --db");
  return options;
}

void set(const Response& from, httplib::Response& to) {
  to.status = from.status;
  if (!from.allow.empty()) to.set_header("Allow", from.allow);
  to.set_content(from.body, from.content_type);
}

// What cpp-httplib refuses before a handler sees it.
Error refused_by_transport(int status, const httplib::Request& request) {
  switch (status) {
    case 404:
      return {"request.path", "there is nothing at this path"};
    case 413:
      // The library's own limit for forms; it is what curl sends unless it is told otherwise.
      if (request.get_header_value("Content-Type").starts_with("application/x-www-form-urlencoded"))
        return {"request.budget", "too long for a form; send JSON with Content-Type: application/json"};
      return {"request.budget", "the body has more than " + std::to_string(longest_request) + " bytes"};
    case 414:
      return {"request.budget", "the request line is too long"};
    default:
      return {"request.http", "this is no HTTP request that the server understands"};
  }
}

void configure(httplib::Server& http, Routes& routes) {
  const auto handler = [&routes](const httplib::Request& request, httplib::Response& response) {
    set(routes.handle({request.method, request.path, request.body}), response);
  };
  http.Get(".*", handler);
  http.Post(".*", handler);
  http.Put(".*", handler);
  http.Patch(".*", handler);
  http.Delete(".*", handler);
  http.Options(".*", handler);
  http.set_error_handler([](const httplib::Request& request, httplib::Response& response) {
    if (response.body.empty()) set(refusal(response.status, refused_by_transport(response.status, request)), response);
  });
  http.set_exception_handler([](const httplib::Request&, httplib::Response& response, const std::exception_ptr&) {
    set(refusal(500, {"server.internal", "the request could not be answered"}), response);
  });
  http.set_payload_max_length(longest_request);
  http.set_read_timeout(10);
  http.set_write_timeout(10);
  http.set_keep_alive_timeout(5);
  http.set_keep_alive_max_count(1000);
}

int fail_with(const Error& error) {
  std::fprintf(stderr, "sous-serve: %s\n", error.to_string().c_str());
  return 1;
}

// A signal only writes a byte; a thread that may do more reads it. (Blocking the signals and waiting for them in one
// thread would not do: OpenBLAS starts threads of its own before main, and they block nothing.)
int stop_pipe[2] = {-1, -1};

void request_stop() {
  const int kept = errno;
  [[maybe_unused]] const ssize_t written = ::write(stop_pipe[1], "", 1);
  errno = kept;
}

int serve(const Options& options) {
  std::signal(SIGPIPE, SIG_IGN);
  if (::pipe2(stop_pipe, O_CLOEXEC) != 0) return fail_with({"server.listen", std::strerror(errno)});
  struct sigaction stop{};
  stop.sa_handler = [](int) { request_stop(); };
  sigaction(SIGTERM, &stop, nullptr);
  sigaction(SIGINT, &stop, nullptr);

  auto database = tuning_db::Database::open({.path = options.database, .seeds = tuning_db::seed_files()});
  if (!database) return fail_with(database.error());
  const auto stats = (*database)->stats();
  if (!stats) return fail_with(stats.error());

  Routes routes(**database);
  httplib::Server http;
  configure(http, routes);
  const int port = options.port == 0                               ? http.bind_to_any_port(options.host)
                   : http.bind_to_port(options.host, options.port) ? options.port
                                                                   : -1;
  if (port < 0)
    return fail_with({"server.listen", std::string("cannot listen there: ") + std::strerror(errno),
                      options.host + ":" + std::to_string(options.port)});
  std::printf("sous-serve: listening on http://%s:%d, %lld entries in %s\n", options.host.c_str(), port,
              static_cast<long long>(stats->entries), options.database.c_str());
  std::fflush(stdout);

  // Requests in progress are answered before listen_after_bind returns.
  std::jthread waiter([&] {
    char byte = 0;
    while (::read(stop_pipe[0], &byte, 1) < 0 && errno == EINTR) {
    }
    http.stop();
  });
  const bool served = http.listen_after_bind();
  request_stop();  // where listening ended by itself, the waiter still waits
  if (!served) return fail_with({"server.listen", "the listening socket failed"});
  std::puts("sous-serve: stopped");
  return 0;
}

}  // namespace
}  // namespace sous::server

int main(int argc, char** argv) {
  const auto options = sous::server::parse(argc, argv);
  if (!options) {
    sous::server::fail_with(options.error());
    return 2;
  }
  if (options->help) {
    std::fputs(sous::server::usage, stdout);
    return 0;
  }
  return sous::server::serve(*options);
}
