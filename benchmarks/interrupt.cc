#include "benchmarks/interrupt.h"

#include <csignal>
#include <cstdlib>

namespace sous::benchmarks {
namespace {

std::atomic<bool> stop{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler sets it");

void on_signal(int signal) {
  if (stop.exchange(true)) std::_Exit(128 + signal);
}

}  // namespace

const std::atomic<bool>& stop_requested() { return stop; }

InterruptGuard::InterruptGuard() {
  stop = false;
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
}

InterruptGuard::~InterruptGuard() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  stop = false;
}

}  // namespace sous::benchmarks
