#include <sys/time.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "tests/fuzz/fuzz.h"

namespace sous::fuzz {
namespace {

#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
constexpr int seconds = 60;
#else
constexpr int seconds = 20;
#endif

void arm(int for_seconds) {
  itimerval timer{};
  timer.it_value.tv_sec = for_seconds;
  ::setitimer(ITIMER_PROF, &timer, nullptr);
}

void late(int) {
  constexpr std::string_view message = "fuzz: over the time budget of one input\n";
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, message.data(), message.size());
  std::abort();
}

struct Scratch {
  std::string path;
  Scratch() {
    std::error_code error;
    const bool memory = std::filesystem::is_directory("/dev/shm", error) && ::access("/dev/shm", W_OK) == 0;
    std::string name = (memory ? std::string("/dev/shm") : std::filesystem::temp_directory_path().string());
    name += "/sous-fuzz-XXXXXX";
    SOUS_ASSERT(::mkdtemp(name.data()) != nullptr);
    path = name;
  }
  ~Scratch() {
    std::error_code error;
    std::filesystem::remove_all(path, error);
  }
};

}  // namespace

TimeBudget::TimeBudget() {
  std::signal(SIGPROF, late);
  arm(seconds);
}
TimeBudget::~TimeBudget() { arm(0); }

const std::string& scratch_folder() {
  static const Scratch scratch;
  return scratch.path;
}

}  // namespace sous::fuzz
