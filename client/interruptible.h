// Commands that measure for minutes: Ctrl-C, a polite kill or the end of the budget ends the program that is being
// measured, and what was measured before is kept. A second Ctrl-C ends this program at once.
#pragma once

#include <atomic>

namespace sous::client {

// One at a time.
class Interruptible {
 public:
  explicit Interruptible(double seconds);
  ~Interruptible();
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

  static const std::atomic<bool>& stop_asked();
  // Asked by a person, not by the budget.
  static bool by_hand();
};

}  // namespace sous::client
