#include "client/guard.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "client/build_log.h"
#include "client/process.h"
#include "client/stats.h"

#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || __has_feature(address_sanitizer) || \
    __has_feature(thread_sanitizer) || __has_feature(undefined_behavior_sanitizer)
#define SOUS_UNDER_SANITIZER 1
#else
#define SOUS_UNDER_SANITIZER 0
#endif

namespace sous::client {
namespace {

using std::string;

constexpr std::array faults{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGPROF};

// Everything that the handler needs is made before: it may only call what is safe in a signal handler. Leaked on
// purpose: the process ends with it.
struct Guarded {
  string program;  // execve looks nothing up in PATH
  std::vector<string> words;
  std::vector<char*> pointers;
  string message;
  std::vector<std::pair<string, string>> lines;  // of logs: path, line
};
Guarded* guarded = nullptr;
std::atomic<const LeftBehind*> left_behind = nullptr;
static_assert(std::atomic<const LeftBehind*>::is_always_lock_free);

void write_all(int file, const string& text) {
  if (::write(file, text.data(), text.size()) < 0) return;  // nothing can be done about it here
}

void disarm() {
  const itimerval never{};
  ::setitimer(ITIMER_PROF, &never, nullptr);
  for (const int fault : faults) ::signal(fault, SIG_DFL);
}

void on_fault(int) {
  write_all(2, guarded->message);
  for (const auto& [path, line] : guarded->lines) {
    const int file = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
    if (file >= 0) write_all(file, line);
  }
  if (const LeftBehind* left = left_behind) {
    const int file = ::open(left->path.c_str(), O_WRONLY | O_TRUNC | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
    if (file >= 0) write_all(file, left->text);
  }
  // Neither timer, handlers nor mask may reach the compiler.
  disarm();
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execve(guarded->program.c_str(), guarded->pointers.data(), environ);
  ::_exit(127);
}

}  // namespace

void stop_guarding() {
  if (guarded != nullptr) disarm();
}

void leave_behind(const LeftBehind* what) { left_behind = what; }

bool guards() { return SOUS_UNDER_SANITIZER == 0; }

void guard_with(const std::vector<string>& command, const string& file) {
  const char* wish = std::getenv("SOUS_GUARD");
  if (!guards() || guarded != nullptr || (wish != nullptr && std::string_view(wish) == "0")) return;
  const string why = "an internal error of sous (a fault, or more than " + std::to_string(guard_seconds) + " s)";
  auto* made = new Guarded{};
  made->program = program_path(command[0]);
  made->words = command;
  for (auto& word : made->words) made->pointers.push_back(word.data());
  made->pointers.push_back(nullptr);
  made->message = "sous: " + file + ": " + why + ": compiled without it. Please report this file.\n";
  std::error_code error;
  const string folder = std::filesystem::current_path(error).string();
  const LogEntry entry{.fate = Fate::Crash, .why = why, .compiler = command[0], .file = file, .object = {}};
  const char* path = std::getenv("SOUS_REPORT");
  if (path != nullptr && *path != 0) made->lines.emplace_back(path, to_line(entry, folder, 0, 0));
  const string stats = stats_log_path().string();
  if (!stats.empty()) made->lines.emplace_back(stats, to_stats_line(entry, folder, 0, 0));
  guarded = made;

  // A stack overflow leaves no room for the handler on the stack itself.
  constexpr std::size_t room = 1 << 16;
  stack_t other{};
  other.ss_sp = new char[room];
  other.ss_size = room;
  ::sigaltstack(&other, nullptr);
  struct sigaction action{};
  action.sa_handler = on_fault;
  action.sa_flags = SA_ONSTACK;
  ::sigfillset(&action.sa_mask);
  for (const int fault : faults) ::sigaction(fault, &action, nullptr);
  itimerval limit{};
  limit.it_value.tv_sec = guard_seconds;
  ::setitimer(ITIMER_PROF, &limit, nullptr);
}

}  // namespace sous::client
