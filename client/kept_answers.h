// What a recipe server answered a short while ago, kept beside the results of compiles (client/result_cache.h), so that
// who builds again does not ask again. What is kept is read as strictly as what comes from the server.
//
// A result of a compile rests on answers, too: `Asked` says on which. Such a result holds as long as the server says
// the same, and where that is too long ago to know, one request tells, without a look into the file.
#pragma once

#include <cstdint>
#include <ctime>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "client/options.h"
#include "client/result_cache.h"

namespace sous::client {

// All that decides what a server answers to a request, but for what it knows: its address, who asks, whom that is
// shown. Empty without a server.
std::vector<std::string> server_state(const Options& options);

class KeptAnswers {
 public:
  static constexpr std::size_t longest = std::size_t{4} << 20;  // longer ones are asked for each time

  // Of the options' server. `now`: seconds, by the clock of the day.
  KeptAnswers(const ResultCache& cache, const Options& options, std::int64_t now = std::time(nullptr));

  // The name of the answer to a request.
  std::string key(const std::string& request) const;
  // None where it is older than --answers says, or of the future: the clock was set back.
  std::optional<std::string> find(const std::string& key) const;
  // For its owner alone to read: a private server's answers are for who has a token.
  void keep(const std::string& key, const std::string& answer) const;
  // All of them are kept, and the server may be taken to say so still.
  bool hold(const std::vector<Asked>& asked) const;

 private:
  ResultCache cache_;
  std::vector<std::string> server_;
  std::int64_t seconds_, now_;
};

// What the server was asked for one file.
class FileAnswers {
 public:
  explicit FileAnswers(KeptAnswers kept) : kept_(std::move(kept)) {}

  // What the server answered to the request a short while ago.
  std::optional<std::string> find(const std::string& request) const { return kept_.find(kept_.key(request)); }
  // What it answered just now.
  std::optional<std::string> said(const std::string& request) const;
  // It answered just now; whether it is an answer, who reads it will see.
  void answered(const std::string& request, std::string answer);
  // This answer to the request was read, and is used.
  void used(const std::string& request, const std::string& answer);
  // What is used of all this; written down when the file has got through with it: what a compiler dies of is not kept.
  std::vector<Asked> keep() const;

  const KeptAnswers& kept() const { return kept_; }

 private:
  KeptAnswers kept_;
  std::map<std::string, std::string> new_;  // by request
  std::vector<Asked> used_;
};

}  // namespace sous::client
