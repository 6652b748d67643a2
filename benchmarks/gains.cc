#include "benchmarks/gains.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <thread>

#include "benchmarks/bench.h"
#include "benchmarks/progress.h"
#include "benchmarks/seeds.h"
#include "benchmarks/statistics.h"
#include "benchmarks/table.h"
#include "client/process.h"
#include "client/tune.h"
#include "transforms/apply.h"
#include "transforms/strategies/strategy.h"
#include "tuning-db/belief.h"
#include "tuning-db/json_reader.h"

namespace sous::benchmarks {
namespace {

using std::string;
using tuning_db::Entry;
using tuning_db::Json;

// Runs of the original that spread more than this are no measure of a gain.
constexpr double agreed = 0.25;

Result<std::vector<MeasuredGain>> read_gains(const Words& files) {
  std::vector<MeasuredGain> gains;
  for (const string& file : files) {
    TRY(const string text, client::read_file(file));
    std::istringstream lines(text);
    int number = 0;
    for (string line; std::getline(lines, line);) {
      TRY(auto gain, gain_from_json(line, file + ":" + std::to_string(++number)));
      gains.push_back(std::move(gain));
    }
  }
  if (gains.empty()) return fail("cli.value", "there is nothing to learn from in these files");
  return gains;
}

// Whether measurements of either speak for the other in full.
bool alike(const tuning_db::GainMachine& a, const tuning_db::GainMachine& b) {
  return a.threads == b.threads && tuning_db::believe(2, a.threads, a.hardware, b.hardware).in_full &&
         tuning_db::believe(2, b.threads, b.hardware, a.hardware).in_full;
}

Result<tuning_db::GainModel> trained(const std::vector<MeasuredGain>& gains, const std::set<string>& without) {
  std::vector<tuning_db::GainSample> samples;
  for (const MeasuredGain& gain : gains) {
    if (!alike(gain.machine, gains.front().machine))
      return fail("gains.machines", "a model is of one machine: these are of " + gains.front().machine.hardware +
                                        " and " + gain.machine.hardware);
    if (!without.contains(family_of(gain.name))) samples.push_back(gain.sample);
  }
  return tuning_db::GainModel::train(samples, gains.front().machine);
}

bool by_strategy(const MeasuredGain& gain) {
  return std::ranges::any_of(transforms::strategies(), [&](const auto* s) { return s->name == gain.from; });
}

// Whether the terms differ by those of threads, and by no others.
bool threads_alone(const tuning_db::GainFeatures& features) {
  using enum tuning_db::ScheduleFeature;
  bool any = false, others = false;
  for (std::size_t k = 0; k < tuning_db::schedule_feature_count; ++k) {
    const auto term = static_cast<tuning_db::ScheduleFeature>(k);
    const bool changed = features[tuning_db::schedule_feature_count + k] != 0;
    const bool of_threads = term == threads || term == imbalance || term == regions;
    any = any || (changed && of_threads);
    others = others || (changed && !of_threads);
  }
  return any && !others;
}

}  // namespace

string origin_of(const Entry& sample) {
  const auto at = sample.provenance.find(client::sample_mark);
  if (at == string::npos) return "";
  const string rest = sample.provenance.substr(at + client::sample_mark.size());
  return rest.substr(0, rest.find(','));
}

string family_of(const string& name) {
  const auto dot = name.find('.');
  string out = name.starts_with("drawn-") && dot != string::npos ? name.substr(dot + 1) : name.substr(0, dot);
  out = out.substr(0, out.find('#'));
  const auto line = out.rfind('_');
  if (name.starts_with("drawn-") && line != string::npos) out.resize(line);
  return out.substr(0, out.find("-float"));
}

Result<MeasuredGain> gain_of(const Entry& entry) {
  transforms::ApplyOptions options;
  options.context.hardware = tuning_db::size_values(entry.hardware);
  TRY(const auto after, transforms::apply(entry.nest, entry.recipe, options));
  const int threads = entry.hardware.cores;
  const auto features =
      tuning_db::gain_features(tuning_db::schedule_features(entry.nest, entry.sizes, entry.hardware, threads),
                               tuning_db::schedule_features(after, entry.sizes, entry.hardware, threads));
  MeasuredGain gain{entry.name,
                    origin_of(entry),
                    {tuning_db::hardware_class(entry.hardware), threads},
                    {features, entry.baseline_seconds / entry.tuned_seconds, entry.name}};
  if (threads_alone(features)) {
    const auto load = tuning_db::core_load(after, entry.sizes, entry.hardware, threads);
    // A part of several brings from memory what the program brings once for all of them.
    const bool alone = entry.name.ends_with("#0") || tuning_db::computes(load);
    gain.threads_gain = alone ? tuning_db::threads_gain(load, threads) : 0;
  }
  return gain;
}

string to_json(const MeasuredGain& gain) {
  Json json{{"name", gain.name},
            {"from", gain.from},
            {"hardware", gain.machine.hardware},
            {"threads", gain.machine.threads},
            {"gain", gain.sample.gain},
            {"features", std::vector<double>(gain.sample.features.begin(), gain.sample.features.end())}};
  if (gain.threads_gain) json["threads_gain"] = *gain.threads_gain;
  return tuning_db::dump(json);
}

Result<MeasuredGain> gain_from_json(std::string_view line, const string& where) {
  TRY(const Json json, tuning_db::parse_json(line, "gains"));
  TRY(auto in, tuning_db::ObjectReader::of(json, "gains", where));
  MeasuredGain gain;
  TRY(gain.name, in.line("name"));
  TRY(gain.from, in.line("from"));
  TRY(gain.machine.hardware, in.line("hardware"));
  TRY(const auto threads, in.integer("threads", 1, 4096));
  gain.machine.threads = static_cast<int>(threads);
  TRY(gain.sample.gain, in.number("gain", 1e-9, 1e9));
  TRY(const auto features, in.numbers("features", tuning_db::gain_feature_count, -1e300, 1e300));
  if (features.size() != tuning_db::gain_feature_count) return in.refuse("the terms are those of another version");
  std::ranges::copy(features, gain.sample.features.begin());
  gain.sample.group = gain.name;
  if (json.contains("threads_gain")) {
    TRY(gain.threads_gain, in.number("threads_gain"));
  }
  TRY_VOID(in.done());
  return gain;
}

Result<std::vector<HeldOut>> held_out(const std::vector<MeasuredGain>& gains) {
  std::set<string> families;
  for (const MeasuredGain& gain : gains) families.insert(family_of(gain.name));
  std::vector<HeldOut> predictions(gains.size());
  if (families.size() < 2) return predictions;
  for (const string& family : families) {
    TRY(const auto model, trained(gains, {family}));
    for (std::size_t k = 0; k < gains.size(); ++k)
      if (family_of(gains[k].name) == family)
        predictions[k] = {model.predict(gains[k].sample.features), model.surely(gains[k].sample.features)};
  }
  return predictions;
}

namespace {

// "123", "4", "3%", "1.22": how many there are, how many of them slower, and their mean.
std::vector<string> summary(const std::vector<double>& gains) {
  const auto lost = std::ranges::count_if(gains, [](double g) { return g < slower; });
  const double share = gains.empty() ? 0 : static_cast<double>(lost) / static_cast<double>(gains.size());
  return {std::to_string(gains.size()), std::to_string(lost), fixed(100 * share, 1) + "%",
          fixed(geometric_mean(gains), 2)};
}

}  // namespace

string gains_report(const std::vector<MeasuredGain>& gains, const std::vector<HeldOut>& predictions) {
  Table table({"predicted", "recipes", "slower", "share", "found"}, "l");
  constexpr double edges[] = {0, 0.5, 0.8, 1, 1.25, 1.5, 2, 3, 5, 10, 1e9};
  for (std::size_t e = 0; e + 1 < std::size(edges); ++e) {
    std::vector<double> found;
    for (std::size_t k = 0; k < gains.size(); ++k)
      if (predictions[k].expected >= edges[e] && predictions[k].expected < edges[e + 1])
        found.push_back(gains[k].sample.gain);
    std::vector<string> row{fixed(edges[e], 2) +
                            (edges[e + 1] < 1e9 ? " to " + fixed(edges[e + 1], 2) : string(" and more"))};
    std::ranges::copy(summary(found), std::back_inserter(row));
    table.add(row);
  }
  std::vector<double> errors;
  for (std::size_t k = 0; k < gains.size(); ++k)
    errors.push_back(std::abs(std::log2(predictions[k].expected / gains[k].sample.gain)));
  return "Gains predicted by a model that has not seen the nest's family, and what was measured:\n\n" +
         table.to_string() + "\nmedian error: a factor of " + fixed(std::exp2(median(errors)), 2) + "\n";
}

string strategies_report(const std::vector<MeasuredGain>& gains, const std::vector<HeldOut>& predictions) {
  constexpr auto operations = static_cast<std::size_t>(tuning_db::ScheduleFeature::operations);
  std::map<string, double> largest;
  for (const MeasuredGain& gain : gains)
    largest[gain.name] = std::max(largest[gain.name], gain.sample.features[operations]);
  std::map<string, std::size_t> best;
  for (std::size_t k = 0; k < gains.size(); ++k) {
    if (!by_strategy(gains[k]) || gains[k].sample.features[operations] < largest[gains[k].name]) continue;
    const auto [at, first] = best.emplace(gains[k].name, k);
    if (!first && predictions[k].surely > predictions[at->second].surely) at->second = k;
  }
  Table table({"tenth percentile", "nests", "slower", "share", "found"}, "l");
  for (const double least : {0.0, 1.0, 1.25, 1.5, 2.0, 3.0}) {
    std::vector<double> found;
    for (const auto& [name, k] : best)
      if (predictions[k].surely >= least) found.push_back(gains[k].sample.gain);
    std::vector<string> row{fixed(least, 2) + " and more"};
    std::ranges::copy(summary(found), std::back_inserter(row));
    table.add(row);
  }
  string slower;
  for (const auto& [name, k] : best)
    if (predictions[k].surely >= tuning_db::GainModel::least_sure && gains[k].sample.gain < 1)
      slower += "  " + name + ": " + gains[k].from + ", " + fixed(gains[k].sample.gain, 2) + " where " +
                fixed(predictions[k].surely, 2) + " was sure\n";
  if (!slower.empty()) slower = "\nServed, and slower:\n" + slower;
  return "What strategies write for a nest, chosen by the tenth percentile (the nest's family held out):\n\n" +
         table.to_string() + slower;
}

string threads_report(const std::vector<MeasuredGain>& gains) {
  std::map<double, std::vector<double>, std::greater<>> found;  // by what is counted on
  for (const MeasuredGain& gain : gains)
    if (gain.threads_gain) found[*gain.threads_gain].push_back(gain.sample.gain);
  Table table({"threads alone", "recipes", "slower", "share", "found", "least", "median"}, "l");
  for (const auto& [counted_on, values] : found) {
    std::vector<string> row{counted_on > 0 ? fixed(counted_on, 2) + " counted on" : "not used"};
    std::ranges::copy(summary(values), std::back_inserter(row));
    row.push_back(fixed(std::ranges::min(values), 2));
    row.push_back(fixed(median(values), 2));
    table.add(row);
  }
  return "Threads on loops that are left as they are, by what a build counts on:\n\n" + table.to_string();
}

// gains SAMPLES.jsonl… --out GAINS.jsonl: the terms of each sample.
Result<int> bench_gains(const Options& options) {
  if (options.words.size() < 2 || options.out.empty())
    return fail("cli.value", "gains takes files that sous tune --samples wrote, and --out FILE.jsonl");
  TRY(const auto samples, seed_entries({options.words.begin() + 1, options.words.end()}));
  std::vector<string> lines(samples.size());
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  Progress progress(samples.size());
  const int jobs = options.jobs > 0 ? options.jobs : static_cast<int>(std::thread::hardware_concurrency());
  {
    std::vector<std::jthread> workers;
    for (int w = 0; w < std::max(1, jobs); ++w) {
      workers.emplace_back([&] {
        for (std::size_t k = next++; k < samples.size(); k = next++) {
          if (samples[k].baseline_spread > agreed) continue;
          const auto gain = gain_of(samples[k]);
          const std::scoped_lock lock(mutex);
          progress.step();
          if (gain) {
            lines[k] = to_json(*gain) + "\n";
          } else {
            progress.line("sous: " + samples[k].name + ": " + gain.error().to_string());
          }
        }
      });
    }
  }
  string text;
  for (const string& line : lines) text += line;
  TRY_VOID(client::write_file(options.out, text));
  return 0;
}

// train GAINS.jsonl… [--out MODEL.json]: how well it predicts, and the model.
Result<int> bench_train(const Options& options) {
  TRY(const auto gains, read_gains({options.words.begin() + 1, options.words.end()}));
  TRY(const auto predictions, held_out(gains));
  std::printf("%s\n%s\n%s", gains_report(gains, predictions).c_str(), strategies_report(gains, predictions).c_str(),
              threads_report(gains).c_str());
  if (options.out.empty()) return 0;
  TRY(const auto model, trained(gains, {}));
  TRY_VOID(client::write_file(options.out, model.to_json() + "\n"));
  return 0;
}

}  // namespace sous::benchmarks
