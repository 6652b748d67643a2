// sous setup: this machine measured once, with a progress line and an end that keeps what is done.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>

#include "client/commands.h"
#include "client/interruptible.h"
#include "client/places.h"
#include "client/process.h"
#include "client/setup.h"
#include "client/sources.h"
#include "tuning-db/database.h"
#include "tuning-db/places.h"

namespace sous::client {
namespace {

using std::string;
using tuning_db::Entry;

constexpr double default_minutes = 10;

string in_time(double seconds) {
  const int whole = static_cast<int>(seconds + 0.5);
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%d:%02d", whole / 60, whole % 60);
  return buffer;
}

void say_result(const Entry& asked, const Result<std::vector<Entry>>& outcome) {
  if (!outcome) {
    std::printf("%-22s not measured: %s\n", asked.name.c_str(), outcome.error().to_string().c_str());
    return;
  }
  for (const Entry& e : *outcome) {
    std::printf("%-22s %6.2f times as fast as the original (%.4g s, %.4g s); measured elsewhere: %.2f\n",
                e.name.c_str(), e.tuned_seconds > 0 ? e.baseline_seconds / e.tuned_seconds : 0, e.baseline_seconds,
                e.tuned_seconds, tuning_db::evidence(asked).ratio());
  }
}

}  // namespace

Result<int> command_setup(const Invocation& invocation) {
  const Options& options = invocation.options;
  if (!invocation.words.empty()) return fail("cli.value", "sous setup takes options only, not " + invocation.words[0]);
  const string path = database_path(options);
  if (path.empty()) return fail("cli.value", "no database: give --db PATH");
  TRY(auto store, tuning_db::Store::open({.path = path, .seeds = tuning_db::seed_files()}));
  const auto machine = tuning_db::local_hardware();
  const SetupPlan plan{.only = options.only, .again = options.again, .flags = invocation.after};
  TRY(const auto tasks, setup_tasks(store, machine, plan));
  const double budget = 60 * (options.budget_minutes > 0 ? options.budget_minutes : default_minutes);
  double expected = 0;
  for (const auto& task : tasks) expected += task.seconds;
  std::printf("%s: %zu recipes to measure here, about %s; at most %s now; Ctrl-C keeps what is done\n",
              tuning_db::hardware_class(machine).c_str(), tasks.size(), in_time(expected).c_str(),
              in_time(budget).c_str());
  const bool terminal = ::isatty(STDERR_FILENO) != 0;
  const double start = now();
  const Interruptible interruptible(budget);
  const std::atomic<bool>& stop = Interruptible::stop_asked();
  TRY(const SetupRun done,
      run_setup(
          store, tasks, budget, stop,
          [&](const Entry& entry) { return measure_here(entry, setup_flags(entry.compiler, entry.flags, plan), stop); },
          [&](std::size_t k, const SetupTask& task, const Result<std::vector<Entry>>* outcome) {
            if (terminal) std::fprintf(stderr, "\r\033[K");
            if (outcome != nullptr) {
              say_result(task.entry, *outcome);
            } else if (terminal) {
              std::fprintf(stderr, "[%zu/%zu, %s] %s", k + 1, tasks.size(), in_time(now() - start).c_str(),
                           task.entry.name.c_str());
            }
            std::fflush(stdout);
          },
          now));
  if (terminal) std::fprintf(stderr, "\r\033[K");
  std::printf("%d measured here in %s, %d of them faster than the original; kept in %s\n", done.measured,
              in_time(now() - start).c_str(), done.faster, tuning_db::shown(path).c_str());
  if (done.failed > 0) std::printf("%d could not be measured (above)\n", done.failed);
  if (done.left > 0) std::printf("%d left: sous setup goes on with them\n", done.left);
  return Interruptible::by_hand() ? 130 : 0;
}

}  // namespace sous::client
