#include "client/build_log.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "client/stats.h"

namespace sous::client {
namespace {

using nlohmann::json;
using std::string;

double processor_seconds(int who) {
  rusage usage{};
  ::getrusage(who, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace

std::string_view to_string(Fate fate) {
  switch (fate) {
    case Fate::Pass:
      return "pass";
    case Fate::Link:
      return "link";
    case Fate::Left:
      return "left";
    case Fate::Served:
      return "served";
    case Fate::Crash:
      return "crash";
  }
  __builtin_unreachable();
}

string to_line(const LogEntry& entry, std::string_view folder, double seconds_own, double seconds_children) {
  json line{{"version", 1},
            {"fate", to_string(entry.fate)},
            {"why", entry.why},
            {"compiler", entry.compiler},
            {"folder", folder},
            {"file", entry.file},
            {"object", entry.object},
            {"seconds_own", seconds_own},
            {"seconds_children", seconds_children}};
  if (!entry.report.empty()) line["report"] = json::parse(entry.report, nullptr, false);
  if (entry.cached) line["cached"] = true;
  return line.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

void append_to_build_log(const LogEntry& entry) {
  const char* path = std::getenv("SOUS_REPORT");
  const bool whole = path != nullptr && *path != 0;
  const bool counts = entry.fate != Fate::Link && !entry.file.empty();
  const auto stats = counts ? stats_log_path() : std::filesystem::path();
  if (!whole && stats.empty()) return;
  std::error_code error;
  const string folder = std::filesystem::current_path(error).string();
  const double own = processor_seconds(RUSAGE_SELF), children = processor_seconds(RUSAGE_CHILDREN);
  if (!stats.empty()) append_to_stats_log(stats, to_stats_line(entry, folder, own, children));
  if (!whole) return;
  const string line = to_line(entry, folder, own, children);
  // A pipe is not waited for: neither for its reader nor for room in it.
  const int file = ::open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
  if (file < 0 || ::write(file, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
    std::fprintf(stderr, "sous: SOUS_REPORT: %s: %s\n", path, std::strerror(errno));
  }
  if (file >= 0) ::close(file);
}

}  // namespace sous::client
