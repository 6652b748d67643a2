#include "server/limited_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "server/confinement.h"

namespace sous::server {
namespace {

using Clock = std::chrono::steady_clock;

// Nothing of the server's: no token, no place of a database.
constexpr auto environment = std::to_array<const char*>({"PATH=/usr/bin:/bin", "LC_ALL=C", "OMP_NUM_THREADS=1",
                                                         "OPENBLAS_NUM_THREADS=1", "SOUS_DB=none", "SOUS_LOG=none",
                                                         "SOUS_CACHE_DIR=off", "ASAN_OPTIONS=detect_leaks=0", nullptr});

struct Pipe {
  std::array<int, 2> ends{-1, -1};
  Pipe() = default;
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    for (const int end : ends)
      if (end >= 0) ::close(end);
  }
  bool open() { return ::pipe2(ends.data(), O_CLOEXEC) == 0; }
  void close_write() { ::close(std::exchange(ends[1], -1)); }
};

bool limit(int resource, rlim_t most) {
  const rlimit both{most, most};
  return ::setrlimit(static_cast<__rlimit_resource_t>(resource), &both) == 0;
}

// What the child does of itself before it becomes the program; only what a copy of one thread of many may do.
[[noreturn]] void become(const Confinement& confinement, char* const* words, const char* folder, const Pipe& output,
                         const Pipe& errors, int nothing, const ProcessLimits& limits, pid_t parent) {
  const auto seconds = static_cast<rlim_t>(limits.processor.count());
  const bool ready = ::setpgid(0, 0) == 0 && ::prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && ::getppid() == parent &&
                     ::dup2(nothing, 0) == 0 && ::dup2(output.ends[1], 1) == 1 && ::dup2(errors.ends[1], 2) == 2 &&
                     ::chdir(folder) == 0 && limit(RLIMIT_CPU, seconds) && limit(RLIMIT_FSIZE, 0) &&
                     limit(RLIMIT_CORE, 0) && limit(RLIMIT_NOFILE, 64) &&
                     (under_sanitizer || limit(RLIMIT_AS, limits.memory)) && ::setpriority(PRIO_PROCESS, 0, 10) == 0 &&
                     confinement.enter() && ::close_range(3, ~0U, CLOSE_RANGE_CLOEXEC) == 0;
  if (ready) {
    struct sigaction usual{};
    usual.sa_handler = SIG_DFL;
    ::sigaction(SIGPIPE, &usual, nullptr);  // the server's own choice would go over to the program
    ::execve(words[0], words, const_cast<char* const*>(environment.data()));
  }
  const int why = errno;
  const char* text = std::strerror(why);
  if (::write(2, text, std::strlen(text)) < 0) ::_exit(not_run);
  ::_exit(not_run + 1);
}

// Reads both to their ends. Error: why the program is to be killed.
Result<void> drain(const Pipe& output, const Pipe& errors, Ended& ended, const ProcessLimits& limits) {
  const auto end = Clock::now() + limits.time;
  std::array<pollfd, 2> polls{{{output.ends[0], POLLIN, 0}, {errors.ends[0], POLLIN, 0}}};
  const std::array<std::string*, 2> texts{&ended.output, &ended.errors};
  std::array<char, 1 << 16> buffer;
  while (polls[0].fd >= 0 || polls[1].fd >= 0) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
    if (left <= 0) return fail("process.time", "it took too long");
    if (::poll(polls.data(), 2, static_cast<int>(left)) < 0 && errno != EINTR)
      return fail("process.start", std::strerror(errno));
    for (std::size_t k = 0; k < 2; ++k) {
      if (polls[k].fd < 0 || polls[k].revents == 0) continue;
      const auto n = ::read(polls[k].fd, buffer.data(), buffer.size());
      if (n > 0) texts[k]->append(buffer.data(), static_cast<std::size_t>(n));
      if (n == 0 || (n < 0 && errno != EINTR)) polls[k].fd = -1;
      if (ended.output.size() + ended.errors.size() > limits.output) return fail("process.output", "it says too much");
    }
  }
  // Its pipes are closed: it ends, or has made itself silent.
  return {};
}

}  // namespace

Result<Ended> run_limited(const std::filesystem::path& program, const std::vector<std::string>& words,
                          const std::filesystem::path& folder, const ProcessLimits& limits) {
  TRY(const Confinement confinement, Confinement::of(program, folder));
  Pipe output, errors;
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (nothing < 0 || !output.open() || !errors.open()) {
    const int why = errno;
    if (nothing >= 0) ::close(nothing);
    return fail("process.start", std::strerror(why), program.string());
  }
  std::vector<std::string> texts{program.string()};
  texts.insert(texts.end(), words.begin(), words.end());
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  const pid_t parent = ::getpid(), child = ::fork();
  if (child == 0) become(confinement, pointers.data(), folder.c_str(), output, errors, nothing, limits, parent);
  const int why = errno;
  ::close(nothing);
  if (child < 0) return fail("process.start", std::strerror(why), program.string());
  ::setpgid(child, child);  // by whoever comes first
  output.close_write();
  errors.close_write();
  Ended ended;
  const auto read = drain(output, errors, ended, limits);
  // All of its group: whatever it has left behind, or itself, if it closed its pipes and goes on.
  siginfo_t state{};
  if (read) {
    for (auto end = Clock::now() + std::chrono::seconds(1); Clock::now() < end;) {
      if (::waitid(P_PID, static_cast<id_t>(child), &state, WEXITED | WNOHANG | WNOWAIT) != 0 || state.si_pid == child)
        break;
      ::poll(nullptr, 0, 1);
    }
  }
  ::kill(-child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!read) return std::unexpected(read.error());
  ended.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return ended;
}

}  // namespace sous::server
