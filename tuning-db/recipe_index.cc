#include "tuning-db/recipe_index.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

namespace sous::tuning_db {
namespace {

// Sums beside each other, which the compiler puts into vectors; one after the other, each would wait for the last.
constexpr std::size_t lanes = 16;

float square(const float* a, const float* b, std::size_t padded) {
  std::array<float, lanes> sums{};
  for (std::size_t i = 0; i < padded; i += lanes)
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const float difference = a[i + lane] - b[i + lane];
      sums[lane] += difference * difference;
    }
  float sum = 0;
  for (const float one : sums) sum += one;
  return sum;
}

using Says = std::tuple<std::string_view, std::string_view, std::string_view, Isa, int, bool, std::string_view>;

Says says(const Summary& entry, Isa isa) {
  return {entry.recipe_json,
          entry.hardware_class,
          entry.size_class,
          isa,
          entry.threads,
          entry.ratio() > 1,
          entry.only_for ? std::string_view(*entry.only_for) : std::string_view()};
}

}  // namespace

Result<RecipeIndex> RecipeIndex::build(std::vector<Summary> entries, const std::vector<StoredVector>& vectors) {
  RecipeIndex index;
  index.entries_ = std::move(entries);
  for (const Summary& entry : index.entries_) {
    index.by_hash_[entry.structural_hash].push_back(&entry);
    if (!entry.sizeless.empty()) index.by_sizeless_[entry.sizeless].push_back(&entry);
  }
  index.rows_.resize(index.entries_.size());
  if (!vectors.empty()) index.dimension_ = vectors.front().vector.size();
  index.padded_ = (index.dimension_ + lanes - 1) / lanes * lanes;
  std::map<Says, std::uint32_t> labels;
  std::size_t at = 0;
  for (const StoredVector& v : vectors) {
    while (at < index.entries_.size() && index.entries_[at].id < v.id) ++at;
    if (at == index.entries_.size() || index.entries_[at].id != v.id) continue;  // of an entry that came meanwhile
    if (v.vector.size() != index.dimension_ || v.vector.empty() ||
        !std::ranges::all_of(v.vector, [](float x) { return std::isfinite(x); }))
      return fail("nearest.dimension", "a stored vector is of another length, or not finite; rebuild the index",
                  "entry " + v.id);
    auto group = std::ranges::find(index.groups_, v.key, &Group::key);
    if (group == index.groups_.end()) group = index.groups_.insert(group, Group{v.key, {}, {}, {}});
    index.rows_[at] = Row{static_cast<std::uint32_t>(group - index.groups_.begin()),
                          static_cast<std::uint32_t>(group->members.size())};
    const auto label = labels.try_emplace(says(index.entries_[at], v.isa), static_cast<std::uint32_t>(labels.size()));
    if (label.second) index.isas_.push_back(v.isa);
    group->members.push_back(static_cast<std::uint32_t>(at));
    group->labels.push_back(label.first->second);
    group->numbers.insert(group->numbers.end(), v.vector.begin(), v.vector.end());
    group->numbers.resize(group->members.size() * index.padded_);
  }
  return index;
}

Result<std::vector<RecipeIndex::Near>> RecipeIndex::search(const FeatureVector& query, const NestKey& key,
                                                           const std::vector<const Summary*>& without) const {
  std::vector<Near> result;
  const auto group = std::ranges::find(groups_, key, &Group::key);
  if (group == groups_.end()) return result;
  if (query.size() != dimension_)
    return fail("nearest.dimension", "a vector of " + std::to_string(query.size()) +
                                         " numbers was compared with one of " + std::to_string(dimension_));
  FeatureVector asked = query;
  asked.resize(padded_);
  std::vector<bool> left_out(entries_.size());
  for (const Summary* entry : without) left_out[static_cast<std::size_t>(entry - entries_.data())] = true;
  struct Best {
    float square = std::numeric_limits<float>::infinity();
    std::uint32_t member = 0;
  };
  std::vector<Best> best(isas_.size());
  for (std::size_t row = 0; row < group->members.size(); ++row) {
    const std::uint32_t member = group->members[row];
    if (left_out[member]) continue;
    const float distance = square(asked.data(), group->numbers.data() + row * padded_, padded_);
    Best& known = best[group->labels[row]];
    if (distance < known.square ||
        (distance == known.square && entries_[member].ratio() > entries_[known.member].ratio()))
      known = {distance, member};
  }
  for (std::size_t label = 0; label < best.size(); ++label)
    if (std::isfinite(best[label].square))
      result.push_back({&entries_[best[label].member], std::sqrt(double{best[label].square}), isas_[label]});
  std::ranges::sort(result, {}, [](const Near& n) { return std::pair(n.distance, std::string_view(n.entry->id)); });
  return result;
}

namespace {

const std::vector<const Summary*>& entries_of(const RecipeIndex::ByHash& all, std::string_view hash) {
  static const std::vector<const Summary*> none;
  const auto found = all.find(hash);
  return found == all.end() ? none : found->second;
}

}  // namespace

const std::vector<const Summary*>& RecipeIndex::with_hash(std::string_view hash) const {
  return entries_of(by_hash_, hash);
}

const std::vector<const Summary*>& RecipeIndex::with_sizeless(std::string_view sizeless) const {
  return entries_of(by_sizeless_, sizeless);
}

std::optional<FeatureVector> RecipeIndex::vector(const Summary& entry) const {
  const auto& row = rows_[static_cast<std::size_t>(&entry - entries_.data())];
  if (!row) return std::nullopt;
  const float* first = groups_[row->group].numbers.data() + row->row * padded_;
  return FeatureVector(first, first + dimension_);
}

std::optional<NestKey> RecipeIndex::key(const Summary& entry) const {
  const auto& row = rows_[static_cast<std::size_t>(&entry - entries_.data())];
  return row ? std::optional(groups_[row->group].key) : std::nullopt;
}

std::vector<NestKey> RecipeIndex::keys() const {
  std::vector<NestKey> keys;
  for (const Group& group : groups_) keys.push_back(group.key);
  return keys;
}

}  // namespace sous::tuning_db
