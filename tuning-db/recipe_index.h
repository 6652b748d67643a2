// All entries of a database in memory, for one that is asked again and again: by hash, and by likeness. A search looks
// at each vector of the right kind once, and keeps of all measurements that say the same (one recipe, on one class of
// machine, at one size class, a gain or none, for the same who ask) the nearest. So many measurements of one recipe
// hide no other recipe, and a search costs the same whatever they are: 88 numbers for each vector.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sdfg/result.h"
#include "tuning-db/features.h"
#include "tuning-db/store.h"

namespace sous::tuning_db {

class RecipeIndex {
 public:
  // Both in order of id; entries without a vector are found by their hash alone. Error: nearest.dimension.
  static Result<RecipeIndex> build(std::vector<Summary> entries, const std::vector<StoredVector>& vectors);

  struct Near {
    const Summary* entry = nullptr;
    double distance = 0;
    Isa isa = Isa::scalar;
  };
  // One for each of what measurements say, nearest first, equal distances in order of id; none of `without`, which are
  // entries of this index. Error: nearest.dimension.
  Result<std::vector<Near>> search(const FeatureVector& query, const NestKey& key,
                                   const std::vector<const Summary*>& without) const;

  const std::vector<Summary>& entries() const { return entries_; }
  const std::vector<const Summary*>& with_hash(std::string_view hash) const;
  const std::vector<const Summary*>& with_sizeless(std::string_view sizeless) const;
  std::optional<FeatureVector> vector(const Summary& entry) const;  // of an entry of this index
  std::optional<NestKey> key(const Summary& entry) const;           // the same
  std::vector<NestKey> keys() const;
  // All, in order of hash; those of one in order of id.
  using ByHash = std::map<std::string_view, std::vector<const Summary*>, std::less<>>;
  const ByHash& by_hash() const { return by_hash_; }

  RecipeIndex(RecipeIndex&&) = default;
  RecipeIndex& operator=(RecipeIndex&&) = default;

 private:
  struct Group {  // of one key
    NestKey key;
    std::vector<std::uint32_t> members, labels;  // positions among the entries; what they say
    std::vector<float> numbers;                  // row by row, each padded with zeros
  };
  struct Row {
    std::uint32_t group = 0, row = 0;
  };
  RecipeIndex() = default;

  std::vector<Summary> entries_;
  ByHash by_hash_, by_sizeless_;
  std::vector<std::optional<Row>> rows_;  // beside the entries
  std::vector<Group> groups_;
  std::vector<Isa> isas_;  // of the labels
  std::size_t dimension_ = 0, padded_ = 0;
};

}  // namespace sous::tuning_db
