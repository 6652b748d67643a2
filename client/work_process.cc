#include "client/work_process.h"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "client/process.h"

namespace sous::client {
namespace {

constexpr rlim_t most_data = rlim_t{8} << 30;
constexpr double grace_seconds = 20;
constexpr int milliseconds_between_looks = 50;

// Beside what this process has already: under a sanitizer that is terabytes that nobody touches.
rlim_t data_limit() {
  const long pages = ::sysconf(_SC_PHYS_PAGES), page = ::sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page <= 0) return most_data;
  rlim_t own = 0;
  std::ifstream sizes("/proc/self/statm");
  for (int field = 0; field < 6; ++field) sizes >> own;  // the sixth: data and stacks
  const auto bytes = static_cast<rlim_t>(page);
  return own * bytes + std::min(most_data, static_cast<rlim_t>(pages) * bytes / 2);
}

void limit(int resource, rlim_t most) {
  rlimit limits{};
  if (::getrlimit(static_cast<__rlimit_resource>(resource), &limits) != 0) return;
  limits.rlim_cur = limits.rlim_max = std::min(most, limits.rlim_max);
  ::setrlimit(static_cast<__rlimit_resource>(resource), &limits);
}

[[noreturn]] void be_the_process(const ProcessLimits& limits, const std::function<Worked()>& work,
                                 const TemporaryFolder& folder, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(1);
  ::setenv("TMPDIR", folder.path().c_str(), 1);
  ::setenv("OMP_NUM_THREADS", std::to_string(limits.threads).c_str(), 1);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_DATA, data_limit());
  limit(RLIMIT_CPU, static_cast<rlim_t>(limits.seconds * limits.cores + grace_seconds));
  const bool written = use_cores(limits.cores) && write_file(folder.file("result"), to_json(work())).has_value();
  // Nobody is left who would clean up.
  std::error_code ignored;
  if (::getppid() != parent) std::filesystem::remove_all(folder.path(), ignored);
  ::_exit(written ? 0 : 1);
}

std::string end_of(int status) {
  if (WIFSIGNALED(status)) return std::string("it ended with signal ") + ::strsignal(WTERMSIG(status));
  return "it ended with status " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

bool use_cores(int cores) {
  cpu_set_t allowed, some;
  CPU_ZERO(&allowed);
  CPU_ZERO(&some);
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return false;
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &allowed)) cpus.push_back(cpu);
  if (static_cast<int>(cpus.size()) < cores) return false;
  // Several workers on one machine are not all to crowd on the first ones.
  const auto first = static_cast<std::size_t>(::getpid()) % cpus.size();
  for (std::size_t k = 0; k < static_cast<std::size_t>(cores); ++k) CPU_SET(cpus[(first + k) % cpus.size()], &some);
  return ::sched_setaffinity(0, sizeof some, &some) == 0;
}

Result<Worked> in_process(const ProcessLimits& limits, const std::function<Worked()>& work,
                          const std::function<bool()>& go_on) {
  TRY(const auto folder, TemporaryFolder::make());
  std::fflush(nullptr);
  const pid_t parent = ::getpid(), child = ::fork();
  if (child < 0) return fail("work.process", std::strerror(errno));
  if (child == 0) be_the_process(limits, work, folder, parent);
  double kill_at = 0;  // 0: it was not asked to end
  const double end = now() + limits.seconds;
  int status = 0;
  while (true) {
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended == child || (ended < 0 && errno != EINTR)) break;
    if (kill_at == 0 && (!go_on() || now() > end)) {
      ::kill(child, SIGTERM);
      kill_at = now() + grace_seconds;
    } else if (kill_at > 0 && now() > kill_at) {
      ::kill(child, SIGKILL);
    }
    ::poll(nullptr, 0, milliseconds_between_looks);
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return fail("work.process", end_of(status));
  TRY(const std::string text, read_file(folder.file("result")));
  return worked_from_json(text);
}

}  // namespace sous::client
