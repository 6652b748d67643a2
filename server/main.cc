// sous-serve: the recipe server as a program. `sous serve` runs it.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "server/arguments.h"
#include "server/http_server.h"
#include "server/log.h"
#include "server/routes.h"
#include "server/token_command.h"
#include "tuning-db/ledger.h"
#include "tuning-db/places.h"

namespace sous::server {
namespace {

constexpr const char* usage =
    "usage: sous-serve [--db FILE] [--listen HOST:PORT] [--read-only] [--private] [--lease SECONDS]\n"
    "                  [--tls-cert FILE --tls-key FILE] [--limit-requests N] …\n"
    "       sous-serve token add|list|revoke|log …\n"
    "  --db FILE|URL       the tuning database: a file (default: the one that builds on this machine use), or\n"
    "                      postgres://…, which several servers may share\n"
    "  --listen HOST:PORT  where to answer (default: 127.0.0.1:8421; port 0: any free one, printed)\n"
    "  --read-only         nobody writes through this server, whatever the token\n"
    "  --private           who asks shows a token with the scope read, too\n"
    "  --lease SECONDS     how long a worker holds a job without a word (default: 60; 1 to 600)\n"
    "  --tls-cert FILE     speak TLS: PEM, the certificate and those between it and an authority\n"
    "  --tls-key FILE      its private key, PEM. Both are read again on SIGHUP\n"
    "  --routes            what it answers, as JSON, and nothing else\n"
    "  --log WHAT          none, events (default) or requests: what is said on standard error, in lines of JSON\n"
    "  --limit-requests N, --limit-bytes N, --limit-nests N\n"
    "                      what one party, a token's name or else an address, may ask for in a minute\n"
    "                      (default: 12000, 512 MiB, 60000; 0: as much as it likes)\n";

constexpr auto option_names = std::to_array<OptionName>({{"--db"},
                                                         {"--listen"},
                                                         {"--read-only", false},
                                                         {"--private", false},
                                                         {"--lease"},
                                                         {"--tls-cert"},
                                                         {"--tls-key"},
                                                         {"--log"},
                                                         {"--routes", false},
                                                         {"--limit-requests"},
                                                         {"--limit-bytes"},
                                                         {"--limit-nests"},
                                                         {"--help", false},
                                                         {"-h", false}});

struct Options {
  std::filesystem::path database;
  std::string host = "127.0.0.1";
  int port = 8421;
  Policy policy;
  std::optional<CertificateFiles> tls;
  Log::Level log = Log::Level::events;
  bool help = false, routes = false;
};

Result<void> read_rate(const Arguments& arguments, std::string_view name, double& rate) {
  const std::string text = arguments.get(name, "");
  if (!arguments.has(name)) return {};
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  if (const auto [stop, error] = std::from_chars(text.data(), end, value); error != std::errc() || stop != end)
    return fail("cli.value", std::string(name) + " takes a number, not " + text);
  rate = static_cast<double>(value);
  return {};
}

Result<Options> parse(std::span<const std::string> words) {
  TRY(const Arguments arguments, read_arguments(words, option_names));
  if (!arguments.words.empty()) return fail("cli.value", "only options, not " + arguments.words[0]);
  Options options;
  options.help = arguments.has("--help") || arguments.has("-h");
  options.routes = arguments.has("--routes");
  options.policy.read_only = arguments.has("--read-only");
  options.policy.is_private = arguments.has("--private");
  options.database = arguments.get("--db", tuning_db::default_database_path());
  if (options.database.empty()) return fail("cli.value", "no home to keep a database in; name one with --db");
  const std::string lease = arguments.get("--lease", std::to_string(options.policy.lease_seconds));
  const auto [last, wrong] = std::from_chars(lease.data(), lease.data() + lease.size(), options.policy.lease_seconds);
  if (wrong != std::errc() || last != lease.data() + lease.size() || options.policy.lease_seconds < 1 ||
      options.policy.lease_seconds > tuning_db::longest_lease)
    return fail("cli.value", "--lease takes seconds from 1 to 600, not " + lease);
  if (arguments.has("--tls-cert") != arguments.has("--tls-key"))
    return fail("cli.value", "--tls-cert and --tls-key go together");
  if (arguments.has("--tls-cert"))
    options.tls = CertificateFiles{arguments.get("--tls-cert", ""), arguments.get("--tls-key", "")};
  const auto log = Log::parse_level(arguments.get("--log", "events"));
  if (!log) return fail("cli.value", "--log takes none, events or requests, not " + arguments.get("--log", ""));
  options.log = *log;
  TRY_VOID(read_rate(arguments, "--limit-requests", options.policy.rates.requests));
  TRY_VOID(read_rate(arguments, "--limit-bytes", options.policy.rates.bytes));
  TRY_VOID(read_rate(arguments, "--limit-nests", options.policy.rates.nests));
  if (!arguments.has("--listen")) return options;
  const std::string value = arguments.get("--listen", "");
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
  return options;
}

int fail_with(const Error& error) {
  std::fprintf(stderr, "sous-serve: %s\n", error.to_string().c_str());
  return 1;
}

void say(const std::string& text) {
  std::printf("sous-serve: %s\n", text.c_str());
  std::fflush(stdout);
}

// SIGHUP reads the certificate again. Without one there is nothing to read again: a service is left as it is, and who
// closes the terminal that the server runs in ends it, as ever.
// Returns what there is to say of it.
Result<std::string> begin_tls(HttpServer& http, const std::optional<CertificateFiles>& files) {
  if (!files) {
    if (::isatty(STDIN_FILENO) == 0) http.on_hangup([] {});
    return std::string();
  }
  TRY(const std::string until, http.speak_tls(*files));
  http.on_hangup([&http, files = *files] {
    const auto again = http.speak_tls(files);
    if (again) return say("a certificate that is valid until " + *again + " from now on");
    std::fprintf(stderr, "sous-serve: %s; the certificate stays as it was\n", again.error().to_string().c_str());
  });
  return ", with a certificate that is valid until " + until;
}

// What became of the database, when that changes.
class DatabaseNews {
 public:
  explicit DatabaseNews(Log& log) : log_(log) {}
  void looked(const Result<void>& result) {
    const std::string code = result ? "" : result.error().code;
    if (std::exchange(last_, code) == code) return;
    if (result)
      log_.write("database-back", nlohmann::json::object());
    else
      log_.write("database-lost", {{"code", code}, {"why", result.error().why}});
  }

 private:
  Log& log_;
  std::string last_;
};

int serve(const Options& options) {
  std::signal(SIGPIPE, SIG_IGN);
  Log log(STDERR_FILENO, options.log);
  DatabaseNews news(log);
  auto database = tuning_db::Database::open({.path = options.database, .seeds = tuning_db::seed_files()});
  if (!database) return fail_with(database.error());
  if (const auto followed = (*database)->follow(std::chrono::milliseconds(250),
                                                [&](const Result<void>&) { news.looked((*database)->sound()); });
      !followed)
    return fail_with(followed.error());
  const auto entries = (*database)->entries();
  if (!entries) return fail_with(entries.error());

  tuning_db::Ledger ledger(options.database, [&] { return (*database)->identity(); });
  std::error_code unknown;
  const auto own = std::filesystem::read_symlink("/proc/self/exe", unknown);
  Routes routes(**database, ledger, options.policy,
                Lifter(unknown ? std::filesystem::path() : own.parent_path() / "sous-core"));
  routes.log_to(log);
  HttpServer http({.handle = [&](const Request& request) { return routes.handle(request); },
                   .lane = Routes::lane,
                   .refuse = [&](const Request& request) { return routes.refuse(request); }},
                  routes.counters());
  const auto port = http.listen(options.host, options.port);
  if (!port) return fail_with(port.error());
  http.stop_on_signals();
  const auto tls = begin_tls(http, options.tls);
  if (!tls) return fail_with(tls.error());
  say("listening on http" + std::string(options.tls ? "s" : "") + "://" + options.host + ":" + std::to_string(*port) +
      ", " + std::to_string(*entries) + " entries in " + tuning_db::shown(options.database) + *tls);
  const bool all_done = http.run();
  say("stopped");
  // A worker that is still at it has nobody left to answer. The database is the file's own business: SQLite finishes
  // or forgets what was begun, whenever a process ends.
  if (!all_done) std::_Exit(0);
  return 0;
}

}  // namespace
}  // namespace sous::server

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  if (!words.empty() && words[0] == "token") {
    const auto done = sous::server::token_command(std::span(words).subspan(1));
    if (done) return 0;
    std::fprintf(stderr, "sous: %s\n", done.error().to_string().c_str());
    return done.error().code.starts_with("cli.") ? 2 : 1;
  }
  const auto options = sous::server::parse(words);
  if (!options) {
    sous::server::fail_with(options.error());
    return 2;
  }
  if (options->routes) {
    std::puts(sous::server::Routes::table_json().c_str());
    return 0;
  }
  if (options->help) {
    std::fputs(sous::server::usage, stdout);
    return 0;
  }
  return sous::server::serve(*options);
}
