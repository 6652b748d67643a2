#include "client/say_once.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <ctime>
#include <string>
#include <system_error>

#include "tuning-db/hardware.h"
#include "tuning-db/hash.h"

namespace sous::client {
namespace {

namespace fs = std::filesystem;

// Stamps that nothing asks for any more.
void remove_old(const fs::path& folder) {
  std::error_code error;
  const auto now = fs::file_time_type::clock::now();
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const auto time = it->last_write_time(error);
    if (!error && now - time > std::chrono::hours(24)) fs::remove(it->path(), error);
  }
}

fs::path stamp_of(std::string_view text, const fs::path& folder) {
  return folder / tuning_db::content_hash(std::string(text)).substr(0, 16);
}

}  // namespace

fs::path cache_folder() { return tuning_db::hardware_cache_path().parent_path(); }

bool first_to_say(std::string_view text, const fs::path& folder) {
  std::error_code error;
  if (folder.empty() || (fs::create_directories(folder, error), error)) return true;
  const fs::path stamp = stamp_of(text, folder);
  // Exclusive: of several at once, one makes it.
  const int made = ::open(stamp.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (made >= 0) {
    ::close(made);
    remove_old(folder);
    return true;
  }
  struct stat known{};
  if (::stat(stamp.c_str(), &known) != 0) return true;
  if (std::time(nullptr) - known.st_mtime < said_for_seconds) return false;
  ::utimensat(AT_FDCWD, stamp.c_str(), nullptr, 0);
  return true;
}

void not_said(std::string_view text, const fs::path& folder) {
  std::error_code ignored;
  if (!folder.empty()) fs::remove(stamp_of(text, folder), ignored);
}

void warn(std::string_view text) {
  std::fprintf(stderr, "sous: warning: %.*s\n", static_cast<int>(text.size()), text.data());
}

void say_once(std::string_view text) {
  const fs::path folder = cache_folder();
  if (first_to_say(text, folder.empty() ? folder : folder / "said")) warn(text);
}

}  // namespace sous::client
