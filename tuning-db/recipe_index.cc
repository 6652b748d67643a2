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

// The least so many squares of different things, in order.
class NearestFew {
 public:
  explicit NearestFew(std::size_t wanted) : wanted_(wanted) {}
  // Of one thing it may be told several times.
  void note(std::uint32_t thing, float square) {
    if (square >= farthest()) return;
    std::erase_if(all_, [&](const auto& one) { return one.second == thing && one.first >= square; });
    if (std::ranges::find(all_, thing, &std::pair<float, std::uint32_t>::second) != all_.end()) return;
    all_.insert(std::ranges::upper_bound(all_, std::pair(square, thing)), std::pair(square, thing));
    if (all_.size() > wanted_) all_.pop_back();
  }
  // Of as many as are wanted; `nowhere`, if there are fewer.
  float farthest() const {
    if (all_.size() < wanted_) return nowhere;
    return all_.empty() ? 0 : all_.back().first;
  }

 private:
  std::size_t wanted_;
  std::vector<std::pair<float, std::uint32_t>> all_;
};

}  // namespace

class RecipeIndex::Search {
 public:
  Search(const RecipeIndex& index, const Question& question)
      : index_(index),
        question_(question),
        left_out_(question.without),
        known_(question.other_than.begin(), question.other_than.end()),
        recipes_(question.recipes - std::min(question.recipes, known_.size())),
        labels_(question.entries) {
    std::ranges::sort(left_out_);
    if (question.order != nullptr) {
      in_tier_.assign(index.recipes() * Order::tiers, nowhere);
      alike_ = static_cast<float>(question.order->alike * question.order->alike * (1 + 1e-5));
    }
    for (const Tree& tree : index_.trees_)
      if (tree.key == question.key && (!question.wanted || question.wanted(tree.isa))) add(tree);
  }

  std::vector<Near> run() {
    while (!ahead_.empty() && ahead_.top().square <= enough()) {
      const Ahead next = ahead_.top();
      ahead_.pop();
      if (is_of_no_use(next)) continue;
      const VectorTree& vectors = trees_[next.tree].tree->vectors;
      const std::uint32_t children = vectors.node(next.node).children;
      if (children == 0) {
        look_at(trees_[next.tree], next.node);
        continue;
      }
      for (const std::uint32_t child : {children, children + 1}) {
        // The box of a child lies in its parent's.
        const float square = std::max(next.square, vectors.least_square(question_.from, child));
        const Ahead one{square, next.tree, child};
        if (square <= enough() && !is_of_no_use(one)) ahead_.push(one);
      }
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
    // By claim: where in in_tier_ lies what comes before all that claims so; `none`: the asker may not see it.
    std::vector<std::uint32_t> before = {};
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
      if (!index_.is_for(index_.says_[tree.says[label]].only_for, question_.asker)) searched.best[label].square = -1;
    if (question_.order != nullptr)
      for (const std::uint32_t number : tree.claims) {
        const Claim& claim = index_.claims_[number];
        const bool is_seen = index_.is_for(claim.only_for, question_.asker);
        searched.before.push_back(is_seen ? place_in_tier(claim.recipe, question_.order->best(claim)) : none);
      }
    ahead_.push({tree.vectors.least_square(question_.from, VectorTree::root),
                 static_cast<std::uint32_t>(trees_.size() - 1), VectorTree::root});
  }

  static std::uint32_t place_in_tier(std::uint32_t recipe, int tier) {
    return recipe * Order::tiers + static_cast<std::uint32_t>(tier);
  }

  // Whether the node is left out, or something comes before each of its rows, of that row's recipe. As many entries as
  // are wanted are counted, whatever they say, so none is passed over before these are found; from there on the recipes
  // alone say how far there is need to look. What comes before is nearer than the node, and so within what is looked
  // at.
  bool is_of_no_use(const Ahead& node) const {
    const Searched& searched = trees_[node.tree];
    if (is_left_out(searched.tree->nodes[node.node].nest)) return true;
    if (question_.order == nullptr || node.square <= alike_ || labels_.farthest() >= node.square) return false;
    const auto claims = searched.tree->claims_of(node.node);
    return !claims.empty() && std::ranges::all_of(claims, [&](std::uint32_t claim) {
      const std::uint32_t place = searched.before[claim];
      return place == none || in_tier_[place] < node.square;
    });
  }

  bool is_left_out(std::uint32_t nest) const { return std::ranges::binary_search(left_out_, nest); }

  void look_at(Searched& searched, std::uint32_t leaf) {
    const Tree& tree = *searched.tree;
    std::array<float, VectorTree::most_in_leaf> squares;
    tree.vectors.squares(question_.from, leaf, squares);
    const auto& [first, end] = std::pair(tree.vectors.node(leaf).first, tree.vectors.node(leaf).end);
    for (std::uint32_t row = first; row < end; ++row) {
      const Row& one = tree.rows[row];
      Best& best = searched.best[one.label];
      const float square = squares[row - first];
      if (square > best.square || is_left_out(one.nest)) continue;
      if (square == best.square && !goes_before(one.entry, best.entry)) continue;
      if (best.square == nowhere) touched_.emplace_back(&best, tree.says[one.label]);
      const bool is_nearer = square < best.square;
      best = {square, one.entry};
      if (is_nearer) note(tree.says[one.label], square);
    }
  }
  // Of two at one distance.
  bool goes_before(std::uint32_t a, std::uint32_t b) const {
    const double gain = index_.places_[a].gain, other = index_.places_[b].gain;
    return gain != other ? gain > other : a < b;
  }

  void note(std::uint32_t number, float square) {
    const Says& says = index_.says_[number];
    if (square < recipes_.farthest() && !known_.contains(says.recipe)) recipes_.note(says.recipe, square);
    // All of them: there is no need to know which are nearest.
    if (question_.entries != all_entries) labels_.note(number, square);
    if (question_.order == nullptr) return;
    // In the worst tier in which what says so may come: another of its entries may be nearer yet.
    float* tiers = &in_tier_[place_in_tier(says.recipe, 0)];
    if (square >= tiers[0]) return;  // in all of them is something as near
    for (int tier = question_.order->worst(says); tier < Order::tiers; ++tier)
      tiers[tier] = std::min(tiers[tier], square);
  }

  // How far there is need to look: to the last of the recipes and of the entries that are wanted.
  float enough() const { return std::max(recipes_.farthest(), labels_.farthest()); }

  std::vector<Near> found() {
    const float most = enough();
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
  std::vector<std::uint32_t> left_out_;  // nests, sorted
  std::unordered_set<std::uint32_t> known_;
  NearestFew recipes_, labels_;  // labels: what they say
  std::vector<Searched> trees_;
  std::vector<std::pair<const Best*, std::uint32_t>> touched_;  // with what it says
  // By recipe and tier: the least square of what comes in this tier or before it.
  std::vector<float> in_tier_;
  float alike_ = 0;
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

template <class Key, class Found>
const Found& found_in(const std::map<Key, Found, std::less<>>& all, std::string_view hash) {
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

const std::vector<std::uint32_t>& RecipeIndex::recipes_measured_on(std::string_view hardware_class) const {
  return found_in(recipes_measured_on_, hardware_class);
}

std::optional<FeatureVector> RecipeIndex::vector(const Summary& entry) const {
  const Place& place = places_[at(entry)];
  if (place.tree == none) return std::nullopt;
  return trees_[place.tree].vectors.vector(place.row);
}

bool RecipeIndex::may_tell_distance(const Summary& entry, const FeatureVector& from) const {
  return places_[at(entry)].tree != none && from.size() == dimension_;
}

std::optional<double> RecipeIndex::distance(const Summary& entry, const FeatureVector& from) const {
  const Place& place = places_[at(entry)];
  if (!may_tell_distance(entry, from)) return std::nullopt;
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
