// A few threads with a short queue in front. What the queue does not take is the caller's to refuse: a server that
// lets work pile up answers nobody in time.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace sous::server {

class Workers {
 public:
  using Clock = std::chrono::steady_clock;
  struct Job {
    // Called once, by a worker, unless the job is withdrawn. `late`: it waited longer than jobs may.
    std::function<void(bool late)> run;
    Clock::time_point offered = {};
  };

  // `longest_wait`: in the queue; `longest_queue`: jobs that wait.
  Workers(int threads, std::size_t longest_queue, Clock::duration longest_wait);
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  // Waits for the jobs that have begun; those that wait are forgotten.
  ~Workers();

  // False: the queue is full.
  bool offer(const std::shared_ptr<Job>& job);
  // Whether it had not begun; it then never does.
  bool withdraw(const std::shared_ptr<Job>& job);
  // Nothing waits and nothing runs.
  bool idle() const;

 private:
  void work(const std::stop_token& stop);

  const std::size_t longest_queue_;
  const Clock::duration longest_wait_;
  mutable std::mutex mutex_;
  std::condition_variable_any wake_;
  std::deque<std::shared_ptr<Job>> queue_;
  int running_ = 0;
  std::vector<std::jthread> threads_;  // the last member: they end before what they use
};

}  // namespace sous::server
