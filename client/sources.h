// The recipe sources of a build, asked in this order: lock file, local database, server.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/options.h"
#include "client/pipeline.h"
#include "client/result_cache.h"
#include "transforms/source.h"

namespace sous::client {

class FileAnswers;
class LockSource;
struct ServerTime;

// Of the source file `source`. Its lock file is read once.
class BuildSources {
 public:
  BuildSources(std::string source, const Options& options);

  // From now on a server is not asked what it answered a short while ago.
  void keep_answers_in(const ResultCache& cache);
  // Whether a result that rests on these answers is what the server would have it now. It is asked where that is not
  // known; what it said last holds where it gives no answer.
  bool still_said(const std::vector<Asked>& asked);
  // What is used of the server, kept from now on. Nullopt: there was no time to try all of it, and what came of that is
  // the moment's.
  std::optional<std::vector<Asked>> asked() const;

  // For `optimize`. --frozen: the lock file alone. The database is asked for what the lock file does not pin, the
  // server for what was not measured, for this very nest and about this size, on a machine of this class. A source that
  // cannot be opened or does not answer is named in the notes and left out.
  Result<std::unique_ptr<transforms::RecipeSource>> open(const tuning_db::Hardware& hardware,
                                                         std::vector<std::string>& notes);
  OpenSources opener() {
    return [this](const auto& hardware, auto& notes) { return open(hardware, notes); };
  }
  // --frozen: says of what the lock file pins another form, because it changed since. `nests`: of the source file.
  void warn_of_stale_lock(const std::vector<NestReport>& nests);
  // Writes what was used into the lock file where that is asked for. Errors: those of the lock file.
  Result<void> pin(const Outcome& outcome);
  // SOUS_SHARE: tells the server what the outcome lacks, within what asking it has left of the deadline.
  void share(const Outcome& outcome) const;

 private:
  // Error: lock.corrupt.
  Result<std::shared_ptr<LockSource>> lock();
  bool still_says(const Asked& one);

  std::string source_;
  const Options& options_;
  std::shared_ptr<ServerTime> time_;                         // that the server takes
  std::shared_ptr<FileAnswers> answers_;                     // null: none are kept
  std::optional<Result<std::shared_ptr<LockSource>>> lock_;  // nullopt: not looked for yet
};

}  // namespace sous::client
