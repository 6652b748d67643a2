#include "tuning-db/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <system_error>

namespace sous::tuning_db {
namespace {

std::string reason() { return std::strerror(errno); }

}  // namespace

Result<std::string> read_file(const std::filesystem::path& path, std::size_t longest) {
  // Nobody waits for who may write into a pipe that has this name.
  const int file = path.empty() ? -1 : ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return fail("file.read", path.empty() ? "no path" : reason(), path.string());
  struct stat found{};
  if (::fstat(file, &found) != 0 || !S_ISREG(found.st_mode)) {
    ::close(file);
    return fail("file.read", "this is no regular file", path.string());
  }
  std::string text;
  char buffer[1 << 16];
  while (true) {
    const ssize_t n = ::read(file, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      const std::string why = n < 0 ? reason() : "";
      ::close(file);
      if (!why.empty()) return fail("file.read", why, path.string());
      return text;
    }
    text.append(buffer, static_cast<std::size_t>(n));
    if (text.size() > longest) {
      ::close(file);
      return fail("file.read", "longer than " + std::to_string(longest) + " bytes", path.string());
    }
  }
}

Result<void> write_file_atomically(const std::filesystem::path& path, std::string_view text) {
  std::error_code ignored;
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), ignored);
  std::string temporary = path.string() + ".XXXXXX";
  const int file = ::mkostemp(temporary.data(), O_CLOEXEC);
  if (file < 0) return fail("file.write", reason(), path.string());
  std::string why;
  for (std::size_t done = 0; done < text.size() && why.empty();) {
    const ssize_t n = ::write(file, text.data() + done, text.size() - done);
    if (n >= 0)
      done += static_cast<std::size_t>(n);
    else if (errno != EINTR)
      why = reason();
  }
  if (why.empty() && ::fchmod(file, 0644) != 0) why = reason();
  if (::close(file) != 0 && why.empty()) why = reason();
  if (why.empty() && ::rename(temporary.c_str(), path.c_str()) != 0) why = reason();
  if (why.empty()) return {};
  ::unlink(temporary.c_str());
  return fail("file.write", why, path.string());
}

}  // namespace sous::tuning_db
