// What the page shows of the database, as JSON: its nests on a map and in lists, each with its measurements, and the
// machines. `asker`: the name of the token of who asks; what another name alone vouches for is not shown.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "sdfg/result.h"
#include "server/lift.h"
#include "tuning-db/atlas.h"
#include "tuning-db/entry.h"
#include "tuning-db/jobs.h"
#include "tuning-db/view.h"
#include "tuning-db/wanted.h"

namespace sous::server {

inline constexpr std::size_t most_listed = 100;         // nests in one answer of a search
inline constexpr std::size_t most_looked_at = 200'000;  // nests that the asker may see, for one answer of a search
inline constexpr std::size_t most_measurements = 500;   // of one nest

std::string map_json(const tuning_db::Atlas& atlas, std::string_view asker);

// Those of which an entry's name has `words` in it, or the hash or an entry's id begins with them; behind the nest with
// the hash `after`, in order of hash. After `most` that were looked at, or when enough are listed, the answer names the
// one that the search goes on behind.
std::string nests_json(const tuning_db::View& view, std::string_view words, std::string_view after,
                       std::string_view asker, std::size_t most = most_looked_at);

// The visible entries with this hash; none: the nest is not there.
std::vector<const tuning_db::Summary*> entries_of(const tuning_db::View& view, std::string_view hash,
                                                  std::string_view asker);
// `entries`: of one nest, not none; `one`: one of them, in full.
std::string nest_json(const tuning_db::View& view, const std::vector<const tuning_db::Summary*>& entries,
                      const tuning_db::Entry& one);

// What a server knows of work, for who may know it.
struct Work {
  std::vector<tuning_db::Wanted> wanted;
  std::vector<tuning_db::JobState> jobs;
};
// `work`: null where who asks may not know.
std::string machines_json(const tuning_db::View& view, const Work* work, std::string_view asker);

// Answers about one view, made once: of a million entries that of the machines takes a tenth of a second.
class KeptAnswers {
 public:
  // `make` is called by one thread at a time.
  std::string of(const std::shared_ptr<const tuning_db::View>& view, const std::string& asker,
                 const std::function<std::string()>& make);

 private:
  std::mutex mutex_;
  std::shared_ptr<const tuning_db::View> view_;
  std::map<std::string, std::string> answers_;  // by asker
};

// `matches`: parallel to the request's nests.
std::string lifted_json(const tuning_db::View& view, const LiftedSource& lifted,
                        const std::vector<std::vector<transforms::Match>>& matches);

}  // namespace sous::server
