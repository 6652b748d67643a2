// Ctrl-C: what was measured so far is kept. The first SIGINT or SIGTERM asks for an orderly end; a second one ends the
// program at once.
#pragma once

#include <atomic>

namespace sous::benchmarks {

// True once the user asked for an end. Only while an InterruptGuard lives.
const std::atomic<bool>& stop_requested();

class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
};

}  // namespace sous::benchmarks
