// What became of a file, by everything that it depends on: the preprocessed text, the compiler and its options, the
// database and its seeds, this program. A hit spares all of Sous's work, and where something is served also both
// compiles: the entry holds the object.
//
// A folder of files, one for each result, written beside their place and renamed, so that builds in parallel share it;
// the least recently used go when it is larger than its limit. Nothing else than time depends on what it holds: an
// entry that is damaged is none.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/options.h"

namespace sous::client {

// What a server was asked for a result: where its answer lies, a hash of that, and the request (client/kept_answers.h).
struct Asked {
  std::string key, answer, request;
  bool operator==(const Asked&) const = default;
};

struct KeptResult {
  bool served = false;       // `object` is it; otherwise the original command is to run
  bool diagnostics = false;  // the compiler says something about the user's code
  std::string warnings;      // whose options these are (warning_options), one after the other
  std::string report;        // JSON, for $SOUS_REPORT
  std::string facts;         // stats_facts of it, for `sous stats`
  std::string object;
  std::string headers = {};  // that it was compiled with (header_states)
  std::vector<Asked> asked = {};
  bool operator==(const KeptResult&) const = default;
};

class ResultCache {
 public:
  // $SOUS_CACHE_DIR, or sous/results in the user's cache folder. Nullopt: SOUS_CACHE_DIR is "off", or there is no home.
  static std::optional<ResultCache> open();
  explicit ResultCache(std::string folder, std::int64_t limit_bytes)
      : folder_(std::move(folder)), limit_(limit_bytes) {}

  std::optional<KeptResult> find(const std::string& key) const;
  // A failure is none of the build's.
  void keep(const std::string& key, const KeptResult& result) const;
  // The same for any row of texts.
  std::optional<std::vector<std::string>> find_texts(const std::string& key) const;
  void keep_texts(const std::string& key, const std::vector<std::string>& texts, mode_t mode = 0666) const;
  // What rests on a server's answers its owner alone reads: a private server's are for who has a token.
  static mode_t mode_for(const std::vector<Asked>& asked) { return asked.empty() ? 0666 : 0600; }

  struct Contents {
    std::int64_t results = 0, bytes = 0;
  };
  Contents contents() const;
  void clear() const;
  // Removes the least recently used until nine tenths of the limit are left.
  void trim() const;
  const std::string& folder() const { return folder_; }
  std::int64_t limit() const { return limit_; }

 private:
  std::string path(const std::string& key) const;
  std::string folder_;
  std::int64_t limit_;
};

// Every piece, its length before it, as one hash.
std::string result_key(const std::vector<std::string>& pieces);
// What a file is without reading it: path, size, time of change; "path:" if there is none.
std::string file_state(const std::string& path);
// Whether the file that a state of it names has the same one.
bool state_holds(const std::string& state);
// The state of what generated code is made with: this program, the headers that it brings, the machine; and where
// compilers are told to look for more.
std::vector<std::string> program_state();
// What the processor is and has, where one of the options asks for that (-march=native): the class of a machine does
// not say which instructions it takes. Else empty.
std::string native_state(const std::vector<std::string>& options);
// The same of the text of /proc/cpuinfo.
std::string processor_state(std::string_view cpuinfo);
// The state of all that decides which recipe a nest gets, but for the nest, the lock file and what a server answers:
// that, the database and its seeds, which server is asked and who asks.
std::vector<std::string> recipe_state(const Options& options);
// Whether results under these options may be kept: nothing else is to be said or written, no lock file is beside the
// source.
bool may_keep(const Options& options, const std::string& source);

}  // namespace sous::client
