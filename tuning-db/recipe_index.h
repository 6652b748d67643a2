// All entries of a database in memory: by structural hash, and by what their measurements say. Entries say the same
// when they carry the same recipe, measured on the same class of machine at the same size class with the same threads,
// with a gain or without one, for the same askers; many do. Of those the one with the greatest gain stands for the
// others where the nest itself is asked about, and where neighbours are looked for, the nearest (of equally near ones,
// the one with the greatest gain).
//
// The search is exact: neighbours lie in trees (tuning-db/vector_tree.h), one for each element type, depth and
// instruction set, and those parts of them are looked at, nearest first, that may hold something nearer than what is
// needed. Parts of some hundred vectors hold few recipes, though nearly as many different measurements as vectors: who
// says in which order entries of one recipe are taken does without parts whose recipes are all found nearer by.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sdfg/result.h"
#include "tuning-db/features.h"
#include "tuning-db/size_class.h"
#include "tuning-db/store.h"
#include "tuning-db/vector_tree.h"

namespace sous::tuning_db {

class RecipeIndex {
 public:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  static constexpr std::size_t all_entries = ~std::size_t{0};

  // Both in order of id; entries without a vector are found by their hash alone. Error: nearest.dimension.
  static Result<RecipeIndex> build(std::vector<Summary> entries, const std::vector<StoredVector>& vectors);

  // What entries say, whichever machine measured them.
  struct Claim {
    std::uint32_t recipe = 0;
    std::optional<SizeClass> size = std::nullopt;
    bool gains = false;
    std::uint32_t only_for = 0;   // 0: everyone
    bool has_thresholds = false;  // of some entry
  };
  // What entries say, as numbers that are equal where it is the same.
  struct Says {
    std::uint32_t recipe = 0;
    std::uint32_t measured_by = 0;  // of `measurers`
    std::optional<SizeClass> size = std::nullopt;
    Isa isa = Isa::scalar;
    bool gains = false;
    std::uint32_t only_for = 0;  // 0: everyone
    std::uint32_t claim = 0;
    // Of all entries that say so.
    double least_gain = 0;
    bool all_have_thresholds = false;
  };
  // In which order entries of one recipe are taken: by tier, the smaller the better, then by distance.
  struct Order {
    static constexpr int tiers = 4;
    std::function<int(const Claim&)> best;  // in which tier entries may be that claim so,
    std::function<int(const Says&)> worst;  // and those that say so
    double alike = 0;                       // what is no farther than this is equally near
  };
  // A class of machines, and threads.
  using Measurer = std::pair<std::string_view, int>;

  struct Near {
    const Summary* entry = nullptr;
    double distance = 0;
  };
  struct Question {
    const FeatureVector& from;
    NestKey key;
    std::vector<std::uint32_t> without = {};    // nests
    std::function<bool(Isa)> wanted = nullptr;  // null: all instruction sets
    std::string_view asker = {};
    std::size_t entries = all_entries, recipes = 0;  // so many at least, and of so many recipes
    std::vector<std::uint32_t> other_than = {};      // recipes that do not count
    const Order* order = nullptr;
  };
  // One for each of what measurements say, as far away as it takes to have as many as are wanted, and none that is
  // farther. With an order, what is behind another one of its recipe, in tier and distance both, may be missing, or be
  // represented by one that is farther. Error: nearest.dimension.
  Result<std::vector<Near>> nearest(const Question& question) const;

  const std::vector<Summary>& entries() const { return entries_; }
  // What ranking needs of an entry, close together.
  struct Place {
    std::uint32_t says = 0, nest = 0, tree = none, row = 0;
    double gain = 0;  // Summary::ratio
    bool has_thresholds = false;
  };
  const Place& place(const Summary& entry) const { return places_[at(entry)]; }
  const Says& says(std::uint32_t number) const { return says_[number]; }
  // Who may see what is for these, as Says has them.
  bool is_for(std::uint32_t only_for, std::string_view asker) const {
    return only_for == 0 || is_among(asker, parties_[only_for]);
  }
  const std::vector<Measurer>& measurers() const { return measurers_; }
  // Of which some entry was measured on this class, as hardware_class writes it; sorted.
  const std::vector<std::uint32_t>& recipes_measured_on(std::string_view hardware_class) const;
  std::size_t recipes() const { return recipe_count_; }  // all are smaller

  // A nest: of one structural hash and one sizeless hash. `family`: equal for those that differ in sizes alone.
  struct Nest {
    std::string_view hash, sizeless;
    std::uint32_t family = 0;
    std::vector<const Summary*> strongest = {};  // of what says the same
  };
  const Nest& nest(std::uint32_t number) const { return nests_[number]; }
  const std::vector<std::uint32_t>& nests_with_hash(std::string_view hash) const;
  const std::vector<std::uint32_t>& nests_with_sizeless(std::string_view sizeless) const;

  const std::vector<const Summary*>& with_hash(std::string_view hash) const;
  std::optional<FeatureVector> vector(const Summary& entry) const;  // of an entry of this index
  std::optional<double> distance(const Summary& entry, const FeatureVector& from) const;
  bool may_tell_distance(const Summary& entry, const FeatureVector& from) const;  // as distance does, at no cost
  std::optional<NestKey> key(const Summary& entry) const;                         // the same
  std::vector<NestKey> keys() const;
  // All, in order of hash; those of one in order of id.
  using ByHash = std::map<std::string_view, std::vector<const Summary*>, std::less<>>;
  const ByHash& by_hash() const { return by_hash_; }

  RecipeIndex(RecipeIndex&&) = default;
  RecipeIndex& operator=(RecipeIndex&&) = default;

 private:
  struct Row {
    std::uint32_t entry = 0, nest = 0;
    std::uint32_t label = 0;  // its place in the tree's `says`
  };
  struct InNode {
    std::uint32_t nest = none;  // of all its rows
    // Which its rows make, where they are few; otherwise none are listed.
    std::uint32_t first_claim = 0, claims = 0;
  };
  struct Tree {
    NestKey key;
    Isa isa = Isa::scalar;
    VectorTree vectors;
    std::vector<Row> rows;
    std::vector<std::uint32_t> says;
    std::vector<std::uint32_t> confined;  // labels of what is not for everyone
    std::vector<std::uint32_t> claims;    // by the tree's own numbers
    std::vector<InNode> nodes;
    std::vector<std::uint32_t> claims_of_nodes;
    std::span<const std::uint32_t> claims_of(std::uint32_t node) const {
      return std::span(claims_of_nodes).subspan(nodes[node].first_claim, nodes[node].claims);
    }
  };
  class Builder;
  class Search;
  using NestsOf = std::map<std::string_view, std::vector<std::uint32_t>, std::less<>>;

  RecipeIndex() = default;
  std::size_t at(const Summary& entry) const { return static_cast<std::size_t>(&entry - entries_.data()); }

  std::vector<Summary> entries_;
  ByHash by_hash_;
  std::vector<Place> places_;  // beside the entries
  std::vector<Nest> nests_;
  NestsOf nests_by_hash_, nests_by_sizeless_;
  std::vector<Says> says_;
  std::vector<Claim> claims_;
  std::map<std::string, std::vector<std::uint32_t>, std::less<>> recipes_measured_on_;
  std::size_t recipe_count_ = 0;
  std::vector<Measurer> measurers_;
  std::vector<std::string_view> parties_;  // by Says::only_for; everyone's is empty
  std::vector<Tree> trees_;
  std::size_t dimension_ = 0;
};

}  // namespace sous::tuning_db
