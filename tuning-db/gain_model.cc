#include "tuning-db/gain_model.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <random>

#include "tuning-db/json_reader.h"
#include "tuning-db/places.h"

namespace sous::tuning_db {
namespace {

constexpr int trees = 300, depth = 5, least_in_leaf = 12, bins = 32;
constexpr double rate = 0.06, drawn = 0.6;  // of the groups, for each tree
constexpr double least_gain_learned = 1.0 / 32, most_gain_learned = 128;
constexpr std::size_t most_trees = 4096, most_splits = 4096;

// Six digits: more than the samples know, and short to write down.
double rounded(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return std::strtod(text, nullptr);
}

double label(double gain) { return std::log2(std::clamp(gain, least_gain_learned, most_gain_learned)); }

std::string version() {
  std::string names;
  for (std::size_t k = 0; k < schedule_feature_count; ++k)
    names += std::string(schedule_feature_name(static_cast<ScheduleFeature>(k))) + " ";
  return "trees-1 " + names;
}

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
      : samples_(samples), rest_(samples.size()), bin_(samples.size()) {
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

  GainModel run() {
    GainModel model;
    double sum = 0;
    for (const GainSample& sample : samples_) sum += label(sample.gain);
    model.base_ = rounded(sum / static_cast<double>(samples_.size()));
    for (std::size_t k = 0; k < samples_.size(); ++k) rest_[k] = label(samples_[k].gain) - model.base_;
    for (int t = 0; t < trees; ++t) {
      std::vector<bool> in(groups_);
      for (std::size_t g = 0; g < groups_; ++g)
        in[g] = static_cast<double>(random_()) < drawn * static_cast<double>(std::mt19937::max());
      std::vector<std::size_t> rows;
      for (std::size_t k = 0; k < samples_.size(); ++k)
        if (in[group_[k]]) rows.push_back(k);
      if (rows.empty()) continue;
      Tree tree;
      grow(tree, rows, depth);
      for (std::size_t k = 0; k < samples_.size(); ++k) rest_[k] -= value(tree, samples_[k].features);
      model.trees_.push_back(std::move(tree));
    }
    return model;
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

  // The split that leaves the least squares.
  Best best_split(const std::vector<std::size_t>& rows) const {
    double all = 0;
    for (const std::size_t k : rows) all += rest_[k];
    const double none = all * all / static_cast<double>(rows.size());
    Best best;
    for (std::size_t f = 0; f < gain_feature_count; ++f) {
      std::vector<double> sums(edges_[f].size() + 1);
      std::vector<int> counts(edges_[f].size() + 1);
      for (const std::size_t k : rows) {
        sums[bin_[k][f]] += rest_[k];
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
      double sum = 0;
      for (const std::size_t k : rows) sum += rest_[k];
      tree[at].threshold = rounded(rate * sum / static_cast<double>(rows.size()));
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
  std::vector<double> rest_;
  std::vector<std::size_t> group_;
  std::size_t groups_ = 0;
  std::array<std::vector<double>, gain_feature_count> edges_;      // of bins, ascending
  std::vector<std::array<std::uint8_t, gain_feature_count>> bin_;  // of each sample
  std::mt19937 random_{20261122};
};

double GainModel::predict(const GainFeatures& features) const {
  double sum = base_;
  for (const Tree& tree : trees_) sum += Trainer::value(tree, features);
  return std::exp2(sum);
}

GainModel GainModel::train(const std::vector<GainSample>& samples) {
  SOUS_ASSERT(!samples.empty());
  return Trainer(samples).run();
}

std::string GainModel::to_json() const {
  Json trees_json = Json::array();
  for (const Tree& tree : trees_) {
    Json splits = Json::array();
    for (const Split& s : tree)
      splits.push_back(s.feature < 0 ? Json::array({s.threshold})
                                     : Json::array({s.feature, s.threshold, s.left, s.right}));
    trees_json.push_back(std::move(splits));
  }
  return dump(Json{{"version", version()}, {"base", base_}, {"trees", std::move(trees_json)}});
}

Result<GainModel> GainModel::from_json(std::string_view text) {
  TRY(const Json json, parse_json(text, "model"));
  TRY(auto in, ObjectReader::of(json, "model", ""));
  TRY(const std::string of, in.string("version"));
  if (of != version()) return fail("model.version", "it is of another version of Sous: " + as_one_line(of));
  GainModel model;
  TRY(model.base_, in.number("base", -100, 100));
  TRY(const Json* list, in.array("trees", most_trees));
  TRY_VOID(in.done());
  const auto number = [](const Json& value, double least, double most) {
    return value.is_number() && value.get<double>() >= least && value.get<double>() <= most;
  };
  for (const Json& one : *list) {
    Tree tree;
    const std::size_t size = one.is_array() ? one.size() : 0;
    if (size == 0 || size > most_splits) return in.refuse("a tree is a list of splits and leaves");
    for (std::size_t k = 0; k < size; ++k) {
      const Json& split = one[k];
      const bool leaf = split.is_array() && split.size() == 1 && number(split[0], -100, 100);
      // Children stand behind their parent, so that every way down ends.
      const auto behind = static_cast<double>(k + 1), last = static_cast<double>(size) - 1;
      const bool inner = split.is_array() && split.size() == 4 && number(split[0], 0, gain_feature_count - 1) &&
                         number(split[1], -1e300, 1e300) && number(split[2], behind, last) &&
                         number(split[3], behind, last);
      if (!leaf && !inner) return in.refuse("a split is [feature, threshold, left, right], a leaf [value]");
      tree.push_back(
          leaf ? Split{.threshold = split[0].get<double>()}
               : Split{split[0].get<int>(), split[1].get<double>(), split[2].get<int>(), split[3].get<int>()});
    }
    model.trees_.push_back(std::move(tree));
  }
  return model;
}

const GainModel* shipped_gain_model() {
  static const std::unique_ptr<const GainModel> model = [] {
    std::unique_ptr<const GainModel> read;
    std::ifstream file(gain_model_file());
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    if (auto parsed = GainModel::from_json(text)) read = std::make_unique<const GainModel>(std::move(*parsed));
    return read;
  }();
  return model.get();
}

}  // namespace sous::tuning_db
