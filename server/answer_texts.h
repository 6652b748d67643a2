// Matches as the text that answers consist of, each written once. An id stands for all that an entry holds, so what was
// written stays true. Threads may share one.
#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "server/protocol.h"
#include "tuning-db/database.h"

namespace sous::server {

class AnswerTexts {
 public:
  // The text of a nest is shared by its entries, and counted for each.
  static constexpr std::size_t most = 65'536, most_bytes = std::size_t{64} << 20;
  // Of each nest the first k that can be read. Errors: those of Database::tell.
  Result<std::vector<std::vector<MatchText>>> of(tuning_db::Database& database, const tuning_db::RankedEntries& ranked,
                                                 int k);

 private:
  std::optional<MatchText> known(const std::string& id);
  void keep(const std::string& id, const MatchText& text);

  std::mutex mutex_;
  std::unordered_map<std::string, MatchText> by_id_;
  std::size_t bytes_ = 0;
};

}  // namespace sous::server
