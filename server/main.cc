// sous-serve: the recipe server as a program. `sous serve` runs it.
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "sdfg/suggest.h"
#include "server/http_server.h"
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

int fail_with(const Error& error) {
  std::fprintf(stderr, "sous-serve: %s\n", error.to_string().c_str());
  return 1;
}

int serve(const Options& options) {
  std::signal(SIGPIPE, SIG_IGN);
  auto database = tuning_db::Database::open({.path = options.database, .seeds = tuning_db::seed_files()});
  if (!database) return fail_with(database.error());
  if (const auto followed = (*database)->follow(std::chrono::milliseconds(250)); !followed)
    return fail_with(followed.error());
  const auto entries = (*database)->entries();
  if (!entries) return fail_with(entries.error());

  Routes routes(**database);
  HttpServer http({.handle = [&](const Request& request) { return routes.handle(request); }, .apart = Routes::is_apart},
                  routes.counters());
  const auto port = http.listen(options.host, options.port);
  if (!port) return fail_with(port.error());
  http.stop_on_signals();
  std::printf("sous-serve: listening on http://%s:%d, %lld entries in %s\n", options.host.c_str(), *port,
              static_cast<long long>(*entries), options.database.c_str());
  std::fflush(stdout);
  const bool all_done = http.run();
  std::puts("sous-serve: stopped");
  std::fflush(stdout);
  // A worker that is still at it has nobody left to answer. The database is the file's own business: SQLite finishes
  // or forgets what was begun, whenever a process ends.
  if (!all_done) std::_Exit(0);
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
