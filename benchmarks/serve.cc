// `sous bench serve`: one or several servers and their clients on one machine.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "benchmarks/bench.h"
#include "benchmarks/load.h"
#include "benchmarks/seeds.h"
#include "benchmarks/statistics.h"
#include "benchmarks/table.h"
#include "client/process.h"
#include "client/recipe_server.h"
#include "server/protocol.h"
#include "tuning-db/database.h"
#include "tuning-db/insert.h"
#include "tuning-db/places.h"
#include "tuning-db/schema.h"

namespace sous::benchmarks {
namespace {

using std::string;
using tuning_db::Entry;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// Measurements that nobody made, of the nests of the seeds: at other sizes, on other machines, with other gains. They
// are named so.
class Synthetic {
 public:
  explicit Synthetic(std::vector<Entry> seeds) : seeds_(std::move(seeds)) {}

  Entry entry() {
    Entry one = seeds_[random_() % seeds_.size()];
    one.name = "synthetic-" + one.name;
    one.provenance = "synthetic: made by sous bench serve, measured by nobody";
    one.sizes = other_sizes(one.sizes);
    one.hardware.model = "synthetic " + std::to_string(random_() % 40);
    one.hardware.cores = 1 << random_() % 7;
    one.hardware.l3_bytes = std::int64_t{8} << (20 + random_() % 5);
    one.tuned_seconds = one.baseline_seconds / std::uniform_real_distribution<double>(0.7, 12)(random_);
    one.least_extents.clear();
    return one;
  }
  transforms::NestQuery query() {
    const Entry& one = seeds_[random_() % seeds_.size()];
    return {.nest = one.nest, .structural_hash = one.structural_hash, .sizes = other_sizes(one.sizes)};
  }
  std::size_t nests() const {
    std::set<string> hashes;
    for (const Entry& one : seeds_) hashes.insert(one.structural_hash);
    return hashes.size();
  }

 private:
  std::map<string, std::int64_t> other_sizes(std::map<string, std::int64_t> sizes) {
    for (auto& [name, size] : sizes)
      size = std::max<std::int64_t>(
          1, static_cast<std::int64_t>(static_cast<double>(size) *
                                       std::exp2(std::uniform_real_distribution<double>(-5, 2)(random_))));
    return sizes;
  }
  const std::vector<Entry> seeds_;
  std::mt19937_64 random_{1};
};

// On all processors: it takes four fifths of the time.
std::vector<tuning_db::Prepared> prepared(const std::vector<Entry>& entries, const tuning_db::Embedding& embedding) {
  std::vector<tuning_db::Prepared> all(entries.size());
  std::atomic<std::size_t> next = 0;
  std::vector<std::jthread> threads;
  for (unsigned k = 0; k < std::max(1U, std::thread::hardware_concurrency()); ++k)
    threads.emplace_back([&] {
      for (std::size_t n; (n = next++) < entries.size();) all[n] = tuning_db::prepare(entries[n], embedding);
    });
  threads.clear();
  return all;
}

Result<void> fill(const string& place, Synthetic& synthetic, std::int64_t entries) {
  TRY([[maybe_unused]] const auto store, tuning_db::Store::open({.path = place, .seeds = {}}));
  TRY(const auto stats, store.stats());
  TRY(const auto db, tuning_db::open_existing(place));
  const auto embedding = tuning_db::static_embedding();
  constexpr std::int64_t at_once = 5'000;
  for (std::int64_t done = stats.entries; done < entries;) {
    std::vector<Entry> some;
    for (const std::int64_t end = std::min(entries, done + at_once); done < end; ++done)
      some.push_back(synthetic.entry());
    const auto rows = prepared(some, *embedding);
    TRY(auto transaction, tuning_db::Transaction::begin(*db, tuning_db::Turn::write));
    for (const auto& row : rows) TRY_VOID(tuning_db::insert(*db, row, *embedding, tuning_db::Standing::own));
    TRY_VOID(tuning_db::note_change(*db));
    TRY_VOID(transaction.commit());
  }
  return {};
}

class ServerProcess {
 public:
  ServerProcess(ServerProcess&& other) noexcept
      : pid_(std::exchange(other.pid_, -1)),
        said_(std::exchange(other.said_, -1)),
        port(other.port),
        start(other.start) {}
  ServerProcess& operator=(ServerProcess&&) = delete;
  ~ServerProcess() {
    if (said_ >= 0) ::close(said_);
    if (pid_ < 0) return;
    ::kill(pid_, SIGTERM);
    ::waitpid(pid_, nullptr, 0);
  }
  static Result<ServerProcess> begin(const string& place) {
    const string program = client::folder_of(client::own_path()) + "/sous-serve", db = "--db=" + place;
    if (::access(program.c_str(), X_OK) != 0) return fail("bench.serve", "there is no " + program, place);
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return fail("bench.serve", "no pipe");
    ServerProcess server;
    const double begun = now();
    server.pid_ = ::fork();
    if (server.pid_ == 0) {
      ::dup2(ends[1], STDOUT_FILENO);
      ::execl(program.c_str(), program.c_str(), db.c_str(), "--listen=127.0.0.1:0", "--limit-requests=0",
              "--limit-bytes=0", "--limit-nests=0", static_cast<char*>(nullptr));
      ::_exit(127);
    }
    ::close(ends[1]);
    server.said_ = ends[0];
    string said;
    for (char c = 0; ::read(ends[0], &c, 1) == 1 && c != '\n';) said += c;
    server.start = now() - begun;
    const std::size_t at = said.find("127.0.0.1:");
    if (at == string::npos) return fail("bench.serve", "the server does not start: " + said, place);
    server.port = std::atoi(said.c_str() + at + 10);
    return server;
  }
  // Of processor time, in seconds, of all its threads.
  double worked() const {
    std::ifstream file("/proc/" + std::to_string(pid_) + "/stat");
    string all;
    std::getline(file, all);
    std::istringstream behind_name(all.substr(std::min(all.rfind(')'), all.size())));
    string field;
    for (int k = 0; k < 11; ++k) behind_name >> field;
    double user = 0, system = 0;
    behind_name >> user >> system;
    return (user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
  }
  // The most that it ever had, in MiB.
  double memory() const {
    std::ifstream status("/proc/" + std::to_string(pid_) + "/status");
    for (string line; std::getline(status, line);)
      if (line.starts_with("VmHWM:")) return std::atof(line.c_str() + 6) / 1024;
    return 0;
  }

 private:
  ServerProcess() = default;
  pid_t pid_ = -1;
  int said_ = -1;

 public:
  int port = 0;
  double start = 0;  // seconds
};

constexpr double most_compared = 32;

string request_of(const server::QueryRequest& asked) {
  const string body = server::to_json(asked);
  return "POST /v1/query HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nAccept-Encoding: gzip\r\n"
         "Content-Length: " +
         std::to_string(body.size()) + "\r\n\r\n" + body;
}

// Of the matches that a build over the same database finds by itself, those that the server answers with. Both look at
// all vectors; where many measurements carry the same recipe they may tell another one of them.
Result<double> shared(const string& place, const std::vector<server::QueryRequest>& asked,
                      const ServerProcess& server) {
  TRY(const auto exact, tuning_db::Database::open({.path = place, .seeds = {}}));
  int there = 0, found = 0;
  TRY(const auto at, client::RecipeServer::at("http://127.0.0.1:" + std::to_string(server.port)));
  for (const server::QueryRequest& one : asked) {
    TRY(const auto expected, exact->query(one.nests, one.k, one.hardware));
    TRY(const auto response, at.post("/v1/query", server::to_json(one)));
    TRY(const auto reply, server::query_reply_from_json(response.body));
    for (std::size_t n = 0; n < expected.size(); ++n) {
      std::set<string> ids;
      for (const auto& match : reply.matches[n]) ids.insert(match.id);
      for (const auto& match : expected[n]) ++there, found += ids.contains(match.id) ? 1 : 0;
    }
  }
  return there == 0 ? 1 : static_cast<double>(found) / there;
}

}  // namespace

Result<int> bench_serve(const Options& options) {
  if (options.words.size() > 2) return fail("cli.value", "sous bench serve takes one database, or none");
  if (options.rate <= 0 || options.entries < 1) return fail("cli.value", "--rate and --entries are at least 1");
  TRY(const auto folder, client::TemporaryFolder::make());
  const string place = options.words.size() == 2 ? options.words[1] : folder.file("serve.db");
  TRY(const auto files, seed_files(seed_folder(options.recipes)));
  TRY(auto seeds, seed_entries(files));
  Synthetic synthetic(std::move(seeds));
  TRY_VOID(fill(place, synthetic, static_cast<std::int64_t>(options.entries)));
  std::vector<ServerProcess> servers;
  // More connections than a server lets wait: else it need not shed.
  Load load{.ports = {}, .requests = {}, .seconds = options.budget > 0 ? options.budget : 10, .connections = 512};
  for (int k = 0; k < options.servers; ++k) {
    TRY(auto server, ServerProcess::begin(place));
    load.ports.push_back(server.port);
    servers.push_back(std::move(server));
  }
  std::vector<server::QueryRequest> asked;
  // More than the first two loads ask: no nest comes twice at one size before the third.
  for (int k = 0; k < 3'000; ++k) {
    server::QueryRequest one{.hardware = tuning_db::local_hardware(), .k = 10, .nests = {}};
    for (int n = 0; n < 4; ++n) one.nests.push_back(synthetic.query());
    load.requests.push_back(request_of(one));
    if (asked.size() < static_cast<std::size_t>(most_compared)) asked.push_back(std::move(one));
  }
  std::printf("%.0f synthetic entries of %zu nests in %s; %d server(s), ready after %.2f s\n", options.entries,
              synthetic.nests(), tuning_db::shown(place).c_str(), options.servers, servers.front().start);
  std::fflush(stdout);
  // A build reads each row that it looks at, of which the more there are, the more are alike.
  const auto compared = static_cast<std::ptrdiff_t>(std::clamp(3.2e6 / options.entries, 4.0, most_compared));
  TRY(const double found, shared(place, {asked.begin(), asked.begin() + compared}, servers.front()));
  Table table({"requests/s", "sent", "answered", "shed", "late", "lost", "p50 ms", "p99 ms", "most ms", "processor ms"},
              "r");
  const auto worked = [&] {
    double all = 0;
    for (const ServerProcess& server : servers) all += server.worked();
    return all;
  };
  for (const double times : {0.5, 1.0, 4.0}) {
    load.rate = times * options.rate;
    const double before = worked();
    TRY(auto result, run_load(load));
    const double each = (worked() - before) / std::max<double>(1, static_cast<double>(result.seconds.size()));
    auto& seconds = result.seconds;
    const auto ms = [&](double q) { return seconds.empty() ? "" : fixed(quantile(seconds, q) * 1e3, 2); };
    const int answered = static_cast<int>(seconds.size());
    int refused = 0;
    for (const auto& [status, count] : result.by_status) refused += status == 200 ? 0 : count;
    table.add({fixed(load.rate, 0), std::to_string(result.sent), std::to_string(answered), std::to_string(refused),
               std::to_string(result.late), std::to_string(result.lost), ms(0.5), ms(0.99), ms(1),
               fixed(each * 1e3, 2)});
  }
  std::fputs(table.to_string().c_str(), stdout);
  std::printf("of what a build over it finds by itself (%td requests) it answers %.3f; memory", compared, found);
  for (const ServerProcess& server : servers) std::printf(" %.0f MiB", server.memory());
  std::puts("");
  return 0;
}

}  // namespace sous::benchmarks
