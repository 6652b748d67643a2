// All entries of a database in memory, for one that is asked again and again: by hash, and by likeness. A search gives
// of all measurements that say the same (one recipe, on one class of machine, at one size class, a gain or none, for
// the same who ask) the nearest. So many measurements of one recipe hide no other recipe.
//
// The vectors of one nest lie near each other, the more so at like sizes: some dozens are a cluster, with its middle
// and how far they are from it. A search looks at each cluster's middle, and at the vectors of those alone that may
// hold something nearer than what it has. It is exact: 88 numbers for each cluster, and for each entry of the nearest
// ones.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <string>
#include <string_view>
#include <unordered_map>
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
  // One for each of what measurements say, nearest first, equal distances in order of id, as far as somebody asks: none
  // is looked for before. Lives as long as its index.
  class Search;
  // Of those alone whose instruction set `wanted` takes (null: all); none of `without`, which are entries of this
  // index. Error: nearest.dimension.
  Result<Search> search(const FeatureVector& query, const NestKey& key, const std::vector<const Summary*>& without,
                        const std::function<bool(Isa)>& wanted = nullptr) const;

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
  struct Cluster {  // of one nest and instruction set, at like sizes
    std::uint32_t first = 0, end = 0;
    float radius = 0;  // that is the farthest of them from the middle
    Isa isa = Isa::scalar;
  };
  struct Group {  // of one key
    NestKey key;
    std::vector<std::uint32_t> members, labels;  // positions among the entries; what they say; cluster by cluster
    std::vector<float> numbers, middles;         // row by row, each padded with zeros
    std::vector<Cluster> clusters;
  };
  using Vectors = std::vector<const StoredVector*>;  // beside the entries
  struct Row {
    std::uint32_t group = 0, row = 0;
  };
  RecipeIndex() = default;
  void add_rows(std::uint32_t group, const Vectors& vectors);
  void add_cluster(Group& group, std::uint32_t first, std::uint32_t end, Isa isa) const;

  std::vector<Summary> entries_;
  ByHash by_hash_, by_sizeless_;
  std::vector<std::optional<Row>> rows_;  // beside the entries
  std::vector<Group> groups_;
  std::size_t dimension_ = 0, padded_ = 0;
};

class RecipeIndex::Search {
 public:
  std::optional<Near> next();

 private:
  friend class RecipeIndex;
  struct Found {
    float square = 0;
    std::uint32_t member = 0, label = 0;
    Isa isa = Isa::scalar;
    bool operator>(const Found& other) const {
      return square != other.square ? square > other.square : member > other.member;
    }
  };
  struct Ahead {  // a cluster that was not looked at; nothing in it is nearer
    float distance = 0;
    std::uint32_t cluster = 0;
    auto operator<=>(const Ahead&) const = default;
  };
  explicit Search(const RecipeIndex& index) : index_(index) {}
  void look_at(const Cluster& cluster);

  const RecipeIndex& index_;
  const Group* group_ = nullptr;
  std::vector<float> query_;
  std::vector<bool> left_out_;  // beside the entries
  std::priority_queue<Ahead, std::vector<Ahead>, std::greater<>> ahead_;
  std::priority_queue<Found, std::vector<Found>, std::greater<>> found_;
  std::unordered_map<std::uint32_t, Found> best_;  // by label, of what was looked at
};

}  // namespace sous::tuning_db
