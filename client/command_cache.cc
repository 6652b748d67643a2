// sous cache, sous fingerprint.
#include <algorithm>
#include <cstdio>

#include "client/commands.h"
#include "client/http.h"
#include "client/lock_source.h"
#include "client/places.h"
#include "client/process.h"
#include "client/result_cache.h"
#include "client/sources.h"
#include "tuning-db/database.h"
#include "tuning-db/hardware.h"
#include "tuning-db/hash.h"
#include "tuning-db/places.h"

namespace sous::client {
namespace {

using std::string;

// The ids of all entries: an id is a hash of all that an entry holds.
Result<std::vector<string>> database_content(const Options& options) {
  std::vector<string> ids;
  const string path = database_path(options);
  if (options.frozen || path.empty()) return ids;
  TRY(const auto store, tuning_db::Store::open({.path = path, .seeds = tuning_db::seed_files()}));
  TRY(const auto entries, store.list());
  for (const auto& entry : entries) ids.push_back(entry.id);
  std::ranges::sort(ids);
  return ids;
}

}  // namespace

Result<int> command_cache(const Invocation& invocation) {
  const string what = invocation.words.empty() ? "show" : invocation.words[0];
  if (what != "show" && what != "clear") {
    return fail("cli.value", "sous cache takes show or clear, not " + what + did_you_mean(what, {"show", "clear"}));
  }
  const auto cache = ResultCache::open();
  if (!cache) {
    std::puts("no cache: SOUS_CACHE_DIR is off");
    return 0;
  }
  if (what == "clear") cache->clear();
  const auto contents = cache->contents();
  std::printf("%s\n%lld results, %.1f of %lld MiB\n", cache->folder().c_str(), static_cast<long long>(contents.results),
              static_cast<double>(contents.bytes) / (1 << 20), static_cast<long long>(cache->limit() >> 20));
  return 0;
}

Result<int> command_fingerprint(const Invocation& invocation) {
  const Options& options = invocation.options;
  TRY(auto pieces, database_content(options));
  TRY(const string program, read_file(own_path()));
  pieces.push_back(tuning_db::content_hash(program));
  pieces.push_back(tuning_db::hardware_class(tuning_db::local_hardware()));
  pieces.push_back(options.server);
  pieces.push_back(token_from_environment().value_or(""));  // whose evidence the server gives
  for (const string& source : invocation.words) pieces.push_back(read_file(lock_path(source)).value_or(""));
  for (const bool flag : {options.frozen, options.measure, options.reassociate, options.disable}) {
    pieces.emplace_back(flag ? "1" : "0");
  }
  pieces.insert(pieces.end(), {options.target, options.recipe, options.nest});
  for (const auto& [name, value] : options.sizes) pieces.push_back(name + "=" + std::to_string(value));
  std::printf("%s\n", result_key(pieces).c_str());
  return 0;
}

}  // namespace sous::client
