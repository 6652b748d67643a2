// The gain model as a text.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iterator>
#include <optional>

#include "tuning-db/files.h"
#include "tuning-db/gain_model.h"
#include "tuning-db/json_reader.h"
#include "tuning-db/places.h"

namespace sous::tuning_db {
namespace {

constexpr std::size_t most_trees = 4096, most_splits = 4096;
constexpr int most_threads = 4096;

std::string version() {
  std::string names;
  for (std::size_t k = 0; k < schedule_feature_count; ++k)
    names += std::string(schedule_feature_name(static_cast<ScheduleFeature>(k))) + " ";
  return "trees-2 " + names;
}

}  // namespace

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

// What `to_json` writes, as it writes it, without a tree of JSON in between: builds read the model again and again.
// nullopt: something else, which takes the general reader; what both read they read alike (test
// GainModel.ReadsWhatItWrites).
class GainModel::AsWritten {
 public:
  explicit AsWritten(std::string_view text) : text_(text) {}

  std::optional<GainModel> read() {
    GainModel model;
    double threads = 0;
    const bool read = take("{\"hardware\":\"") && name(model.machine_.hardware) && take(",\"low\":") &&
                      forest(model.low_) && take(",\"mean\":") && forest(model.mean_) && take(",\"potential\":") &&
                      forest(model.potential_) && take(",\"threads\":") && index(threads, 1, most_threads) &&
                      take(",\"version\":\"" + version() + "\"}") && (text_.empty() || text_ == "\n");
    if (!read) return std::nullopt;
    model.machine_.threads = static_cast<int>(threads);
    return model;
  }

 private:
  bool take(std::string_view token) {
    if (!text_.starts_with(token)) return false;
    text_.remove_prefix(token.size());
    return true;
  }
  bool take(char c) {
    if (text_.empty() || text_.front() != c) return false;
    text_.remove_prefix(1);
    return true;
  }

  // Up to the quote behind it; what has other characters than names of classes is left to the other reader.
  bool name(std::string& to) {
    const std::size_t end = text_.find('"');
    if (end == std::string_view::npos || end > longest_name) return false;
    to = text_.substr(0, end);
    text_.remove_prefix(end + 1);
    return std::ranges::all_of(to, [](char c) { return c >= ' ' && c < 127 && c != '\\'; });
  }

  bool forest(Forest& to) {
    if (!take("{\"base\":") || !number(to.base, -100, 100) || !take(",\"trees\":[")) return false;
    if (take(']')) return take('}');
    do {
      if (to.trees.size() == most_trees || !tree(to.trees.emplace_back())) return false;
    } while (take(','));
    return take("]}");
  }

  bool tree(Tree& to) {
    if (!take('[')) return false;
    do {
      if (to.size() == most_splits || !split(to.emplace_back())) return false;
    } while (take(','));
    // Children stand behind their parent, so that every way down ends.
    for (std::size_t k = 0; k < to.size(); ++k)
      if (to[k].feature >= 0 && !(behind(to[k].left, k, to.size()) && behind(to[k].right, k, to.size()))) return false;
    return take(']');
  }
  static bool behind(int child, std::size_t parent, std::size_t size) {
    const auto place = static_cast<std::size_t>(child);
    return place > parent && place < size;
  }

  bool split(Split& to) {
    double first = 0;
    if (!take('[') || !number(first, -100, 100)) return false;
    if (take(']')) {
      to = {.threshold = first};
      return true;
    }
    double left = 0, right = 0;
    if (!is_index(first, 0, gain_feature_count - 1) || !take(',') || !number(to.threshold, -1e300, 1e300) ||
        !take(',') || !index(left, 0, most_splits) || !take(',') || !index(right, 0, most_splits))
      return false;
    to = {static_cast<int>(first), to.threshold, static_cast<int>(left), static_cast<int>(right)};
    return take(']');
  }

  static bool is_index(double value, double least, double most) {
    return value >= least && value <= most && value == std::floor(value);
  }
  bool index(double& to, double least, double most) { return number(to, least, most) && is_index(to, least, most); }

  bool number(double& to, double least, double most) {
    const std::string_view from_here = text_;
    if (!short_number(to)) {
      text_ = from_here;
      const auto [at, error] = std::from_chars(text_.data(), text_.data() + text_.size(), to);
      if (error != std::errc()) return false;
      text_.remove_prefix(static_cast<std::size_t>(at - text_.data()));
    }
    return to >= least && to <= most;
  }

  // Of as many digits as a double holds exactly, divided by a power of ten that it holds exactly: one rounding, the
  // right one.
  bool short_number(double& to) {
    const bool minus = take('-');
    std::int64_t digits = 0;
    int count = 0;
    const auto run = [&] {
      const int before = count;
      for (; !text_.empty() && text_.front() >= '0' && text_.front() <= '9'; text_.remove_prefix(1)) {
        if (++count > most_digits) return false;
        digits = 10 * digits + (text_.front() - '0');
      }
      return count > before;
    };
    if (!run()) return false;
    const int whole = count;
    if (take('.') && !run()) return false;
    if (!text_.empty() && text_.front() == 'e') return false;
    to = static_cast<double>(digits) / powers[static_cast<std::size_t>(count - whole)];
    if (minus) to = -to;
    return true;
  }

  static constexpr std::size_t longest_name = 256;
  static constexpr int most_digits = 15;
  static constexpr std::array<double, most_digits + 1> powers{1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                              1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};

  std::string_view text_;
};

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
  if (auto model = AsWritten(text).read()) return std::move(*model);
  TRY(const Json json, parse_json(text, "model"));
  TRY(auto in, ObjectReader::of(json, "model", ""));
  TRY(const std::string of, in.string("version"));
  if (of != version()) return fail("model.version", "it is of another version of Sous: " + as_one_line(of));
  GainModel model;
  TRY(model.machine_.hardware, in.line("hardware"));
  TRY(const auto threads, in.integer("threads", 1, most_threads));
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
    const auto text = read_file(gain_model_file(), std::size_t{64} << 20);
    if (!text) return read;
    if (auto parsed = GainModel::from_json(*text)) read = std::make_unique<const GainModel>(std::move(*parsed));
    return read;
  }();
  return model.get();
}

}  // namespace sous::tuning_db
