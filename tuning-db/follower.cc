#include "tuning-db/follower.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "tuning-db/places.h"

namespace sous::tuning_db {

namespace fs = std::filesystem;

namespace {

constexpr std::chrono::milliseconds heartbeat(2000);

// Of several servers over one file one at a time looks whose log lies beside it: the second one would take the log that
// the first one has begun for the old one's. Their folder's lock, since a file's goes when anybody closes that file.
class AloneInFolder {
 public:
  explicit AloneInFolder(const fs::path& file)
      : fd_(::open((file.has_parent_path() ? file.parent_path() : fs::path(".")).c_str(),
                   O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    if (fd_ >= 0) ::flock(fd_, LOCK_EX);
  }
  AloneInFolder(const AloneInFolder&) = delete;
  AloneInFolder& operator=(const AloneInFolder&) = delete;
  ~AloneInFolder() {
    if (fd_ >= 0) ::close(fd_);
  }

 private:
  const int fd_;
};

}  // namespace

Follower::Follower(StoreOptions options, std::chrono::milliseconds interval, Told told)
    : options_({.path = std::move(options.path), .seeds = {}, .embedding = std::move(options.embedding)}),
      interval_(interval),
      told_(std::move(told)),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

Follower::~Follower() {
  if (thread_.joinable()) {
    thread_.request_stop();
    thread_.join();
  }
  ::close(wake_);
}

Result<void> Follower::start() {
  TRY_VOID(look());
  thread_ = std::jthread([this](const std::stop_token& stop) { follow(stop); });
  return {};
}

void Follower::follow(const std::stop_token& stop) {
  const std::stop_callback ends(stop, [this] { ::eventfd_write(wake_, 1); });
  const auto pause = [this] {
    pollfd file{wake_, POLLIN, 0};
    ::poll(&file, 1, static_cast<int>(interval_.count()));
  };
  const bool told = is_postgres(options_.path);
  while (true) {
    const auto waited = store_->wait_for_change(told ? heartbeat : interval_, wake_);
    if (stop.stop_requested()) return;
    told_.looked(waited ? look() : waited);
    if (told) pause();  // those who send a lot make one view of it
  }
}

Result<void> Follower::look() {
  if (!store_) {
    TRY(Store opened, Store::open(options_));
    store_.emplace(std::move(opened));
  }
  std::optional<Store> replaced;
  if (!is_postgres(options_.path)) {
    const FileIdentity now = identity_of(options_.path);
    if (now == FileIdentity{}) return {};  // deleted: the last view is all there is
    if (store_->identity() != now) {
      TRY(Store opened, open_replaced());
      TRY(replaced, Store::open(options_));
      store_ = std::move(opened);
      generation_.clear();
    }
    log_ = identity_of(options_.path.string() + "-wal");
  }
  TRY(std::string generation, store_->generation());
  if (generation == generation_) return {};
  TRY(auto view, read_view(*store_, true));
  generation_ = view->generation;
  told_.view(std::move(view), std::move(replaced));
  return {};
}

Result<Store> Follower::open_replaced() {
  const AloneInFolder alone(options_.path);
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
