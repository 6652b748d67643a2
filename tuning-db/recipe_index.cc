#include "tuning-db/recipe_index.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
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

// Of one cluster; more are halved until they are so few.
constexpr std::size_t most_in_cluster = 32;

using Vectors = std::vector<const StoredVector*>;

// Puts members beside each other that are alike: halves along the number in which they differ most, and so on.
void split(std::span<std::uint32_t> members, const Vectors& vectors) {
  if (members.size() <= most_in_cluster) return;
  std::size_t widest = 0;
  float most = -1;
  for (std::size_t i = 0; i < vectors[members[0]]->vector.size(); ++i) {
    const auto [least, greatest] =
        std::ranges::minmax(members, {}, [&](std::uint32_t member) { return vectors[member]->vector[i]; });
    const float width = vectors[greatest]->vector[i] - vectors[least]->vector[i];
    if (width > most) most = width, widest = i;
  }
  const std::size_t half = members.size() / 2;
  std::ranges::nth_element(members, members.begin() + static_cast<std::ptrdiff_t>(half), {},
                           [&](std::uint32_t member) { return std::pair(vectors[member]->vector[widest], member); });
  split(members.first(half), vectors);
  split(members.subspan(half), vectors);
}

// Where the halves of these rows end.
void mark_ends(std::size_t from, std::size_t to, std::vector<bool>& ends) {
  ends[to] = true;
  if (to - from <= most_in_cluster) return;
  const std::size_t middle = from + (to - from) / 2;
  mark_ends(from, middle, ends);
  mark_ends(middle, to, ends);
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
  Vectors of(index.entries_.size(), nullptr);
  std::size_t at = 0;
  for (const StoredVector& v : vectors) {
    while (at < index.entries_.size() && index.entries_[at].id < v.id) ++at;
    if (at == index.entries_.size() || index.entries_[at].id != v.id) continue;  // of an entry that came meanwhile
    if (v.vector.size() != index.dimension_ || v.vector.empty() ||
        !std::ranges::all_of(v.vector, [](float x) { return std::isfinite(x); }))
      return fail("nearest.dimension", "a stored vector is of another length, or not finite; rebuild the index",
                  "entry " + v.id);
    auto group = std::ranges::find(index.groups_, v.key, &Group::key);
    if (group == index.groups_.end()) group = index.groups_.insert(group, Group{v.key, {}, {}, {}, {}, {}});
    group->members.push_back(static_cast<std::uint32_t>(at));
    of[at] = &v;
  }
  for (std::uint32_t group = 0; group < index.groups_.size(); ++group) index.add_rows(group, of);
  return index;
}

void RecipeIndex::add_rows(std::uint32_t number, const Vectors& vectors) {
  Group& group = groups_[number];
  const auto cluster = [&](std::uint32_t member) {
    return std::pair(std::string_view(entries_[member].structural_hash), vectors[member]->isa);
  };
  std::ranges::sort(group.members, {}, [&](std::uint32_t member) { return std::pair(cluster(member), member); });
  std::vector<bool> ends(group.members.size() + 1);  // a cluster ends before this row
  for (std::size_t from = 0, to = 0; from < group.members.size(); from = to) {
    while (to < group.members.size() && cluster(group.members[to]) == cluster(group.members[from])) ++to;
    split(std::span(group.members).subspan(from, to - from), vectors);
    mark_ends(from, to, ends);
  }
  std::map<Says, std::uint32_t> labels;
  group.numbers.reserve(group.members.size() * padded_);
  std::uint32_t first = 0;
  for (std::uint32_t row = 0; row < group.members.size(); ++row) {
    const std::uint32_t member = group.members[row];
    const StoredVector& v = *vectors[member];
    rows_[member] = Row{number, row};
    group.labels.push_back(
        labels.try_emplace(says(entries_[member], v.isa), static_cast<std::uint32_t>(labels.size())).first->second);
    group.numbers.insert(group.numbers.end(), v.vector.begin(), v.vector.end());
    group.numbers.resize((std::size_t{row} + 1) * padded_);
    if (!ends[row + 1]) continue;
    add_cluster(group, first, row + 1, v.isa);
    first = row + 1;
  }
}

void RecipeIndex::add_cluster(Group& group, std::uint32_t first, std::uint32_t end, Isa isa) const {
  std::vector<double> sums(padded_);
  for (std::size_t row = first; row < end; ++row)
    for (std::size_t i = 0; i < padded_; ++i) sums[i] += double{group.numbers[row * padded_ + i]};
  const std::size_t at = group.middles.size();
  for (const double sum : sums) group.middles.push_back(static_cast<float>(sum / (end - first)));
  float farthest = 0;
  for (std::size_t row = first; row < end; ++row)
    farthest = std::max(farthest, square(group.middles.data() + at, group.numbers.data() + row * padded_, padded_));
  group.clusters.push_back({.first = first, .end = end, .radius = std::sqrt(farthest), .isa = isa});
}

Result<RecipeIndex::Search> RecipeIndex::search(const FeatureVector& query, const NestKey& key,
                                                const std::vector<const Summary*>& without,
                                                const std::function<bool(Isa)>& wanted) const {
  Search search(*this);
  const auto group = std::ranges::find(groups_, key, &Group::key);
  if (group == groups_.end()) return search;
  if (query.size() != dimension_)
    return fail("nearest.dimension", "a vector of " + std::to_string(query.size()) +
                                         " numbers was compared with one of " + std::to_string(dimension_));
  search.group_ = &*group;
  search.query_ = query;
  search.query_.resize(padded_);
  search.left_out_.resize(entries_.size());
  for (const Summary* entry : without) search.left_out_[static_cast<std::size_t>(entry - entries_.data())] = true;
  // What rounding may take from a distance, many times over.
  constexpr float slack = 1e-4F;
  for (std::uint32_t k = 0; k < group->clusters.size(); ++k) {
    const Cluster& cluster = group->clusters[k];
    if (wanted && !wanted(cluster.isa)) continue;
    const float middle = std::sqrt(square(search.query_.data(), group->middles.data() + k * padded_, padded_));
    search.ahead_.push({std::max(0.0F, middle - cluster.radius - slack * (middle + cluster.radius)), k});
  }
  return search;
}

void RecipeIndex::Search::look_at(const Cluster& cluster) {
  const std::vector<Summary>& entries = index_.entries_;
  for (std::uint32_t row = cluster.first; row < cluster.end; ++row) {
    const std::uint32_t member = group_->members[row];
    if (left_out_[member]) continue;
    const Found found{.square = square(query_.data(), group_->numbers.data() + row * index_.padded_, index_.padded_),
                      .member = member,
                      .label = group_->labels[row],
                      .isa = cluster.isa};
    const auto [best, is_new] = best_.try_emplace(found.label, found);
    if (!is_new) {
      const Found& known = best->second;
      const double gain = entries[member].ratio(), known_gain = entries[known.member].ratio();
      const bool better =
          gain != known_gain ? gain > known_gain : member < known.member;  // in whichever order they are looked at
      if (found.square > known.square || (found.square == known.square && !better)) continue;
      best->second = found;
    }
    found_.push(found);
  }
}

std::optional<RecipeIndex::Near> RecipeIndex::Search::next() {
  while (true) {
    // As near as what is found may others be that come before it.
    while (!ahead_.empty() &&
           (found_.empty() || ahead_.top().distance * ahead_.top().distance <= found_.top().square)) {
      const std::uint32_t cluster = ahead_.top().cluster;
      ahead_.pop();
      look_at(group_->clusters[cluster]);
    }
    if (found_.empty()) return std::nullopt;
    const Found found = found_.top();
    found_.pop();
    if (best_.at(found.label).member != found.member) continue;  // something nearer says the same
    return Near{&index_.entries_[found.member], std::sqrt(double{found.square}), found.isa};
  }
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
