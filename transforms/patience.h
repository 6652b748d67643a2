// Wall-clock time that the word of somebody who is not trusted may cost in all: counted while it is asked for, read and
// tried, wherever that is. No result may depend on a clock but those that depend on a server anyway.
#pragma once

#include <chrono>
#include <functional>
#include <utility>

namespace sous::transforms {

class Patience {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Patience(Clock::duration most, std::function<Clock::time_point()> now = Clock::now)
      : most_(most), now_(std::move(now)) {}
  Patience(const Patience&) = delete;
  Patience& operator=(const Patience&) = delete;

  // Until the end of its scope. One within another counts once.
  class Counting {
   public:
    explicit Counting(Patience& patience) : patience_(patience) {
      if (patience_.counting_++ == 0) patience_.since_ = patience_.now_();
    }
    Counting(const Counting&) = delete;
    Counting& operator=(const Counting&) = delete;
    ~Counting() {
      if (--patience_.counting_ == 0) patience_.spent_ += patience_.now_() - patience_.since_;
    }

   private:
    Patience& patience_;
  };

  bool over() const { return spent() >= most_; }
  Clock::duration spent() const { return counting_ > 0 ? spent_ + (now_() - since_) : spent_; }

 private:
  const Clock::duration most_;
  const std::function<Clock::time_point()> now_;
  int counting_ = 0;
  Clock::time_point since_{};
  Clock::duration spent_{};
};

}  // namespace sous::transforms
