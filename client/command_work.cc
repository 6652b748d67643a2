// sous work: takes jobs from a server, and brings back what it found.
#include <poll.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "client/commands.h"
#include "client/cuda_toolkit.h"
#include "client/http_source.h"
#include "client/interruptible.h"
#include "client/pipeline.h"
#include "client/process.h"
#include "client/recipe_server.h"
#include "client/send.h"
#include "client/work.h"
#include "client/work_process.h"
#include "server/protocol.h"
#include "tuning-db/json_reader.h"

namespace sous::client {
namespace {

using std::string;
using tuning_db::JobOutcome;

constexpr double default_seconds = 60;
constexpr std::chrono::milliseconds deadline(10'000);
constexpr int neighbours = 4;
// A server that is away is asked again, at first after a second; what was found waits for it so long.
constexpr double first_pause = 1, longest_pause = 60, longest_wait = 900;
constexpr double for_ever = 1e9;

bool stopped() { return Interruptible::stop_asked(); }

void pause_for(double seconds) {
  for (const double end = now() + seconds; now() < end && !stopped();) ::poll(nullptr, 0, 50);
}

// What asking again will not change. A server that fails, is busy (503, 429) or talks nonsense may do better later.
bool is_final(const Error& error) {
  const auto said = [&](const char* status) { return error.why.starts_with(string("the server answered ") + status); };
  if (error.code == "http.status") return !said("5") && !said("429");
  return !error.code.starts_with("http.") && !error.code.starts_with("reply.");
}

class Shift {
 public:
  Shift(const Options& options, RecipeServer server, tuning_db::Worker worker, string compiler)
      : options_(options), server_(std::move(server)), worker_(std::move(worker)), compiler_(std::move(compiler)) {}

  Result<int> run() {
    const bool waits = !options_.once || options_.idle_exit > 0;
    double idle_since = now(), pause = first_pause;
    int done = 0;
    bool away = false;
    while (!stopped()) {
      const auto reply = ask();
      if (!reply && (is_final(reply.error()) || !waits)) return std::unexpected(reply.error());
      // A server that is away, or says nothing that can be read, may do better later; it is said once.
      if (!std::exchange(away, !reply) && away)
        std::fprintf(stderr, "sous: %s; asking again\n", reply.error().to_string().c_str());
      if (reply && (reply->job || reply->unreadable)) {
        reply->job ? work(*reply->job) : refuse(*reply->unreadable);
        ++done;
        if (options_.once) break;
        idle_since = now();
        pause = first_pause;
        continue;
      }
      if (!waits) break;
      const double wait = reply ? reply->retry_seconds : std::exchange(pause, std::min(longest_pause, 2 * pause));
      const double left = options_.idle_exit > 0 ? idle_since + options_.idle_exit - now() : wait;
      if (left <= 0) break;
      pause_for(std::min(wait, left));
    }
    if (done == 0) std::puts("no job");
    return 0;
  }

 private:
  Result<server::LeaseReply> ask() const {
    TRY(const auto response, server_.post("/v1/jobs/lease", server::to_json(worker_)));
    TRY_VOID(check_status(response, server_.name()));
    auto reply = server::lease_reply_from_json(response.body);
    if (!reply) return std::unexpected(tuning_db::as_one_line(std::move(reply).error()));
    return reply;
  }

  // A job of a newer version, or a forged one: not held until its end, and no reason to stop.
  void refuse(const server::UnreadableJob& job) {
    std::printf("a job that cannot be read: %s\n", job.error.to_string().c_str());
    std::fflush(stdout);
    pause_for(first_pause);
    const server::DoneRequest done{.lease = job.lease, .outcome = JobOutcome::failed, .code = job.error.code};
    if (const auto told = tell(done); !told) std::fprintf(stderr, "sous: %s\n", told.error().to_string().c_str());
  }

  void work(const server::LeasedJob& job) {
    const double start = now();
    auto worked = at_it(job);
    if (lost_) {
      std::printf("%s: given up: another worker has it\n", in_words(job).c_str());
      std::fflush(stdout);
      return;
    }
    if (!worked) worked = Worked{.outcome = JobOutcome::failed, .entries = {}, .error = worked.error(), .said = {}};
    server::DoneRequest done{.lease = job.lease, .outcome = worked->outcome, .code = worked->error.code};
    const auto sent = send(*worked, done);
    string said = worked->outcome == JobOutcome::failed ? "failed: " + worked->error.why : worked->said;
    if (!sent) said += "; not reported: " + sent.error().to_string();
    std::printf("%s: %s; %.0f s\n", in_words(job).c_str(), said.c_str(), now() - start);
    std::fflush(stdout);
  }

  Result<Worked> at_it(const server::LeasedJob& job) {
    lost_ = false;
    if (job.build.isa > worker_.hardware.isa || job.build.cores > worker_.hardware.cores)
      return fail("work.job", "the server asks for more than this machine has");
    const WorkOptions options{.seconds = worker_.seconds, .compiler = compiler_, .stop = &Interruptible::stop_asked()};
    // Beyond the search: proof of the best, and what shapes it needs.
    const ProcessLimits limits{
        .seconds = 4 * worker_.seconds + 120, .cores = job.build.cores, .threads = job.build.threads};
    double renewed = now();
    return in_process(
        limits,
        [&] {
          return work_on(job, options, [&](const auto& nest, const auto& hardware) { return known(nest, hardware); });
        },
        [&] {
          if (now() - renewed > job.seconds / 3.0) {
            renewed = now();
            const auto response = server_.post("/v1/jobs/renew", server::renew_json(job.lease));
            lost_ = response && response->status == 409;
          }
          return !lost_ && !stopped();
        });
  }

  std::vector<transforms::Match> known(const transforms::NestQuery& nest, const tuning_db::Hardware& hardware) const {
    const auto source = HttpSource::make(options_.server, hardware, {.deadline = deadline});
    auto matches = source ? (*source)->query({nest}, neighbours) : std::unexpected(source.error());
    return matches && !matches->empty() ? std::move(matches->front()) : std::vector<transforms::Match>{};
  }

  // First what was found, then that it was: a server that takes the second has the first on its disk.
  Result<void> send(Worked& worked, server::DoneRequest& done) {
    if (!worked.entries.empty()) {
      const auto taken = again_and_again([&] { return send_entries(worked.entries, options_.server); });
      if (!taken) return std::unexpected(taken.error());
      for (const auto& one : *taken) {
        if (one.taken == server::Taken::added || one.taken == server::Taken::known) {
          done.entries.push_back(one.id);
          continue;
        }
        worked.outcome = done.outcome = JobOutcome::failed;
        worked.error = one.taken == server::Taken::refused ? one.error : Error{"work.later", "the server has no time"};
        done.code = worked.error.code;
      }
      if (done.outcome != JobOutcome::found) done.entries.clear();
    }
    return tell(done);
  }

  Result<void> tell(const server::DoneRequest& done) const {
    return again_and_again([&]() -> Result<void> {
      TRY(const auto response, server_.post("/v1/jobs/done", server::to_json(done)));
      // The answer to an earlier try may have been lost; or the job is another's by now, who will find the same.
      return response.status == 409 ? Result<void>() : check_status(response, server_.name());
    });
  }

  // What was found is not lost because a server is started anew.
  template <class Try>
  auto again_and_again(const Try& one) const -> decltype(one()) {
    const double end = now() + longest_wait;
    for (double pause = first_pause;; pause = std::min(longest_pause, 2 * pause)) {
      auto result = one();
      if (result || is_final(result.error()) || stopped() || now() > end) return result;
      pause_for(pause);
    }
  }

  const Options& options_;
  const RecipeServer server_;
  const tuning_db::Worker worker_;
  const string compiler_;
  bool lost_ = false;
};

Result<tuning_db::Worker> this_worker(const Options& options) {
  if (options.threads > 0 && !use_cores(options.threads))
    return fail("cli.value", "--threads " + std::to_string(options.threads) + " is more than this process may use");
  tuning_db::Worker worker{.party = {}, .hardware = tuning_db::local_hardware(), .targets = target_names()};
  if (!options.isa.empty()) {
    const auto isa = tuning_db::parse_isa(options.isa);
    if (!isa || *isa > worker.hardware.isa)
      return fail("cli.value", "--isa " + options.isa + " is nothing that this machine builds for; it has " +
                                   string(to_string(worker.hardware.isa)));
    worker.hardware.isa = *isa;
  }
  std::erase(worker.targets, gpu_target);
  worker.seconds = options.budget_minutes > 0 ? 60 * options.budget_minutes : default_seconds;
  return worker;
}

}  // namespace

Result<int> command_work(const Invocation& invocation) {
  const Options& options = invocation.options;
  if (!invocation.words.empty()) return fail("cli.value", "sous work takes options only, not " + invocation.words[0]);
  if (invocation.after.size() > 1)
    return fail("cli.value", "behind -- sous work takes the compiler's name, no options");
  if (options.server.empty()) return fail("cli.value", "no server to work for: give --server URL");
  TRY(auto worker, this_worker(options));
  TRY(auto server, RecipeServer::at(options.server, {.deadline = deadline}));
  const Interruptible interruptible(for_ever);
  Shift shift(options, std::move(server), std::move(worker),
              invocation.after.empty() ? "clang-19" : invocation.after[0]);
  return shift.run();
}

}  // namespace sous::client
