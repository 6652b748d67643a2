#include "tuning-db/shape.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>

#include "sdfg/planted_fault.h"
#include "sdfg/text.h"
#include "transforms/loop_names.h"
#include "transforms/step.h"
#include "tuning-db/belief.h"
#include "tuning-db/nest_facts.h"

namespace sous::tuning_db {
namespace {

using transforms::loop_of_nest;
using transforms::StepCall;

// How far below a measured extent evidence still speaks, where no threshold was measured.
constexpr double reach_below = 4;
// The same for the work.
constexpr double work_below = 2;

const std::string* text_of(const StepCall& call, const std::string& name) {
  const auto at = call.params.find(name);
  return at == call.params.end() ? nullptr : std::get_if<std::string>(&at->second);
}

// What a recipe cuts the loops of its nest into.
class Pieces {
 public:
  Pieces(const transforms::Recipe& recipe, const std::map<std::string, std::int64_t>& values) : values_(values) {
    for (const StepCall& call : recipe.steps) add(call);
  }

  // Iterations of the largest tile, vector or unrolled body; 1: the loop is in one piece.
  double largest(const std::string& loop) const { return find(largest_, loop, 1); }
  // Iterations that a thread takes at a time; 0: the loop is not shared.
  double share(const std::string& loop) const { return find(share_, loop, 0); }

 private:
  using Sizes = std::map<std::string, double>;

  static double find(const Sizes& sizes, const std::string& loop, double otherwise) {
    const auto at = sizes.find(loop);
    return at == sizes.end() ? otherwise : at->second;
  }

  double number(const transforms::ParamValue& value) const {
    if (const auto* number = std::get_if<std::int64_t>(&value)) return static_cast<double>(*number);
    const auto* text = std::get_if<std::string>(&value);
    const auto size = text ? sdfg::parse_expr(*text) : std::unexpected(Error{});
    return size ? static_cast<double>(size->evaluate(values_).value_or(1)) : 1;
  }
  double number(const StepCall& call, const transforms::ParamInfo& p) const {
    if (const auto at = call.params.find(std::string(p.name)); at != call.params.end()) return number(at->second);
    const auto* otherwise = std::get_if<std::int64_t>(&p.default_value);
    return otherwise == nullptr ? 1 : static_cast<double>(*otherwise);
  }
  std::vector<double> numbers(const StepCall& call, const std::string& name) const {
    std::vector<double> result;
    const auto at = call.params.find(name);
    if (at == call.params.end()) return result;
    if (const auto* many = std::get_if<std::vector<std::int64_t>>(&at->second)) {
      for (const std::int64_t one : *many) result.push_back(static_cast<double>(one));
    } else if (const auto* texts = std::get_if<std::vector<std::string>>(&at->second)) {
      for (const std::string& one : *texts) result.push_back(number(one));
    }
    return result;
  }

  // The loop and those that were fused into it.
  std::set<std::string> loops_in(const std::string& loop) const {
    std::set<std::string> result{loop_of_nest(loop)};
    const auto at = fused_.find(loop_of_nest(loop));
    if (at != fused_.end()) result.insert(at->second.begin(), at->second.end());
    return result;
  }
  void cut(const std::string& loop, double size) {
    for (const std::string& one : loops_in(loop)) largest_[one] = std::max(largest(one), size);
  }

  // The loops that a parameter's effect is on.
  static std::vector<std::string> concerned(const transforms::StepInfo& step, const transforms::ParamInfo& p,
                                            const StepCall& call) {
    for (const transforms::ParamInfo& other : step.params) {
      const auto at = call.params.find(std::string(other.name));
      if (at == call.params.end()) continue;
      const auto* many = std::get_if<std::vector<std::string>>(&at->second);
      if (many != nullptr && other.name == p.length_of) return *many;
      const auto* one = std::get_if<std::string>(&at->second);
      if (one != nullptr && p.length_of.empty() && other.type == transforms::ParamType::Loop) return {*one};
    }
    return {};
  }

  void add(const StepCall& call) {
    const transforms::StepInfo* step = transforms::find_step(call.step);
    if (step == nullptr) return;
    for (const transforms::ParamInfo& p : step->params) {
      const std::string name(p.name);
      const std::vector<std::string> loops = concerned(*step, p, call);
      switch (p.effect) {
        case transforms::Effect::None:
          break;
        case transforms::Effect::Cuts: {
          std::vector<double> sizes = numbers(call, name);
          if (p.length_of.empty()) sizes = {number(call, p)};
          for (std::size_t k = 0; k < std::min(loops.size(), sizes.size()); ++k) cut(loops[k], sizes[k]);
          break;
        }
        case transforms::Effect::Shares:
          for (const std::string& loop : loops) share(loop, number(call, p));
          break;
        case transforms::Effect::Joins: {
          const std::string *into = text_of(call, std::string(p.to)), *joined = text_of(call, name);
          if (into == nullptr || joined == nullptr) break;
          for (const std::string& one : loops_in(*joined)) fused_[loop_of_nest(*into)].insert(one);
        }
      }
    }
  }
  void share(const std::string& loop, double chunk) {
    const bool tiles = transforms::runs_over_tiles(loop);
    for (const std::string& one : loops_in(loop)) share_[one] = std::max(1.0, chunk) * (tiles ? largest(one) : 1);
  }

  const std::map<std::string, std::int64_t>& values_;
  std::map<std::string, std::set<std::string>> fused_;
  Sizes largest_, share_;
};

std::string short_number(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.6g", value);
  return buffer;
}

}  // namespace

std::vector<double> extents(const sdfg::Sdfg& nest, const std::map<std::string, std::int64_t>& sizes) {
  const NestFacts f = facts(nest, sizes);
  std::vector<double> result;
  std::set<std::string> known;
  for (const auto& [symbol, value] : sizes) known.insert(symbol);
  for (const LoopFact& fact : f.loops) {
    std::set<std::string> used = fact.loop->begin.symbols();
    used.merge(fact.loop->end.symbols());
    const bool is_known =
        std::ranges::includes(known, used) && fact.loop->begin.reads().empty() && fact.loop->end.reads().empty();
    if (is_known) known.insert(fact.loop->symbol);
    result.push_back(is_known ? std::min(fact.trips, 1e300) : 0);
  }
  return result;
}

int least_threads(const transforms::Evidence& e) {
  if (e.threads <= 1 || !(e.ratio() > 0) || planted(Fault::fewer_threads_ignored)) return 1;
  return std::clamp(static_cast<int>(std::ceil(e.threads * least_gain / e.ratio())), 1, e.threads);
}

LeastShape least_shape(const sdfg::Sdfg& nest, const transforms::Recipe& recipe, const transforms::Evidence& e,
                       const std::map<std::string, std::int64_t>& values) {
  const NestFacts f = facts(nest, {});
  LeastShape least{.extents = std::vector<double>(f.loops.size(), 0), .work = e.work / work_below};
  if (planted(Fault::extents_unchecked)) return least;
  if (e.least_extents.size() == f.loops.size()) return {e.least_extents, e.least_work, true};
  const bool measured = e.extents.size() == f.loops.size();
  if (!measured && !(e.work > 0)) return least;  // nothing is known of the shape
  const Pieces pieces(recipe, values);
  for (std::size_t k = 0; k < f.loops.size(); ++k) {
    const std::string& loop = f.loops[k].loop->symbol;
    const double shares = pieces.share(loop) * (least_threads(e) - 1) + 1;
    const double needed = std::max(pieces.largest(loop), shares);
    if (!measured || e.extents[k] > 0)
      least.extents[k] = measured ? std::min(e.extents[k], std::max(e.extents[k] / reach_below, needed)) : needed;
    if (least.extents[k] <= 1) least.extents[k] = 0;
  }
  return least;
}

std::string too_small(const sdfg::Sdfg& nest, const std::map<std::string, std::int64_t>& sizes,
                      const LeastShape& least) {
  const NestFacts f = facts(nest, sizes);
  if (least.measured && f.sizes_known && f.work() < least.work)
    return "it executes " + short_number(f.work()) + " of at least " + short_number(least.work) + " statements";
  const std::vector<double> here = extents(nest, sizes);
  for (std::size_t k = 0; k < std::min(here.size(), least.extents.size()); ++k) {
    // 0 is "not known", and so is a loop that never runs.
    if (here[k] <= 0 || here[k] >= least.extents[k]) continue;
    return f.loops[k].loop->symbol + " has " + short_number(here[k]) + " of at least " +
           short_number(least.extents[k]) + " iterations";
  }
  return "";
}

sdfg::CacheSets cache_for(const transforms::Evidence& e, const Hardware& hardware) {
  constexpr double half_full_costs = 2, overfull_costs = 12;
  sdfg::CacheSets cache = l1_sets(hardware);
  const double gain = e.ratio() / std::max(1, e.threads);  // on one thread, at least
  if (gain < half_full_costs) cache.ways = std::max<std::int64_t>(1, cache.ways / 2);
  return gain < overfull_costs ? cache : sdfg::CacheSets{};
}

sdfg::CacheSets strictest(const sdfg::CacheSets& a, const sdfg::CacheSets& b) {
  if (a.sets == 0 || b.sets == 0) return a.sets == 0 ? b : a;
  return a.ways < b.ways ? a : b;
}

std::string crowded(const sdfg::Sdfg& nest, const sdfg::Sdfg& applied, const std::map<std::string, std::int64_t>& sizes,
                    const sdfg::CacheSets& cache) {
  for (const sdfg::Window& window : sdfg::windows(applied, nest.root, cache))
    if (sdfg::crowded(window, sizes, cache)) return "in " + window.loop + ", rows side by side share cache sets";
  return "";
}

}  // namespace sous::tuning_db
