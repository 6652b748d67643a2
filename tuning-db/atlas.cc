#include "tuning-db/atlas.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

namespace sous::tuning_db {
namespace {

using Vector = std::vector<double>;
using Matrix = std::vector<Vector>;

struct Sample {
  const Summary* entry = nullptr;
  FeatureVector vector;
};

// Of each nest the first measurement that has a vector, of those for everyone if there are any.
std::vector<Sample> samples_of(const RecipeIndex& index) {
  std::vector<Sample> samples;
  for (const auto& [hash, entries] : index.by_hash()) {
    if (samples.size() == most_mapped) break;
    std::optional<Sample> found;
    for (const Summary* entry : entries) {
      if (found && (!found->entry->only_for || entry->only_for)) continue;
      if (auto vector = index.vector(*entry); vector && vector->size() == feature_count)
        found = Sample{entry, std::move(*vector)};
    }
    if (found) samples.push_back(std::move(*found));
  }
  return samples;
}

Vector mean_of(const std::vector<const Sample*>& samples) {
  Vector mean(feature_count);
  for (const Sample* sample : samples)
    for (std::size_t i = 0; i < feature_count; ++i) mean[i] += double{sample->vector[i]};
  for (double& one : mean) one /= static_cast<double>(std::max<std::size_t>(1, samples.size()));
  return mean;
}

Matrix covariance_of(const std::vector<const Sample*>& samples, const Vector& mean) {
  Matrix matrix(feature_count, Vector(feature_count));
  for (const Sample* sample : samples)
    for (std::size_t i = 0; i < feature_count; ++i) {
      const double here = double{sample->vector[i]} - mean[i];
      for (std::size_t j = 0; j <= i; ++j) matrix[i][j] += here * (double{sample->vector[j]} - mean[j]);
    }
  for (std::size_t i = 0; i < feature_count; ++i)
    for (std::size_t j = 0; j < i; ++j) matrix[j][i] = matrix[i][j];
  return matrix;
}

// Jacobi's method: turns planes of two coordinates until what is off the diagonal is nothing beside the largest number
// on it. Slow and sure; for as many coordinates as there are features some milliseconds. `turned`: starts as the
// identity, and ends with the eigenvectors as its rows.
void diagonalize(Matrix& a, Matrix& turned) {
  const std::size_t n = a.size();
  double largest = 0;
  for (std::size_t i = 0; i < n; ++i) largest = std::max(largest, a[i][i]);
  constexpr int most_sweeps = 30;
  bool any = true;
  for (int sweep = 0; any && sweep < most_sweeps; ++sweep) {
    any = false;
    for (std::size_t p = 0; p < n; ++p)
      for (std::size_t q = p + 1; q < n; ++q) {
        if (std::abs(a[p][q]) <= 1e-9 * largest) continue;
        any = true;
        const double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
        const double t = std::copysign(1 / (std::abs(theta) + std::sqrt(theta * theta + 1)), theta);
        const double c = 1 / std::sqrt(t * t + 1), s = t * c;
        const auto turn = [&](double& x, double& y) { std::tie(x, y) = std::pair(c * x - s * y, s * x + c * y); };
        for (std::size_t k = 0; k < n; ++k) turn(a[p][k], a[q][k]);
        for (std::size_t k = 0; k < n; ++k) turn(a[k][p], a[k][q]);
        for (std::size_t k = 0; k < n; ++k) turn(turned[p][k], turned[q][k]);
      }
  }
}

// Places in order of the number there, the largest first, the first of equal ones first.
std::vector<std::size_t> largest_first(const Vector& numbers) {
  std::vector<std::size_t> order(numbers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return std::pair(-numbers[i], i); });
  return order;
}

struct Direction {
  double share = 0;
  Vector of;
};

// The two directions of the largest variance. Of a direction and its opposite the one whose largest number is positive.
std::array<Direction, 2> directions_of(Matrix covariance) {
  Matrix turned(feature_count, Vector(feature_count));
  for (std::size_t i = 0; i < feature_count; ++i) turned[i][i] = 1;
  diagonalize(covariance, turned);
  Vector variances;
  for (std::size_t i = 0; i < feature_count; ++i) variances.push_back(covariance[i][i]);
  const auto order = largest_first(variances);
  const double whole = std::accumulate(variances.begin(), variances.end(), 0.0);
  std::array<Direction, 2> result;
  for (std::size_t axis = 0; axis < 2; ++axis) {
    Direction& direction = result[axis];
    direction.share = whole > 0 ? variances[order[axis]] / whole : 0;
    direction.of = turned[order[axis]];
    const auto largest = std::ranges::max_element(direction.of, {}, [](double x) { return std::abs(x); });
    if (*largest < 0)
      for (double& one : direction.of) one = -one;
  }
  return result;
}

Atlas::Axis axis_of(const Direction& direction) {
  Atlas::Axis axis{.share = direction.share, .features = {}};
  if (!(direction.share > 0)) return axis;
  Vector sizes;
  for (const double one : direction.of) sizes.push_back(std::abs(one));
  const auto order = largest_first(sizes);
  for (std::size_t i = 0; i < 3; ++i) axis.features.push_back(feature_name(static_cast<Feature>(order[i])));
  return axis;
}

double along(const Direction& direction, const FeatureVector& vector, const Vector& mean) {
  double sum = 0;
  for (std::size_t i = 0; i < feature_count; ++i) sum += direction.of[i] * (double{vector[i]} - mean[i]);
  return sum;
}

}  // namespace

std::shared_ptr<const Atlas> atlas_of(std::shared_ptr<const View> view) {
  auto atlas = std::make_shared<Atlas>();
  const RecipeIndex& index = *view->recipes();
  const std::vector<Sample> samples = samples_of(index);
  atlas->view = std::move(view);
  std::vector<const Sample*> everyones;
  for (const Sample& sample : samples)
    if (!sample.entry->only_for) everyones.push_back(&sample);
  const Vector mean = mean_of(everyones);
  const auto directions = directions_of(covariance_of(everyones, mean));
  double widest = 0;
  for (const Sample& sample : samples) {
    atlas->places.push_back({.hash = sample.entry->structural_hash,
                             .x = along(directions[0], sample.vector, mean),
                             .y = along(directions[1], sample.vector, mean),
                             .family = family_of(sample.vector),
                             .key = index.key(*sample.entry).value_or(NestKey{})});
    if (!sample.entry->only_for)
      widest = std::max({widest, std::abs(atlas->places.back().x), std::abs(atlas->places.back().y)});
  }
  // Both axes alike: distances on the map are distances between nests, as far as it shows them.
  for (Atlas::Place& place : atlas->places)
    if (widest > 0) place.x /= widest, place.y /= widest;
  atlas->axes = {axis_of(directions[0]), axis_of(directions[1])};
  return atlas;
}

std::shared_ptr<const Atlas> Atlases::of(const std::shared_ptr<const View>& view) {
  const std::lock_guard lock(mutex_);
  if (!last_ || last_->view != view) last_ = atlas_of(view);
  return last_;
}

}  // namespace sous::tuning_db
