#include "server/workers.h"

#include <algorithm>
#include <utility>

namespace sous::server {

Workers::Workers(int threads, std::size_t longest_queue, Clock::duration longest_wait)
    : longest_queue_(longest_queue), longest_wait_(longest_wait) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this](const std::stop_token& stop) { work(stop); });
}

Workers::~Workers() {
  for (std::jthread& thread : threads_) thread.request_stop();
}

bool Workers::offer(const std::shared_ptr<Job>& job) {
  const std::lock_guard lock(mutex_);
  // A thread that has nothing to do is no queue.
  const std::size_t free = threads_.size() - static_cast<std::size_t>(running_);
  if (queue_.size() >= longest_queue_ + free) return false;
  job->offered = Clock::now();
  queue_.push_back(job);
  wake_.notify_one();
  return true;
}

bool Workers::withdraw(const std::shared_ptr<Job>& job) {
  const std::lock_guard lock(mutex_);
  return std::erase(queue_, job) > 0;
}

bool Workers::idle() const {
  const std::lock_guard lock(mutex_);
  return queue_.empty() && running_ == 0;
}

void Workers::work(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (wake_.wait(lock, stop, [&] { return !queue_.empty(); }) && !stop.stop_requested()) {
    const std::shared_ptr<Job> job = std::move(queue_.front());
    queue_.pop_front();
    ++running_;
    lock.unlock();
    job->run(Clock::now() - job->offered > longest_wait_);
    lock.lock();
    --running_;
  }
}

}  // namespace sous::server
