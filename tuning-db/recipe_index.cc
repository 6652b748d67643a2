#include "tuning-db/recipe_index.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <queue>
#include <unordered_set>
#include <utility>

namespace sous::tuning_db {
namespace {

constexpr float nowhere = std::numeric_limits<float>::infinity();

}  // namespace

class RecipeIndex::Search {
 public:
  Search(const RecipeIndex& index, const Question& question)
      : index_(index), question_(question), left_out_(index.nests_.size()) {
    for (const std::uint32_t nest : question.without) left_out_[nest] = true;
    for (const std::uint32_t recipe : question.other_than) known_.insert(recipe);
    for (const Tree& tree : index.trees_)
      if (tree.key == question.key && (!question.wanted || question.wanted(tree.isa))) add(tree);
  }

  std::vector<Near> run() {
    while (!ahead_.empty() && ahead_.top().square <= enough(ahead_.top().square)) {
      const Ahead next = ahead_.top();
      ahead_.pop();
      const VectorTree& vectors = trees_[next.tree].tree->vectors;
      const std::uint32_t children = vectors.node(next.node).children;
      if (children == 0) {
        look_at(trees_[next.tree], next.node);
        continue;
      }
      for (const std::uint32_t child : {children, children + 1})
        ahead_.push({vectors.least_square(question_.from, child), next.tree, child});
    }
    return found();
  }

 private:
  struct Best {  // of a label
    float square = nowhere;
    std::uint32_t entry = 0;
  };
  struct Searched {
    const Tree* tree;
    std::vector<Best> best;  // by label
  };
  struct Ahead {  // a node that was not looked at; nothing in it is nearer
    float square = 0;
    std::uint32_t tree = 0, node = 0;
    bool operator>(const Ahead& other) const { return square > other.square; }
  };

  void add(const Tree& tree) {
    Searched& searched = trees_.emplace_back(&tree, std::vector<Best>(tree.says.size()));
    // Nothing is nearer than what the asker may not see.
    for (const std::uint32_t label : tree.confined)
      if (!index_.is_for(index_.says_[tree.says[label]], question_.asker)) searched.best[label].square = -1;
    ahead_.push({tree.vectors.least_square(question_.from, VectorTree::root),
                 static_cast<std::uint32_t>(trees_.size() - 1), VectorTree::root});
  }

  void look_at(Searched& searched, std::uint32_t leaf) {
    const Tree& tree = *searched.tree;
    std::array<float, VectorTree::most_in_leaf> squares;
    tree.vectors.squares(question_.from, leaf, squares);
    const auto& [first, end] = std::pair(tree.vectors.node(leaf).first, tree.vectors.node(leaf).end);
    for (std::uint32_t row = first; row < end; ++row) {
      const Row& one = tree.rows[row];
      Best& best = searched.best[one.label];
      const float square = squares[row - first];
      if (square > best.square || left_out_[one.nest]) continue;
      if (square == best.square && !goes_before(one.entry, best.entry)) continue;
      if (best.square == nowhere) touched_.emplace_back(&best, tree.says[one.label]);
      best = {square, one.entry};
      if (square < farthest_recipe()) note(index_.says_[tree.says[one.label]].recipe, square);
    }
  }
  // Of two at one distance.
  bool goes_before(std::uint32_t a, std::uint32_t b) const {
    const double gain = index_.places_[a].gain, other = index_.places_[b].gain;
    return gain != other ? gain > other : a < b;
  }

  // The nearest recipes, as many as are wanted.
  void note(std::uint32_t recipe, float square) {
    if (known_.contains(recipe)) return;
    std::erase_if(nearest_recipes_, [&](const auto& one) { return one.second == recipe && one.first >= square; });
    if (std::ranges::find(nearest_recipes_, recipe, &std::pair<float, std::uint32_t>::second) != nearest_recipes_.end())
      return;
    nearest_recipes_.insert(std::ranges::upper_bound(nearest_recipes_, std::pair(square, recipe)),
                            std::pair(square, recipe));
    if (nearest_recipes_.size() > wanted_recipes()) nearest_recipes_.pop_back();
  }
  std::size_t wanted_recipes() const { return question_.recipes - std::min(question_.recipes, known_.size()); }
  float farthest_recipe() const {
    if (nearest_recipes_.size() < wanted_recipes()) return nowhere;
    return nearest_recipes_.empty() ? 0 : nearest_recipes_.back().first;
  }

  // How far there is need to look: to the last of the recipes and of the entries that are wanted; nothing that was not
  // looked at is nearer than `next`.
  float enough(float next) {
    const float recipes = farthest_recipe();
    if (touched_.size() < question_.entries || recipes == nowhere) return nowhere;
    if (next <= recipes) return recipes;
    const auto within = [&](const auto& one) { return one.first->square <= recipes; };
    if (static_cast<std::size_t>(std::ranges::count_if(touched_, within)) >= question_.entries) return recipes;
    const auto last = touched_.begin() + static_cast<std::ptrdiff_t>(question_.entries - 1);
    std::ranges::nth_element(touched_, last, {}, [](const auto& one) { return one.first->square; });
    return last->first->square;
  }

  std::vector<Near> found() {
    const float most = enough(nowhere);
    std::vector<std::pair<Best, std::uint32_t>> last;
    std::vector<Near> result;
    std::unordered_set<std::uint32_t> recipes = known_;
    const auto add = [&](const Best& one, std::uint32_t says) {
      result.push_back({&index_.entries_[one.entry], std::sqrt(double{one.square})});
      recipes.insert(index_.says_[says].recipe);
    };
    for (const auto& [best, says] : touched_) {
      if (best->square < most || most == nowhere)
        add(*best, says);
      else if (best->square == most)
        last.emplace_back(*best, says);
    }
    std::ranges::sort(last, {}, [](const auto& one) { return one.first.entry; });
    for (const auto& [best, says] : last) {
      if (result.size() >= question_.entries && recipes.size() >= question_.recipes) break;
      add(best, says);
    }
    return result;
  }

  const RecipeIndex& index_;
  const Question& question_;
  std::vector<bool> left_out_;  // by nest
  std::unordered_set<std::uint32_t> known_;
  std::vector<Searched> trees_;
  std::vector<std::pair<const Best*, std::uint32_t>> touched_;    // with what it says
  std::vector<std::pair<float, std::uint32_t>> nearest_recipes_;  // sorted
  std::priority_queue<Ahead, std::vector<Ahead>, std::greater<>> ahead_;
};

Result<std::vector<RecipeIndex::Near>> RecipeIndex::nearest(const Question& question) const {
  const auto compared = [&](const Tree& tree) { return tree.key == question.key; };
  if (std::ranges::none_of(trees_, compared)) return std::vector<Near>{};
  if (question.from.size() != dimension_)
    return fail("nearest.dimension", "a vector of " + std::to_string(question.from.size()) +
                                         " numbers was compared with one of " + std::to_string(dimension_));
  return Search(*this, question).run();
}

namespace {

template <class Found>
const Found& found_in(const std::map<std::string_view, Found, std::less<>>& all, std::string_view hash) {
  static const Found none;
  const auto found = all.find(hash);
  return found == all.end() ? none : found->second;
}

}  // namespace

const std::vector<const Summary*>& RecipeIndex::with_hash(std::string_view hash) const {
  return found_in(by_hash_, hash);
}

const std::vector<std::uint32_t>& RecipeIndex::nests_with_hash(std::string_view hash) const {
  return found_in(nests_by_hash_, hash);
}

const std::vector<std::uint32_t>& RecipeIndex::nests_with_sizeless(std::string_view sizeless) const {
  return found_in(nests_by_sizeless_, sizeless);
}

std::optional<FeatureVector> RecipeIndex::vector(const Summary& entry) const {
  const Place& place = places_[at(entry)];
  if (place.tree == none) return std::nullopt;
  return trees_[place.tree].vectors.vector(place.row);
}

std::optional<double> RecipeIndex::distance(const Summary& entry, const FeatureVector& from) const {
  const Place& place = places_[at(entry)];
  if (place.tree == none || from.size() != dimension_) return std::nullopt;
  return trees_[place.tree].vectors.distance(from, place.row);
}

std::optional<NestKey> RecipeIndex::key(const Summary& entry) const {
  const Place& place = places_[at(entry)];
  return place.tree == none ? std::nullopt : std::optional(trees_[place.tree].key);
}

std::vector<NestKey> RecipeIndex::keys() const {
  std::vector<NestKey> keys;
  for (const Tree& tree : trees_)
    if (std::ranges::find(keys, tree.key) == keys.end()) keys.push_back(tree.key);
  return keys;
}

}  // namespace sous::tuning_db
