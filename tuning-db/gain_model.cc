#include "tuning-db/gain_model.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <random>

#include "sdfg/planted_fault.h"

namespace sous::tuning_db {
namespace {

constexpr int mean_trees = 300, depth = 5, least_in_leaf = 12, bins = 32;
constexpr double low = 0.1;                 // the percentile that is learned
constexpr double rate = 0.06, drawn = 0.6;  // of the groups, for each tree
constexpr double least_gain_learned = 1.0 / 32, most_gain_learned = 128;
constexpr int low_trees = 150, potential_trees = 50;

// Six digits: more than the samples know, and short to write down.
double rounded(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return std::strtod(text, nullptr);
}

double label(double gain) { return std::log2(std::clamp(gain, least_gain_learned, most_gain_learned)); }

}  // namespace

GainFeatures gain_features(const ScheduleFeatures& before, const ScheduleFeatures& after) {
  GainFeatures result{};
  for (std::size_t k = 0; k < schedule_feature_count; ++k) {
    result[k] = before[k];
    result[schedule_feature_count + k] = after[k] - before[k];
  }
  return result;
}

class GainModel::Trainer {
 public:
  explicit Trainer(const std::vector<GainSample>& samples)
      : samples_(samples), rest_(samples.size()), slope_(samples.size()), bin_(samples.size()) {
    std::map<std::string, std::size_t> groups;
    for (const GainSample& sample : samples)
      group_.push_back(groups.try_emplace(sample.group, groups.size()).first->second);
    groups_ = groups.size();
    for (std::size_t f = 0; f < gain_feature_count; ++f) {
      std::vector<double> values;
      for (const GainSample& sample : samples) values.push_back(sample.features[f]);
      std::ranges::sort(values);
      values.erase(std::ranges::unique(values).begin(), values.end());
      for (int k = 1; k < bins; ++k) {
        const double edge =
            rounded(values[std::min(values.size() - 1, values.size() * static_cast<std::size_t>(k) / bins)]);
        if (edges_[f].empty() || edge > edges_[f].back()) edges_[f].push_back(edge);
      }
      for (std::size_t k = 0; k < samples.size(); ++k)
        bin_[k][f] =
            static_cast<std::uint8_t>(std::ranges::lower_bound(edges_[f], samples[k].features[f]) - edges_[f].begin());
    }
  }

  // `percentile`: nullopt: the mean.
  Forest run(int trees, std::optional<double> percentile) {
    percentile_ = percentile;
    Forest forest;
    std::vector<double> labels;
    for (const GainSample& sample : samples_) labels.push_back(label(sample.gain));
    forest.base = rounded(middle(labels));
    for (std::size_t k = 0; k < samples_.size(); ++k) rest_[k] = labels[k] - forest.base;
    for (int t = 0; t < trees; ++t) {
      std::vector<bool> in(groups_);
      for (std::size_t g = 0; g < groups_; ++g)
        in[g] = static_cast<double>(random_()) < drawn * static_cast<double>(std::mt19937::max());
      std::vector<std::size_t> rows;
      for (std::size_t k = 0; k < samples_.size(); ++k)
        if (in[group_[k]]) rows.push_back(k);
      if (rows.empty()) continue;
      for (std::size_t k = 0; k < samples_.size(); ++k) slope_[k] = slope(rest_[k]);
      Tree tree;
      grow(tree, rows, depth);
      for (std::size_t k = 0; k < samples_.size(); ++k) rest_[k] -= value(tree, samples_[k].features);
      forest.trees.push_back(std::move(tree));
    }
    return forest;
  }

  static double value(const Tree& tree, const GainFeatures& features) {
    std::size_t at = 0;
    while (tree[at].feature >= 0) {
      const bool left = features[static_cast<std::size_t>(tree[at].feature)] <= tree[at].threshold;
      at = static_cast<std::size_t>(left ? tree[at].left : tree[at].right);
    }
    return tree[at].threshold;
  }

 private:
  struct Best {
    int feature = -1;
    double threshold = 0, score = 0;
  };

  // What the loss (squares, or the check function of a percentile) wants the prediction to move by.
  double slope(double rest) const {
    if (!percentile_) return rest;
    return rest > 0 ? *percentile_ : *percentile_ - 1;
  }
  // The constant of the least loss.
  double middle(std::vector<double> values) const {
    if (!percentile_) {
      double sum = 0;
      for (const double value : values) sum += value;
      return sum / static_cast<double>(values.size());
    }
    const auto at = values.begin() + static_cast<std::ptrdiff_t>(*percentile_ * static_cast<double>(values.size() - 1));
    std::ranges::nth_element(values, at);
    return *at;
  }

  // The split that leaves the least squares of the slopes.
  Best best_split(const std::vector<std::size_t>& rows) const {
    double all = 0;
    for (const std::size_t k : rows) all += slope_[k];
    const double none = all * all / static_cast<double>(rows.size());
    Best best;
    for (std::size_t f = 0; f < gain_feature_count; ++f) {
      std::vector<double> sums(edges_[f].size() + 1);
      std::vector<int> counts(edges_[f].size() + 1);
      for (const std::size_t k : rows) {
        sums[bin_[k][f]] += slope_[k];
        ++counts[bin_[k][f]];
      }
      double left = 0;
      int count = 0;
      for (std::size_t b = 0; b < edges_[f].size(); ++b) {
        left += sums[b];
        count += counts[b];
        const int others = static_cast<int>(rows.size()) - count;
        if (count < least_in_leaf || others < least_in_leaf) continue;
        const double score = left * left / count + (all - left) * (all - left) / others - none;
        if (score > best.score + 1e-9) best = {static_cast<int>(f), edges_[f][b], score};
      }
    }
    return best;
  }

  int grow(Tree& tree, const std::vector<std::size_t>& rows, int levels) {
    const auto at = tree.size();
    tree.emplace_back();
    const Best best = levels > 0 ? best_split(rows) : Best{};
    if (best.feature < 0) {
      std::vector<double> rests;
      for (const std::size_t k : rows) rests.push_back(rest_[k]);
      tree[at].threshold = rounded(rate * middle(std::move(rests)));
      return static_cast<int>(at);
    }
    std::vector<std::size_t> left, right;
    for (const std::size_t k : rows)
      (samples_[k].features[static_cast<std::size_t>(best.feature)] <= best.threshold ? left : right).push_back(k);
    const int to_left = grow(tree, left, levels - 1), to_right = grow(tree, right, levels - 1);
    tree[at] = {best.feature, best.threshold, to_left, to_right};
    return static_cast<int>(at);
  }

  const std::vector<GainSample>& samples_;
  std::optional<double> percentile_;
  std::vector<double> rest_, slope_;  // of each sample: what is not yet predicted
  std::vector<std::size_t> group_;
  std::size_t groups_ = 0;
  std::array<std::vector<double>, gain_feature_count> edges_;      // of bins, ascending
  std::vector<std::array<std::uint8_t, gain_feature_count>> bin_;  // of each sample
  std::mt19937 random_{20261122};
};

double GainModel::Forest::value(const GainFeatures& features) const {
  double sum = base;
  for (const Tree& tree : trees) sum += Trainer::value(tree, features);
  return sum;
}

double GainModel::predict(const GainFeatures& features) const { return std::exp2(mean_.value(features)); }

double GainModel::surely(const GainFeatures& features) const {
  return planted(Fault::mean_for_sure) ? predict(features) : std::exp2(low_.value(features));
}

double GainModel::potential(const ScheduleFeatures& before) const {
  return std::exp2(potential_.value(gain_features(before, before)));
}

namespace {

// Of each nest at each size its best gain, and nothing of what led there.
std::vector<GainSample> best_of_nests(const std::vector<GainSample>& samples) {
  std::map<std::pair<std::string, GainFeatures>, double> best;
  for (const GainSample& sample : samples) {
    GainFeatures before = sample.features;
    std::fill(before.begin() + schedule_feature_count, before.end(), 0.0);
    double& gain = best[{sample.group, before}];
    gain = std::max(gain, sample.gain);
  }
  std::vector<GainSample> result;
  for (const auto& [nest, gain] : best) result.push_back({nest.second, gain, nest.first});
  return result;
}

}  // namespace

GainModel GainModel::train(const std::vector<GainSample>& samples, const GainMachine& machine) {
  SOUS_ASSERT(!samples.empty());
  GainModel model;
  model.machine_ = machine;
  Trainer trainer(samples);
  model.mean_ = trainer.run(mean_trees, {});
  model.low_ = trainer.run(low_trees, low);
  const auto nests = best_of_nests(samples);
  model.potential_ = Trainer(nests).run(potential_trees, {});
  return model;
}

}  // namespace sous::tuning_db
