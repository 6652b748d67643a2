#include "benchmarks/progress.h"

#include <unistd.h>

#include <cstdio>

#include "client/process.h"

namespace sous::benchmarks {
namespace {

constexpr double seconds_between_lines = 5;  // in a log

}  // namespace

Progress::Progress(std::size_t total) : total_(total), start_(client::now()), terminal_(::isatty(2) == 1) {}
Progress::~Progress() { clear(); }

void Progress::clear() {
  if (terminal_ && shown_) std::fputs("\r\033[K", stderr);
  shown_ = false;
}

void Progress::say(const std::string& what) {
  const std::lock_guard lock(mutex_);
  if (!terminal_ && client::now() - last_ < seconds_between_lines) return;
  last_ = client::now();
  clear();
  std::fprintf(stderr, "[%zu/%zu %4.0f s] %s%s", done_, total_, client::now() - start_, what.c_str(),
               terminal_ ? "" : "\n");
  std::fflush(stderr);
  shown_ = true;
}

void Progress::step() {
  const std::lock_guard lock(mutex_);
  ++done_;
}

void Progress::line(const std::string& text) {
  const std::lock_guard lock(mutex_);
  clear();
  std::fprintf(stderr, "%s\n", text.c_str());
}

}  // namespace sous::benchmarks
