#include "tuning-db/gain_model.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <optional>
#include <random>

#include "sdfg/planted_fault.h"
#include "tuning-db/json_reader.h"
#include "tuning-db/places.h"

namespace sous::tuning_db {
namespace {

constexpr int mean_trees = 300, depth = 5, least_in_leaf = 12, bins = 32;
constexpr double low = 0.1;                 // the percentile that is learned
constexpr double rate = 0.06, drawn = 0.6;  // of the groups, for each tree
constexpr double least_gain_learned = 1.0 / 32, most_gain_learned = 128;
constexpr int low_trees = 150, potential_trees = 50;
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
  return "trees-2 " + names;
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

std::string GainModel::to_json() const {
  const auto forest = [](const Forest& f) {
    Json trees_json = Json::array();
    for (const Tree& tree : f.trees) {
      Json splits = Json::array();
      for (const Split& s : tree)
        splits.push_back(s.feature < 0 ? Json::array({s.threshold})
                                       : Json::array({s.feature, s.threshold, s.left, s.right}));
      trees_json.push_back(std::move(splits));
    }
    return Json{{"base", f.base}, {"trees", std::move(trees_json)}};
  };
  return dump(Json{{"version", version()},
                   {"hardware", machine_.hardware},
                   {"threads", machine_.threads},
                   {"mean", forest(mean_)},
                   {"low", forest(low_)},
                   {"potential", forest(potential_)}});
}

class GainModel::Reader {
 public:
  static Result<Tree> tree(ObjectReader& in, const Json& json) {
    const std::size_t size = json.is_array() ? json.size() : 0;
    if (size == 0 || size > most_splits) return in.refuse("a tree is a list of splits and leaves");
    Tree tree;
    for (std::size_t k = 0; k < size; ++k) {
      const Json& split = json[k];
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
    return tree;
  }

  static Result<Forest> forest(const Json& json, const std::string& where) {
    TRY(auto in, ObjectReader::of(json, "model", where));
    Forest forest;
    TRY(forest.base, in.number("base", -100, 100));
    TRY(const Json* list, in.array("trees", most_trees));
    TRY_VOID(in.done());
    for (const Json& one : *list) {
      TRY(auto read, tree(in, one));
      forest.trees.push_back(std::move(read));
    }
    return forest;
  }

 private:
  static bool number(const Json& value, double least, double most) {
    return value.is_number() && value.get<double>() >= least && value.get<double>() <= most;
  }
};

Result<GainModel> GainModel::from_json(std::string_view text) {
  TRY(const Json json, parse_json(text, "model"));
  TRY(auto in, ObjectReader::of(json, "model", ""));
  TRY(const std::string of, in.string("version"));
  if (of != version()) return fail("model.version", "it is of another version of Sous: " + as_one_line(of));
  GainModel model;
  TRY(model.machine_.hardware, in.line("hardware"));
  TRY(const auto threads, in.integer("threads", 1, 4096));
  model.machine_.threads = static_cast<int>(threads);
  TRY(const Json* mean, in.object("mean"));
  TRY(const Json* percentile, in.object("low"));
  TRY(const Json* potential, in.object("potential"));
  TRY_VOID(in.done());
  TRY(model.potential_, Reader::forest(*potential, "potential"));
  TRY(model.mean_, Reader::forest(*mean, "mean"));
  TRY(model.low_, Reader::forest(*percentile, "low"));
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
