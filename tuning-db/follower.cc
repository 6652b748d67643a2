#include "tuning-db/follower.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace sous::tuning_db {

namespace fs = std::filesystem;

Follower::Follower(StoreOptions options, std::chrono::milliseconds interval, Told told)
    : options_({.path = std::move(options.path), .seeds = {}, .embedding = std::move(options.embedding)}),
      interval_(interval),
      told_(std::move(told)) {}

Result<void> Follower::start() {
  TRY_VOID(look());
  thread_ = std::jthread([this](const std::stop_token& stop) { follow(stop); });
  return {};
}

void Follower::follow(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, stop, interval_, [] { return false; }) && !stop.stop_requested()) told_.looked(look());
}

Result<void> Follower::look() {
  const FileIdentity now = identity_of(options_.path);
  if (now == FileIdentity{}) return {};  // deleted: the last view is all there is
  std::optional<Store> replaced;
  if (!store_ || store_->identity() != now) {
    const bool first = !store_;
    TRY(Store opened, first ? Store::open(options_) : open_replaced());
    if (!first) {
      TRY(replaced, Store::open(options_));
    }
    store_ = std::move(opened);
    generation_.clear();
  }
  log_ = identity_of(options_.path.string() + "-wal");
  TRY(std::string generation, store_->generation());
  if (generation == generation_) return {};
  TRY(auto view, read_view(*store_, true));
  generation_ = view->generation;
  told_.view(std::move(view), std::move(replaced));
  return {};
}

Result<Store> Follower::open_replaced() {
  const fs::path log = options_.path.string() + "-wal";
  if (log_ != FileIdentity{} && identity_of(log) == log_) {
    // The index of the log is made anew from it.
    ::unlink((options_.path.string() + "-shm").c_str());
    std::error_code error;
    const bool empty = fs::file_size(log, error) == 0;
    for (int n = 1; !empty; ++n) {
      // link and not rename: it refuses to overwrite.
      const std::string aside = log.string() + ".of-replaced-" + std::to_string(n);
      if (::link(log.c_str(), aside.c_str()) == 0) break;
      if (errno != EEXIST || n == 10'000) return fail("db.io", std::strerror(errno), aside);
    }
    ::unlink(log.c_str());
  }
  return Store::open(options_);
}

}  // namespace sous::tuning_db
