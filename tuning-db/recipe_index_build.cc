#include <algorithm>
#include <cmath>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "tuning-db/hardware.h"
#include "tuning-db/recipe_index.h"

namespace sous::tuning_db {
namespace {

// Numbers for values, from 0 on, in the order in which they come.
template <class Value, class Hash = std::hash<Value>>
class Numbers {
 public:
  std::uint32_t of(const Value& value) {
    return numbers_.try_emplace(value, static_cast<std::uint32_t>(numbers_.size())).first->second;
  }
  std::size_t size() const { return numbers_.size(); }

 private:
  std::unordered_map<Value, std::uint32_t, Hash> numbers_;
};

struct MixedHash {
  template <class A, class B>
  std::size_t operator()(const std::pair<A, B>& value) const {
    return std::hash<A>()(value.first) * 0x9e3779b97f4a7c15 + std::hash<B>()(value.second);
  }
};

}  // namespace

class RecipeIndex::Builder {
 public:
  explicit Builder(std::vector<Summary> entries) {
    index_.entries_ = std::move(entries);
    index_.places_.resize(index_.entries_.size());
    index_.parties_.emplace_back();
  }

  Result<RecipeIndex> run(const std::vector<StoredVector>& vectors) {
    std::vector<const StoredVector*> of(index_.entries_.size(), nullptr);
    TRY_VOID(find(vectors, of));
    for (std::size_t k = 0; k < of.size(); ++k) {
      add_nest(k);
      add_says(k, of[k] ? of[k]->isa : Isa::scalar);
    }
    std::vector<std::vector<std::uint32_t>> members;  // of each tree
    for (std::size_t k = 0; k < of.size(); ++k)
      if (of[k]) {
        const std::uint32_t tree = tree_of(*of[k]);
        if (members.size() <= tree) members.resize(tree + 1);
        members[tree].push_back(static_cast<std::uint32_t>(k));
      }
    for (std::size_t tree = 0; tree < members.size(); ++tree) fill(index_.trees_[tree], members[tree], of);
    for (std::uint32_t tree = 0; tree < index_.trees_.size(); ++tree)
      for (std::uint32_t row = 0; row < index_.trees_[tree].rows.size(); ++row) {
        Place& place = index_.places_[index_.trees_[tree].rows[row].entry];
        place.tree = tree;
        place.row = row;
      }
    index_.recipe_count_ = recipes_.size();
    find_measured_on();
    find_strongest();
    return std::move(index_);
  }

 private:
  // The vectors beside the entries.
  Result<void> find(const std::vector<StoredVector>& vectors, std::vector<const StoredVector*>& of) {
    if (!vectors.empty()) index_.dimension_ = vectors.front().vector.size();
    std::size_t at = 0;
    for (const StoredVector& v : vectors) {
      while (at < index_.entries_.size() && index_.entries_[at].id < v.id) ++at;
      if (at == index_.entries_.size() || index_.entries_[at].id != v.id) continue;  // of an entry that came meanwhile
      if (v.vector.size() != index_.dimension_ || v.vector.empty() ||
          !std::ranges::all_of(v.vector, [](float x) { return std::isfinite(x); }))
        return fail("nearest.dimension", "a stored vector is of another length, or not finite; rebuild the index",
                    "entry " + v.id);
      of[at] = &v;
    }
    return {};
  }

  void add_nest(std::size_t k) {
    const Summary& entry = index_.entries_[k];
    index_.by_hash_[entry.structural_hash].push_back(&entry);
    const std::uint32_t number = nests_.of({entry.structural_hash, entry.sizeless});
    index_.places_[k].nest = number;
    if (number < index_.nests_.size()) return;
    const std::string_view family = entry.sizeless.empty() ? entry.structural_hash : entry.sizeless;
    index_.nests_.push_back(
        {.hash = entry.structural_hash, .sizeless = entry.sizeless, .family = families_.of(family)});
    index_.nests_by_hash_[entry.structural_hash].push_back(number);
    if (!entry.sizeless.empty()) index_.nests_by_sizeless_[entry.sizeless].push_back(number);
  }

  void add_says(std::size_t k, Isa isa) {
    const Summary& entry = index_.entries_[k];
    const std::uint32_t recipe = recipes_.of(entry.recipe_json), size = sizes_.of(entry.size_class),
                        by = measurers_.of({entry.hardware_class, entry.threads});
    if (by == index_.measurers_.size()) index_.measurers_.emplace_back(entry.hardware_class, entry.threads);
    std::uint32_t only_for = 0;
    if (entry.only_for) {
      only_for = parties_.of(*entry.only_for) + 1;
      if (only_for == index_.parties_.size()) index_.parties_.emplace_back(*entry.only_for);
    }
    const bool gains = entry.ratio() > 1;
    const std::uint64_t rest = std::uint64_t{only_for} << 8 | static_cast<std::uint64_t>(isa) << 1 | (gains ? 1 : 0);
    const std::uint32_t number = says_.of({{recipe, by}, {size, rest}});
    const std::uint32_t claim = claims_.of({{recipe, size}, {only_for, gains ? 1 : 0}});
    index_.places_[k].says = number;
    index_.places_[k].gain = entry.ratio();
    index_.places_[k].has_thresholds = entry.has_thresholds;
    const auto parsed = parse_size_class(entry.size_class);
    if (claim == index_.claims_.size())
      index_.claims_.push_back({.recipe = recipe, .size = parsed, .gains = gains, .only_for = only_for});
    if (number == index_.says_.size())
      index_.says_.push_back({.recipe = recipe,
                              .measured_by = by,
                              .size = parsed,
                              .isa = isa,
                              .gains = gains,
                              .only_for = only_for,
                              .claim = claim,
                              .least_gain = entry.ratio(),
                              .all_have_thresholds = true});
    Says& says = index_.says_[number];
    says.least_gain = std::min(says.least_gain, entry.ratio());
    says.all_have_thresholds = says.all_have_thresholds && entry.has_thresholds;
    index_.claims_[claim].has_thresholds = index_.claims_[claim].has_thresholds || entry.has_thresholds;
  }

  // Who asks writes its class in its own way.
  void find_measured_on() {
    std::vector<std::string> classes;
    for (const Measurer& one : index_.measurers_) {
      const auto read = parse_hardware_class(one.first);
      classes.push_back(read ? hardware_class(*read) : "");
    }
    for (const Says& says : index_.says_) index_.recipes_measured_on_[classes[says.measured_by]].push_back(says.recipe);
    for (auto& [name, recipes] : index_.recipes_measured_on_) {
      std::ranges::sort(recipes);
      recipes.erase(std::unique(recipes.begin(), recipes.end()), recipes.end());
    }
  }

  std::uint32_t tree_of(const StoredVector& vector) {
    const auto same = [&](const Tree& tree) { return tree.key == vector.key && tree.isa == vector.isa; };
    const auto found = std::ranges::find_if(index_.trees_, same);
    if (found != index_.trees_.end()) return static_cast<std::uint32_t>(found - index_.trees_.begin());
    index_.trees_.emplace_back().key = vector.key;
    index_.trees_.back().isa = vector.isa;
    return static_cast<std::uint32_t>(index_.trees_.size() - 1);
  }

  void fill(Tree& tree, const std::vector<std::uint32_t>& members, const std::vector<const StoredVector*>& of) const {
    std::vector<const FeatureVector*> vectors;
    std::vector<std::uint32_t> nests;
    for (const std::uint32_t member : members) {
      vectors.push_back(&of[member]->vector);
      nests.push_back(index_.places_[member].nest);
    }
    tree.vectors = VectorTree::build(vectors, nests);
    Numbers<std::uint32_t> labels;
    tree.rows.reserve(members.size());
    for (const std::uint32_t place : tree.vectors.order()) {
      const std::uint32_t member = members[place], says = index_.places_[member].says, label = labels.of(says);
      tree.rows.push_back({.entry = member, .nest = index_.places_[member].nest, .label = label});
      if (label < tree.says.size()) continue;
      tree.says.push_back(says);
      if (index_.says_[says].only_for != 0) tree.confined.push_back(label);
    }
    look_into_nodes(tree);
  }

  // From the leaves up; children lie behind their parents.
  void look_into_nodes(Tree& tree) const {
    // Some hundred rows make as many claims; it costs as much to ask about them as about the distance of a box.
    constexpr std::size_t most = 64;
    Numbers<std::uint32_t> numbers;
    std::vector<std::uint32_t> of_label;
    for (const std::uint32_t says : tree.says) {
      of_label.push_back(numbers.of(index_.says_[says].claim));
      if (of_label.back() == tree.claims.size()) tree.claims.push_back(index_.says_[says].claim);
    }
    tree.nodes.resize(tree.vectors.nodes());
    std::vector<std::uint32_t> here;
    for (auto at = static_cast<std::uint32_t>(tree.nodes.size()); at-- > 0;) {
      const VectorTree::Node& node = tree.vectors.node(at);
      InNode& in = tree.nodes[at];
      here.clear();
      if (node.children == 0) {
        in.nest = tree.rows[node.first].nest;
        for (std::uint32_t row = node.first; row < node.end; ++row) {
          here.push_back(of_label[tree.rows[row].label]);
          if (tree.rows[row].nest != in.nest) in.nest = none;
        }
      } else {
        const std::uint32_t nest = tree.nodes[node.children].nest;
        in.nest = nest == tree.nodes[node.children + 1].nest ? nest : none;
        const auto left = tree.claims_of(node.children), right = tree.claims_of(node.children + 1);
        if (left.empty() || right.empty()) continue;
        here.assign(left.begin(), left.end());
        here.insert(here.end(), right.begin(), right.end());
      }
      std::ranges::sort(here);
      here.erase(std::unique(here.begin(), here.end()), here.end());
      if (here.size() > most) continue;
      in.first_claim = static_cast<std::uint32_t>(tree.claims_of_nodes.size());
      tree.claims_of_nodes.insert(tree.claims_of_nodes.end(), here.begin(), here.end());
      in.claims = static_cast<std::uint32_t>(here.size());
    }
  }

  // Equal gains all count: another size of the nest may be nearer.
  void find_strongest() {
    using Same = std::tuple<std::uint32_t, bool, bool>;
    std::vector<std::vector<const Summary*>> of(index_.nests_.size());
    for (std::size_t k = 0; k < index_.entries_.size(); ++k) of[index_.places_[k].nest].push_back(&index_.entries_[k]);
    for (std::size_t nest = 0; nest < of.size(); ++nest) {
      const auto same = [&](const Summary& entry) {
        const Place& place = index_.places_[index_.at(entry)];
        return Same(place.says, entry.has_thresholds, place.tree == none);
      };
      std::map<Same, double> greatest;
      for (const Summary* entry : of[nest]) {
        double& gain = greatest.try_emplace(same(*entry), entry->ratio()).first->second;
        gain = std::max(gain, entry->ratio());
      }
      for (const Summary* entry : of[nest])
        if (entry->ratio() == greatest.at(same(*entry))) index_.nests_[nest].strongest.push_back(entry);
    }
  }

  using Two = std::pair<std::uint32_t, std::uint32_t>;
  using Rest = std::pair<std::uint32_t, std::uint64_t>;
  struct SaysHash {
    std::size_t operator()(const std::pair<Two, Rest>& all) const {
      return MixedHash()(all.first) * 0x9e3779b97f4a7c15 + MixedHash()(all.second);
    }
  };
  RecipeIndex index_;
  Numbers<std::pair<std::string_view, std::string_view>, MixedHash> nests_;
  Numbers<std::pair<std::string_view, int>, MixedHash> measurers_;
  Numbers<std::string_view> families_, recipes_, sizes_, parties_;
  Numbers<std::pair<Two, Rest>, SaysHash> says_, claims_;
};

Result<RecipeIndex> RecipeIndex::build(std::vector<Summary> entries, const std::vector<StoredVector>& vectors) {
  return Builder(std::move(entries)).run(vectors);
}

}  // namespace sous::tuning_db
