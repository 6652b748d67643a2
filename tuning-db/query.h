// The entries that a query may be answered with, in order, before their nests are read: of the very nest, of what
// differs from it in sizes alone, and of neighbours (tuning-db/database.h has the order).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "transforms/source.h"
#include "tuning-db/hardware.h"
#include "tuning-db/ranking.h"
#include "tuning-db/view.h"

namespace sous::tuning_db {

// What is asked about one nest.
class NestQuestion {
 public:
  NestQuestion(const transforms::NestQuery& nest, std::size_t matches, const Embedding& embedding);

  const transforms::NestQuery& nest;
  const std::size_t matches;  // that are wanted
  const AskedSize size;
  const std::string sizeless;
  const NestKey& key();
  const Result<FeatureVector>& vector();

 private:
  const Embedding& embedding_;
  std::optional<NestKey> key_;
  std::optional<Result<FeatureVector>> vector_;
};

// One query's: what it looks at stays as it is until it ends.
class QueryRanking {
 public:
  // `asker`: the name of its token. `store`: of a view that does not hold all entries.
  QueryRanking(const View& view, const Embedding& embedding, const Hardware& from, std::string_view asker,
               const Store* store)
      : view_(view),
        embedding_(embedding),
        isa_(from.isa),
        asker_(asker),
        beliefs_(hardware_class(from)),
        store_(store) {}

  // Of each recipe the best; some more than are wanted. They live as long as this.
  Result<std::vector<EntryCandidate>> of(const transforms::NestQuery& nest, std::size_t matches);

 private:
  using Candidates = std::vector<EntryCandidate>;

  // Where all is in memory.
  Result<Candidates> gather(const RecipeIndex& index, NestQuestion& asked);
  void add_nest(const RecipeIndex& index, std::uint32_t nest, NestQuestion& asked, Kinship kinship, Candidates& to);
  Result<void> add_neighbours(const RecipeIndex& index, NestQuestion& asked, const std::vector<std::uint32_t>& own,
                              Candidates& to);
  EntryCandidate candidate(const RecipeIndex& index, const Summary& entry, const NestQuestion& asked);
  RecipeIndex::Order order(const RecipeIndex& index, const NestQuestion& asked);
  const Discount& discount(const RecipeIndex& index, std::uint32_t measured_by);

  // Of a build, which asks once, the rows are read as they are needed.
  Result<Candidates> gather(const Store& store, NestQuestion& asked);
  void add_rows(const std::vector<const Summary*>& rows, NestQuestion& asked, Kinship kinship, Candidates& to);
  Result<Candidates> neighbours(const Store& store, NestQuestion& asked, const std::vector<const Summary*>& own);
  Result<void> add_hits(const Store& store, const std::vector<Hit>& hits, const NestQuestion& asked, Candidates& to);
  EntryCandidate candidate(const Summary& row, const NestQuestion& asked);
  std::vector<const Summary*> keep(std::vector<Summary> rows);

  const View& view_;
  const Embedding& embedding_;
  const Isa isa_;
  const std::string_view asker_;
  Beliefs beliefs_;
  const Store* const store_;
  std::vector<std::optional<Discount>> discounts_;             // by the index's measurers
  std::optional<std::vector<bool>> measured_here_;             // by the index's recipes
  std::map<std::string, Summary> rows_;                        // that were read, by id
  std::map<std::string_view, std::uint32_t> recipes_, nests_;  // of theirs, as numbers
};

}  // namespace sous::tuning_db
