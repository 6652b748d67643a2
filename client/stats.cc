#include "client/stats.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "client/process.h"
#include "client/say_once.h"

namespace sous::client {
namespace {

using nlohmann::json;
using std::string;
namespace fs = std::filesystem;

constexpr std::size_t most_reasons = 8;  // shown
constexpr std::size_t most_hot = 8;      // shown

template <class T>
T value_of(const json& object, const char* key, T otherwise) {
  const auto at = object.find(key);
  if (at == object.end()) return otherwise;
  if constexpr (std::is_same_v<T, string>) {
    return at->is_string() ? at->get<string>() : otherwise;
  } else if constexpr (std::is_same_v<T, bool>) {
    return at->is_boolean() ? at->get<bool>() : otherwise;
  } else {
    return at->is_number() ? at->get<T>() : otherwise;
  }
}

[[gnu::format(printf, 1, 2)]] string format(const char* pattern, ...) {
  char buffer[256];
  va_list list;
  va_start(list, pattern);
  std::vsnprintf(buffer, sizeof buffer, pattern, list);
  va_end(list);
  return buffer;
}

string absolute(const string& folder, const string& path) {
  return (fs::path(folder) / path).lexically_normal().string();
}

bool below(const string& path, const string& folder) {
  return folder == "/" || path == folder || path.starts_with(folder + "/");
}

struct Sums {
  int files = 0, looked = 0, crashed = 0, lifted = 0, unlifted = 0, served = 0, promising = 0;
  double own = 0, children = 0, least = 0, most = 0, logarithms = 0;
  std::map<string, int> reasons;
};

Sums sum(const std::vector<Logged>& entries) {
  Sums sums;
  for (const Logged& entry : entries) {
    sums.own += entry.seconds_own;
    sums.children += entry.seconds_children;
    sums.files += 1;
    if (entry.fate == to_string(Fate::Crash)) sums.crashed += 1;
    if (entry.fate == to_string(Fate::Pass)) {
      sums.reasons[entry.why] += 1;
      continue;
    }
    sums.looked += 1;
    sums.lifted += entry.lifted;
    sums.served += entry.served;
    for (const auto& [code, count] : entry.unlifted) {
      sums.unlifted += count;
      sums.reasons[code] += count;
    }
    for (const LoggedNest& nest : entry.nests) {
      if (!nest.served) {
        sums.reasons[nest.why] += 1;
      } else if (nest.ratio > 0) {
        sums.least = sums.promising == 0 ? nest.ratio : std::min(sums.least, nest.ratio);
        sums.most = std::max(sums.most, nest.ratio);
        sums.logarithms += std::log(nest.ratio);
        sums.promising += 1;
      }
    }
  }
  return sums;
}

string promise(const Sums& sums) {
  if (sums.promising == 0) return "";
  if (sums.least == sums.most) return format("%.2f times as fast", sums.least);
  return format("%.2f to %.2f times as fast", sums.least, sums.most);
}

std::vector<string> members_of(const string& archive) {
  const auto listed = client::run({"ar", "t", archive}, {.capture_output = true, .capture_errors = true});
  std::vector<string> out;
  if (!listed || listed->status != 0) return out;
  for (std::size_t at = 0; at < listed->output.size();) {
    const auto end = std::min(listed->output.find('\n', at), listed->output.size());
    out.push_back(listed->output.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

string log_text(const fs::path& path) {
  string out;  // what was moved aside for its length came before
  for (const string& file : {path.string() + ".old", path.string()}) {
    if (auto text = read_file(file)) out += *text;
  }
  return out;
}

}  // namespace

fs::path stats_log_path() {
  if (const char* path = std::getenv("SOUS_LOG"); path != nullptr && *path != 0) {
    return string(path) == "none" ? fs::path() : fs::path(path);
  }
  const fs::path folder = cache_folder();
  return folder.empty() ? folder : folder / "build.log";
}

string to_stats_line(const LogEntry& entry, std::string_view folder, double seconds_own, double seconds_children) {
  json line{{"version", 1},
            {"time", static_cast<std::int64_t>(std::time(nullptr))},
            {"fate", to_string(entry.fate)},
            {"folder", folder},
            {"file", entry.file},
            {"object", entry.object},
            {"seconds_own", seconds_own},
            {"seconds_children", seconds_children}};
  if (!entry.why.empty()) line["why"] = entry.why.substr(0, longest_logged_reason);
  if (const auto facts = json::parse(entry.facts, nullptr, false); facts.is_object()) {
    line.update(facts);
    // For `sous tune --build`, and only where there is something to tune: options may be long.
    if (value_of(line, "served", 0) < value_of(line, "lifted", 0)) {
      line["compiler"] = entry.compiler;
      line["options"] = entry.options;
    }
  }
  return line.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

void append_to_stats_log(const fs::path& path, const string& line) {
  if (path.empty()) return;
  std::error_code error;
  if (path.has_parent_path()) fs::create_directories(path.parent_path(), error);
  // No build waits for who reads a pipe of this name, nor for who holds the file.
  const int file = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
  if (file < 0) return;
  struct stat own{}, named{};
  const bool regular = ::fstat(file, &own) == 0 && S_ISREG(own.st_mode);
  if (regular && own.st_size > longest_log && ::flock(file, LOCK_EX | LOCK_NB) == 0) {
    // Under the lock the name may be another file's already: then somebody else has made room.
    if (::stat(path.c_str(), &named) == 0 && named.st_ino == own.st_ino && named.st_dev == own.st_dev) {
      ::rename(path.c_str(), (path.string() + ".old").c_str());
    }
  }
  if (::write(file, line.data(), line.size()) < 0) {  // a full disk: the build has other worries
  }
  ::close(file);
}

std::optional<Logged> parse_stats_line(std::string_view text) {
  const json line = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!line.is_object() || value_of(line, "version", 0) != 1) return std::nullopt;
  Logged out;
  out.fate = value_of(line, "fate", string());
  out.why = value_of(line, "why", string());
  out.folder = value_of(line, "folder", string());
  out.file = value_of(line, "file", string());
  out.object = value_of(line, "object", string());
  out.compiler = value_of(line, "compiler", string());
  if (const auto options = line.find("options"); options != line.end() && options->is_array()) {
    for (const auto& option : *options) {
      if (option.is_string()) out.options.push_back(option.get<string>());
    }
  }
  out.seconds_own = value_of(line, "seconds_own", 0.0);
  out.seconds_children = value_of(line, "seconds_children", 0.0);
  out.lifted = value_of(line, "lifted", 0);
  out.served = value_of(line, "served", 0);
  if (const auto codes = line.find("unlifted"); codes != line.end() && codes->is_object()) {
    for (const auto& [code, count] : codes->items()) {
      if (count.is_number_integer()) out.unlifted[code] = count.get<int>();
    }
  }
  if (const auto nests = line.find("nests"); nests != line.end() && nests->is_array()) {
    for (const auto& nest : *nests) {
      if (!nest.is_object()) continue;
      out.nests.push_back({.file = value_of(nest, "file", string()),
                           .function = value_of(nest, "function", string()),
                           .line = value_of(nest, "line", 0),
                           .served = value_of(nest, "served", false),
                           .ratio = value_of(nest, "ratio", 0.0),
                           .work = value_of(nest, "work", 0.0),
                           .why = value_of(nest, "why", string())});
    }
  }
  return out;
}

std::vector<Logged> latest_below(std::string_view log, const fs::path& folder) {
  const string root = folder.string();
  std::map<string, Logged> latest;
  while (!log.empty()) {
    const auto end = std::min(log.find('\n'), log.size());
    auto entry = parse_stats_line(log.substr(0, end));
    log.remove_prefix(std::min(end + 1, log.size()));
    if (!entry || entry->fate == to_string(Fate::Link) || entry->file.empty()) continue;
    const string file = absolute(entry->folder, entry->file);
    const string object = entry->object.empty() ? "" : absolute(entry->folder, entry->object);
    if (!below(entry->folder, root) && !below(file, root) && !(object.size() > 0 && below(object, root))) continue;
    latest[object.empty() ? file : object] = std::move(*entry);
  }
  std::vector<Logged> out;
  for (auto& [key, entry] : latest) out.push_back(std::move(entry));
  return out;
}

std::vector<Unserved> unserved(const std::vector<Logged>& entries) {
  std::vector<Unserved> out;
  std::set<std::tuple<string, int, string>> seen;
  for (const Logged& entry : entries) {
    for (const LoggedNest& nest : entry.nests) {
      if (nest.served || !seen.emplace(absolute(entry.folder, nest.file), nest.line, nest.function).second) continue;
      out.push_back({&entry, &nest});
    }
  }
  std::ranges::sort(out, {}, [](const Unserved& u) { return std::tuple(-u.nest->work, u.nest->file, u.nest->line); });
  return out;
}

Result<std::vector<Logged>> read_log(const fs::path& given, const fs::path& below_this) {
  const fs::path log = given.empty() ? stats_log_path() : given;
  if (log.empty()) return fail("stats.no-log", "no log is kept (SOUS_LOG=none); give one: --log FILE");
  std::error_code error;
  if (!fs::exists(log, error)) return fail("stats.no-log", "there is no log of builds yet", log.string());
  auto folder = fs::absolute(below_this, error).lexically_normal();
  if (!folder.has_filename() && folder != folder.root_path()) folder = folder.parent_path();
  auto entries = latest_below(log_text(log), folder);
  if (entries.empty()) {
    return fail("stats.none", "no build below " + folder.string() + " is in the log; sous stats / shows all",
                log.string());
  }
  return entries;
}

string stats_text(const std::vector<Logged>& entries) {
  const Sums sums = sum(entries);
  const auto hottest = unserved(entries);
  string out = format("files      %d, %d looked into\n", sums.files, sums.looked);
  if (sums.crashed > 0) out += format("faults     %d of Sous's own: please report these files\n", sums.crashed);
  out += format("nests      %d lifted, %d served; %d loops not lifted\n", sums.lifted, sums.served, sums.unlifted);
  if (sums.promising > 0) {
    out += "promised   " + promise(sums) +
           format(" where served, geometric mean %.2f\n", std::exp(sums.logarithms / sums.promising));
  }
  out += format("time       %.2f s of processor time in Sous, %.2f s in the compilers that it ran\n", sums.own,
                sums.children);
  std::vector<std::pair<string, int>> reasons(sums.reasons.begin(), sums.reasons.end());
  std::ranges::sort(reasons, {}, [](const auto& r) { return std::pair(-r.second, r.first); });
  if (!reasons.empty()) out += "top reasons\n";
  for (std::size_t k = 0; k < std::min(reasons.size(), most_reasons); ++k) {
    out += format("%8d  ", reasons[k].second) + reasons[k].first + "\n";
  }
  if (!hottest.empty()) out += "hottest that got nothing (executions, as far as sizes are known)\n";
  for (std::size_t k = 0; k < std::min(hottest.size(), most_hot); ++k) {
    const LoggedNest& nest = *hottest[k].nest;
    out += format("%8.2g  ", nest.work) + nest.file + ":" + std::to_string(nest.line) + ": " + nest.function + ": " +
           nest.why + "\n";
  }
  return out;
}

string summary_line(const std::vector<Logged>& entries) {
  const Sums sums = sum(entries);
  string out = format("%d C files, %d nests lifted, %d served", sums.files, sums.lifted, sums.served);
  if (sums.promising > 0) out += " (promised " + promise(sums) + ")";
  return out + format(", %d loops not lifted; Sous took %.2f s of processor time", sums.unlifted, sums.own);
}

std::vector<Logged> entries_of_link(const std::vector<string>& inputs) {
  std::error_code error;
  const string here = fs::current_path(error).string();
  std::set<string> paths, members;
  for (const string& input : inputs) {
    paths.insert(absolute(here, input));
    if (!input.ends_with(".a")) continue;
    for (const string& member : members_of(input)) members.insert(member);
  }
  std::vector<Logged> out;
  for (auto& entry : latest_below(log_text(stats_log_path()), "/")) {
    const bool named = paths.contains(absolute(entry.folder, entry.object)) ||
                       (entry.folder == here && paths.contains(absolute(here, entry.file)));
    if (named || members.contains(name_of(entry.object))) out.push_back(std::move(entry));
  }
  return out;
}

}  // namespace sous::client
