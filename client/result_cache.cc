#include "client/result_cache.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "client/cuda_toolkit.h"
#include "client/kept_answers.h"
#include "client/lock_source.h"
#include "client/places.h"
#include "client/process.h"
#include "client/sources.h"
#include "tuning-db/database.h"
#include "tuning-db/files.h"
#include "tuning-db/hardware.h"
#include "tuning-db/hash.h"
#include "tuning-db/places.h"

namespace sous::client {
namespace {

namespace fs = std::filesystem;
using std::string;
using std::string_view;

constexpr string_view magic = "sous result 2";
constexpr std::int64_t default_limit = std::int64_t{512} << 20;

string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

struct Kept {
  fs::path path;
  fs::file_time_type used;
  std::int64_t bytes = 0;
};
// What others remove meanwhile is passed over.
std::vector<Kept> listed(const string& folder) {
  std::vector<Kept> out;
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code gone;
    if (!it->is_regular_file(gone)) continue;
    const auto bytes = it->file_size(gone);
    const auto used = it->last_write_time(gone);
    if (!gone) out.push_back({it->path(), used, static_cast<std::int64_t>(bytes)});
  }
  return out;
}

// A line of text: head; the rest is read by lengths.
std::optional<string> take(string_view& text, std::size_t length) {
  if (text.size() < length) return std::nullopt;
  string out(text.substr(0, length));
  text.remove_prefix(length);
  return out;
}
string with_length(string_view bytes) { return std::to_string(bytes.size()) + "\n" + string(bytes); }
std::optional<string> take_with_length(string_view& text) {
  const auto end = text.find('\n');
  if (end == 0 || end > 18 || end == string_view::npos) return std::nullopt;
  std::size_t length = 0;
  for (const char c : text.substr(0, end)) {
    if (c < '0' || c > '9') return std::nullopt;
    length = 10 * length + static_cast<std::size_t>(c - '0');
  }
  text.remove_prefix(end + 1);
  return take(text, length);
}

string packed(const std::vector<string>& texts) {
  string body;
  for (const string& text : texts) body += with_length(text);
  return string(magic) + "\n" + tuning_db::content_hash(body) + "\n" + body;
}
std::optional<std::vector<string>> unpacked(string_view text) {
  constexpr std::size_t hash_digits = 32;
  const std::size_t head = magic.size() + 1 + hash_digits + 1;
  if (text.size() < head || !text.starts_with(magic) || text[magic.size()] != '\n' || text[head - 1] != '\n') {
    return std::nullopt;
  }
  const string_view hash = text.substr(magic.size() + 1, hash_digits);
  text.remove_prefix(head);
  if (tuning_db::content_hash(text) != hash) return std::nullopt;
  std::vector<string> texts;
  while (!text.empty()) {
    auto one = take_with_length(text);
    if (!one) return std::nullopt;
    texts.push_back(std::move(*one));
  }
  return texts;
}

}  // namespace

// As result_key makes them, of letters and digits: they become paths.
static bool is_key(std::string_view key) {
  return key.size() > 2 && std::ranges::all_of(key, [](unsigned char c) { return std::isalnum(c) != 0; });
}

std::optional<ResultCache> ResultCache::open() {
  std::int64_t limit = default_limit;
  if (const auto megabytes = variable("SOUS_CACHE_MB"); !megabytes.empty()) {
    limit = std::max<std::int64_t>(1, std::atoll(string(megabytes).c_str())) << 20;
  }
  if (const auto folder = variable("SOUS_CACHE_DIR"); folder == "off") {
    return std::nullopt;
  } else if (!folder.empty()) {
    return ResultCache(string(folder), limit);
  }
  if (const auto cache = variable("XDG_CACHE_HOME"); !cache.empty()) {
    return ResultCache(string(cache) + "/sous/results", limit);
  }
  const auto home = variable("HOME");
  if (home.empty()) return std::nullopt;
  return ResultCache(string(home) + "/.cache/sous/results", limit);
}

string ResultCache::path(const string& key) const { return folder_ + "/" + key.substr(0, 2) + "/" + key.substr(2); }

std::optional<std::vector<string>> ResultCache::find_texts(const string& key) const {
  if (!is_key(key)) return std::nullopt;  // a file says it
  const auto text = tuning_db::read_file(path(key), static_cast<std::size_t>(limit_));
  if (!text) return std::nullopt;
  auto texts = unpacked(*text);
  if (!texts) return std::nullopt;
  std::error_code ignored;
  fs::last_write_time(path(key), fs::file_time_type::clock::now(), ignored);  // used: not the next to go
  return texts;
}

void ResultCache::keep_texts(const string& key, const std::vector<string>& texts, mode_t mode) const {
  std::error_code ignored;
  const string file = path(key);
  fs::create_directories(folder_of(file), ignored);
  if (!write_file(file, packed(texts), mode)) return;
  if (key[2] == '0') trim();  // by chance, one time in sixteen
}

std::optional<KeptResult> ResultCache::find(const string& key) const {
  auto texts = find_texts(key);
  if (!texts || texts->size() < 7 || (texts->size() - 7) % 3 != 0) return std::nullopt;
  auto& t = *texts;
  KeptResult result{t[0] == "served", t[1] == "1",     std::move(t[2]), std::move(t[3]),
                    std::move(t[4]),  std::move(t[5]), std::move(t[6])};
  for (std::size_t k = 7; k < t.size(); k += 3)
    result.asked.push_back({std::move(t[k]), std::move(t[k + 1]), std::move(t[k + 2])});
  return result;
}

void ResultCache::keep(const string& key, const KeptResult& r) const {
  std::vector<string> texts{
      r.served ? "served" : "left", r.diagnostics ? "1" : "0", r.warnings, r.report, r.facts, r.object, r.headers};
  for (const Asked& one : r.asked) texts.insert(texts.end(), {one.key, one.answer, one.request});
  keep_texts(key, texts, mode_for(r.asked));
}

ResultCache::Contents ResultCache::contents() const {
  Contents out;
  for (const Kept& kept : listed(folder_)) {
    ++out.results;
    out.bytes += kept.bytes;
  }
  return out;
}

void ResultCache::clear() const {
  for (const Kept& kept : listed(folder_)) {
    std::error_code ignored;
    fs::remove(kept.path, ignored);
  }
}

void ResultCache::trim() const {
  auto all = listed(folder_);
  std::int64_t bytes = 0;
  for (const Kept& kept : all) bytes += kept.bytes;
  if (bytes <= limit_) return;
  std::ranges::sort(all, {}, &Kept::used);
  for (const Kept& kept : all) {
    if (bytes <= limit_ / 10 * 9) return;
    std::error_code ignored;
    fs::remove(kept.path, ignored);
    bytes -= kept.bytes;
  }
}

string result_key(const std::vector<string>& pieces) {
  string all;
  for (const auto& piece : pieces) all += with_length(piece);
  return tuning_db::content_hash(all);
}

string file_state(const string& path) {
  struct stat s{};
  if (::stat(path.c_str(), &s) != 0) return path + ":";
  return path + ":" + std::to_string(s.st_size) + ":" + std::to_string(s.st_mtim.tv_sec) + "." +
         std::to_string(s.st_mtim.tv_nsec);
}

bool state_holds(const string& state) {
  const auto path_end = state.rfind(':', state.rfind(':') - 1);
  return path_end != string::npos && file_state(state.substr(0, path_end)) == state;
}

std::vector<string> program_state() {
  const string headers = runtime_include_path() + "/targets/runtime";
  std::vector<string> out{file_state(program_beside("sous-core")),
                          tuning_db::hardware_class(tuning_db::local_hardware())};
  std::error_code unlisted;
  std::set<string> runtime;  // what generated code includes
  for (fs::directory_iterator file(headers, unlisted), end; !unlisted && file != end; file.increment(unlisted))
    runtime.insert(file->path().string());
  for (const string& header : runtime) out.push_back(file_state(header));
  for (const char* folders : {"CPATH", "CPLUS_INCLUDE_PATH"}) out.emplace_back(variable(folders));
  return out;
}

string processor_state(string_view cpuinfo) {
  constexpr std::array said{"vendor_id", "cpu family", "model", "model name",  "stepping",       "flags",
                            "Features",  "CPU part",   "isa",   "CPU variant", "CPU implementer"};
  string state;
  for (std::size_t at = 0; at < cpuinfo.size();) {
    const auto end = std::min(cpuinfo.find('\n', at), cpuinfo.size());
    const string_view line = cpuinfo.substr(at, end - at);
    if (line.empty()) break;  // of the first processor
    const auto name = line.substr(0, line.find_first_of("\t:"));
    if (std::ranges::find(said, name) != said.end()) state += string(line) + "\n";
    at = end + 1;
  }
  return state;
}

string native_state(const std::vector<string>& options) {
  const auto native = [](const string& option) { return option.ends_with("=native"); };
  if (std::ranges::none_of(options, native)) return "";
  std::ifstream in("/proc/cpuinfo");
  string first;
  for (string line; std::getline(in, line) && !line.empty();) first += line + "\n";
  return processor_state(first);
}

std::vector<string> recipe_state(const Options& options) {
  const string database = database_path(options);
  std::vector<string> out = program_state();
  for (string& piece : server_state(options)) out.push_back(std::move(piece));
  if (options.frozen || database.empty()) return out;
  out.push_back(file_state(database));
  // The write-ahead log: what it holds is newer than the database. An empty one, or none, are the same.
  std::error_code none;
  const auto log = fs::file_size(database + "-wal", none);
  out.push_back(none || log == 0 ? "" : file_state(database + "-wal"));
  for (const auto& seed : tuning_db::seed_files()) out.push_back(file_state(seed.string()));
  return out;
}

bool may_keep(const Options& o, const string& source) {
  std::error_code error;
  // --size, --unit and --frozen are warned about where they fit nothing. What is for a GPU depends on CUDA's compiler
  // and the GPUs that are there, and on no source of recipes.
  return o.explain == Explain::No && !o.remarks && o.sizes.empty() && o.unit.empty() && !o.frozen && o.report.empty() &&
         o.target != gpu_target && o.dump_after.empty() && o.emit.empty() && !o.measure && !o.lock &&
         o.recipe.empty() && !fs::exists(lock_path(source), error);
}

}  // namespace sous::client
