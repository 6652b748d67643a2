// The tuning database as a source of recipes: exact structural hash first, then nearest neighbours.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "transforms/source.h"
#include "tuning-db/hardware.h"
#include "tuning-db/store.h"

namespace sous::tuning_db {

struct View;

// What one nest is answered with: entries of `view`, best first, of which the first that can be read count.
struct RankedEntry {
  const Summary* entry = nullptr;
  double distance = 0;
};
struct RankedEntries {
  std::shared_ptr<const View> view;
  std::vector<std::vector<RankedEntry>> nests;
};

// An entry as an answer repeats it.
struct ToldEntry {
  transforms::Match match;                  // without its nest, at no distance
  std::shared_ptr<const std::string> nest;  // as JSON
};

// Order of the matches of one nest. Those with its structural hash come first, then those that differ from it in sizes
// alone (transforms/sizeless.h), then neighbours, of one element type and depth, of the same instruction set first.
// Within each: measured on like hardware and at a size that speaks for it, on like hardware, the rest; then, for the
// nest itself, a size like its own (which its arrays suggest, where it is not known), and the larger gain; for
// neighbours, the smaller distance; ties by id. The same recipe is given once.
//
// Distances. 0: the nest itself, whatever its sizes, measured at a size that speaks for this one (or the asking build
// does not know its sizes, and guards the call by the measured shape). Otherwise the Euclidean distance of the
// embeddings, at least `not_exact`.
inline constexpr double not_exact = 1e-3;

// Threads may share one. They take turns, and each sees what is in the file when it asks; or, with `follow`, they are
// answered at once from a view that is as old as its interval, and wait neither for each other nor for who writes.
class Database final : public transforms::RecipeSource {
 public:
  // `hardware`: the machine that asks, unless a query names another.
  static Result<std::unique_ptr<Database>> open(const StoreOptions& options, Hardware hardware = local_hardware());
  static std::unique_ptr<Database> over(Store store, Hardware hardware = local_hardware());
  ~Database() override;

  bool may_know(const sdfg::Sdfg& lifted) override;
  transforms::Reach reach() override;
  Result<std::vector<std::vector<transforms::Match>>> query(const std::vector<transforms::NestQuery>& nests,
                                                            int k) override;
  // `asker`: the name of its token; what that name alone vouches for is answered to it and nobody else.
  Result<std::vector<std::vector<transforms::Match>>> query(const std::vector<transforms::NestQuery>& nests, int k,
                                                            const Hardware& hardware, std::string_view asker = {});

  // The same for who answers with text: first which they are, from what is in memory, then what they say. Some may come
  // behind the k-th. `k`: at least 0.
  Result<RankedEntries> rank(const std::vector<transforms::NestQuery>& nests, int k, const Hardware& hardware,
                             std::string_view asker = {});
  // Of a view of this database. Its nest is read once for all of its entries. Nullopt: it cannot be read, or is gone;
  // it hides no other. Errors: those of Store::nest, db.unreachable.
  Result<std::optional<ToldEntry>> tell(const Summary& entry);

  // From now on entries, vectors and what is read of nests stay in memory, and a thread of its own sees to it that they
  // are those of the file, also of one that takes the place of this one. `looked` is told by that thread what came of
  // each look. Errors: those of Store::open.
  Result<void> follow(std::chrono::milliseconds interval, std::function<void(const Result<void>&)> looked = {});

  // By id or prefix, if it is for `asker`. Errors: those of Store::get.
  Result<std::optional<Entry>> get(const std::string& id, std::string_view asker = {});
  Result<std::int64_t> entries();  // how many
  // All entries and their vectors, as of now or of the last look: `recipes()` of it is there.
  Result<std::shared_ptr<const View>> whole();
  // Whether the file is still there, the one that was opened, as long as it says it is, and what answers are made of;
  // waits for nobody. Errors: db.gone, db.replaced, db.corrupt, and why the file as it is now cannot be followed.
  Result<void> sound() const;
  // Of the file that answers are made of. Error: db.unreachable, of a database that is known not to answer.
  Result<FileIdentity> identity() const;

  // For the commands that maintain it; a caller with several threads uses only the functions above.
  Store& store();

 private:
  struct Impl;
  class Query;
  explicit Database(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// As what a source returns an entry: `distance` and `source` are the caller's.
transforms::Match match_of(const Entry& entry, double distance, transforms::Origin origin);

}  // namespace sous::tuning_db
