// The progress line of a long command: on a terminal one line that is rewritten, otherwise a line every few seconds.
// stderr, so that tables and JSON on stdout stay clean. Safe from several threads.
#pragma once

#include <mutex>
#include <string>

namespace sous::benchmarks {

class Progress {
 public:
  explicit Progress(std::size_t total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // What is being done now: "[3/30  12 s] gemm LARGE double: sous, run 2".
  void say(const std::string& what);
  // One of `total` is finished.
  void step();
  // A line of its own that stays.
  void line(const std::string& text);

 private:
  void clear();

  std::mutex mutex_;
  std::size_t total_;
  std::size_t done_ = 0;
  double start_;
  bool terminal_;
  bool shown_ = false;
  double last_ = -1e9;  // when something was said last
};

}  // namespace sous::benchmarks
