// Keeps the view of a database up to date from a thread and a connection of its own, so that whoever reads never waits:
// not for who writes, and not for the view to be made.
//
// A file is looked at every `interval`. PostgreSQL says when entries change; it is asked every two seconds besides, so
// that a connection that died in silence is noticed.
//
// A file that was put in the place of the old one is opened. SQLite finds the log of a database by its name: what the
// old file's log still holds must not be played into the new one, and is moved to <name>-wal.of-replaced-<n>. (Who
// replaces a database that others have open should put its log aside first.)
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "tuning-db/file_identity.h"
#include "tuning-db/store.h"
#include "tuning-db/view.h"

namespace sous::tuning_db {

class Follower {
 public:
  struct Told {
    // A new view, and, of a file that was replaced, a connection to it.
    std::function<void(std::shared_ptr<const View>, std::optional<Store>)> view;
    // After each look: whether the last view is that of the file.
    std::function<void(const Result<void>&)> looked;
  };
  Follower(StoreOptions options, std::chrono::milliseconds interval, Told told);
  ~Follower();
  // The first look is by the caller's thread; then it goes on.
  Result<void> start();

 private:
  Result<void> look();
  Result<Store> open_replaced();
  void follow(const std::stop_token& stop);

  const StoreOptions options_;
  const std::chrono::milliseconds interval_;
  const Told told_;
  std::optional<Store> store_;
  std::string generation_;
  FileIdentity log_;  // of the file that is open
  const int wake_;    // an eventfd: the thread is to end
  std::jthread thread_;
};

}  // namespace sous::tuning_db
