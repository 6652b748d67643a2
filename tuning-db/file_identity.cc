#include "tuning-db/file_identity.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace sous::tuning_db {
namespace {

// The head of an SQLite file (its documented format): 100 bytes, numbers with the highest byte first.
using Head = std::array<unsigned char, 100>;
constexpr std::string_view magic("SQLite format 3\0", 16);

std::uint32_t number_at(const Head& head, std::size_t at) {
  return std::uint32_t{head[at]} << 24 | std::uint32_t{head[at + 1]} << 16 | std::uint32_t{head[at + 2]} << 8 |
         std::uint32_t{head[at + 3]};
}

// Bytes that the file must have; 0 where it does not say.
std::uint64_t least_size(const Head& head) {
  const std::uint32_t raw = std::uint32_t{head[16]} << 8 | head[17], page = raw == 1 ? 65536 : raw;
  const bool counted = number_at(head, 24) == number_at(head, 92);
  return counted ? std::uint64_t{page} * number_at(head, 28) : 0;
}

// Files that SQLite has open in this process. Whoever closes any descriptor of a file takes away all locks that the
// process has on it (POSIX; what else F_SETLK knows of). Without SQLite's lock the next program that is done with the
// database takes itself for the last one and removes the log, and what is written from then on is lost with it. So what
// is opened here stays open, until another file takes its place.
class KeptOpen {
 public:
  // Negative: errno says why.
  int file(const std::filesystem::path& path, const FileIdentity& there) {
    const std::lock_guard lock(mutex_);
    Kept& kept = files_[path.string()];
    if (kept.fd >= 0 && kept.identity == there) return kept.fd;
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return fd;
    struct stat found{};
    ::fstat(fd, &found);
    if (kept.fd >= 0) ::close(kept.fd);
    kept = {.fd = fd, .identity = {found.st_dev, found.st_ino}};
    return fd;
  }

 private:
  struct Kept {
    int fd = -1;
    FileIdentity identity;
  };
  std::mutex mutex_;
  std::map<std::string, Kept> files_;
};

KeptOpen& kept_open() {
  static KeptOpen files;
  return files;
}

Result<void> look(const std::filesystem::path& path, const FileIdentity& identity) {
  struct stat found{};
  if (::stat(path.c_str(), &found) != 0) return fail("db.gone", std::strerror(errno), path.string());
  const FileIdentity there{found.st_dev, found.st_ino};
  if (there != identity)
    return fail("db.replaced", "there is another file now than the one that was opened", path.string());
  const int file = kept_open().file(path, there);
  if (file < 0) return fail("db.gone", std::strerror(errno), path.string());
  Head head{};
  const bool whole = ::pread(file, head.data(), head.size(), 0) == static_cast<ssize_t>(head.size());
  if (!whole || std::string_view(reinterpret_cast<const char*>(head.data()), magic.size()) != magic)
    return fail("db.corrupt", "this is no SQLite database any more", path.string());
  if (static_cast<std::uint64_t>(found.st_size) < least_size(head))
    return fail("db.corrupt", "the file is shorter than its head says", path.string());
  return {};
}

}  // namespace

FileIdentity identity_of(const std::filesystem::path& path) {
  struct stat found{};
  if (::stat(path.c_str(), &found) != 0) return {};
  return {found.st_dev, found.st_ino};
}

Result<void> check_file(const std::filesystem::path& path, const FileIdentity& identity) {
  auto result = look(path, identity);
  // A checkpoint writes the head before the pages behind it.
  for (int again = 0; again < 3 && !result && result.error().code == "db.corrupt"; ++again) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    result = look(path, identity);
  }
  return result;
}

}  // namespace sous::tuning_db
