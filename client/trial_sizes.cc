#include "client/trial_sizes.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "tuning-db/nest_facts.h"
#include "tuning-db/schedule_features.h"
#include "tuning-db/size_class.h"

namespace sous::client {
namespace {

using std::string;
using tuning_db::Interval;
using tuning_db::IntervalMap;

constexpr int usual_power = 12;            // of four: 16 MiB, beyond every second-level cache
constexpr std::int64_t largest = 1 << 24;  // of one extent
constexpr double most_operations = 4;      // for each statement that is run, on average

// Whether every subscript stays inside its array, by intervals: never true where it does not.
class Inside {
 public:
  Inside(const sdfg::Sdfg& sdfg, Inputs inputs) : sdfg_(sdfg), inputs_(inputs) {}

  bool region(const sdfg::Region& region, const IntervalMap& symbols) const {
    return std::all_of(region.nodes.begin(), region.nodes.end(),
                       [&](const sdfg::Node& node) { return this->node(node, symbols); });
  }

 private:
  bool node(const sdfg::Node& node, IntervalMap symbols) const {
    return match(
        node.value,
        [&](const sdfg::State& state) {
          return std::all_of(state.edges.begin(), state.edges.end(),
                             [&](const sdfg::Edge& edge) { return memlet(edge.memlet, symbols); });
        },
        [&](const sdfg::Loop& loop) {
          const auto begin = evaluate(loop.begin, symbols), end = evaluate(loop.end, symbols);
          if (!begin || !end) return false;
          const Interval values = loop.step > 0 ? Interval{begin->lo, end->hi - 1} : Interval{end->lo + 1, begin->hi};
          if (values.hi < values.lo) return true;  // it never runs
          symbols[loop.symbol] = values;
          return region(loop.body, symbols);
        },
        [&](const sdfg::If& branch) { return region(branch.then_body, symbols) && region(branch.else_body, symbols); },
        [&](const sdfg::While& loop) { return inputs_ != Inputs::Tame && region(loop.body, symbols); });
  }

  bool memlet(const sdfg::Memlet& memlet, const IntervalMap& symbols) const {
    const auto* container = sdfg_.find(memlet.container);
    if (container == nullptr || memlet.subset.size() != container->shape.size()) return container == nullptr;
    for (std::size_t d = 0; d < memlet.subset.size(); ++d) {
      // Drawn below the extent, or computed of what is drawn: then the program itself has to stay inside.
      if (inputs_ == Inputs::Drawn && !memlet.subset[d].reads().empty()) continue;
      const auto at = evaluate(memlet.subset[d], symbols), extent = evaluate(container->shape[d], symbols);
      if (!at || !extent || at->lo < 0 || at->hi >= extent->lo) return false;
    }
    return true;
  }

  const sdfg::Sdfg& sdfg_;
  const Inputs inputs_;
};

// What the symbols without a value are given: `value`, and some of them a place inside of what is so large: the row
// of an elimination, a lag.
struct Values {
  std::set<string> inside;
  std::int64_t inside_is = 0;  // 0: half of the value

  std::int64_t of(const string& symbol, std::int64_t value) const {
    if (!inside.contains(symbol)) return value;
    return inside_is > 0 ? inside_is : value / 2;
  }
};

std::vector<string> unknown(const PreparedNest& nest) {
  std::vector<string> out;
  for (const auto& argument : nest.lifted->arguments)
    if (argument.kind == frontends::Argument::Kind::Symbol && !nest.sizes.contains(argument.name))
      out.push_back(argument.name);
  return out;
}

PreparedNest with_sizes(const PreparedNest& nest, const Values& values, std::int64_t value) {
  PreparedNest out = nest;
  for (Unit& unit : out.units) unit.matches.clear();  // many copies
  for (const string& symbol : unknown(nest)) out.sizes.emplace(symbol, values.of(symbol, value));
  set_unit_sizes(out);
  return out;
}

bool fits(const PreparedNest& nest, std::size_t unit, double most_work, Inputs inputs) {
  const auto work = tuning_db::work(nest.unit(unit).nest, nest.unit(unit).sizes);
  if (!work || !(*work > 0) || *work > most_work) return false;
  if (tuning_db::operations(nest.unit(unit).nest, nest.unit(unit).sizes) > most_operations * most_work) return false;
  IntervalMap symbols;
  for (const auto& [name, value] : nest.sizes) symbols[name] = {static_cast<double>(value), static_cast<double>(value)};
  return Inside(nest.lifted->sdfg, inputs).region(nest.lifted->sdfg.root, symbols);
}

// One value for all is what most nests are called with; else the first with which it runs and stays inside: as few as
// can be somewhere inside.
std::optional<Values> values_for(const PreparedNest& nest, std::size_t unit, double most_work, Inputs inputs) {
  constexpr std::int64_t small = 46;
  constexpr std::size_t most_tried = 4;
  const auto can = [&](const Values& values) {
    return fits(with_sizes(nest, values, small), unit, most_work, inputs) ||
           fits(with_sizes(nest, values, 24), unit, most_work, inputs);
  };
  if (can({})) return Values{};
  const auto symbols = unknown(nest);
  if (symbols.size() < 2 || symbols.size() > most_tried) return std::nullopt;
  std::vector<unsigned> subsets;
  for (unsigned bits = 1; bits + 1 < 1U << symbols.size(); ++bits) subsets.push_back(bits);
  std::ranges::sort(subsets, {}, [](unsigned bits) { return std::pair(std::popcount(bits), bits); });
  for (const std::int64_t inside_is : {0, 1})
    for (const unsigned bits : subsets) {
      Values values{.inside = {}, .inside_is = inside_is};
      for (std::size_t k = 0; k < symbols.size(); ++k)
        if ((bits >> k & 1U) != 0) values.inside.insert(symbols[k]);
      if (can(values)) return values;
    }
  return std::nullopt;
}

// "--size n=…,m=…"
string needed(const std::vector<string>& symbols) {
  string out;
  for (const string& symbol : symbols) out += (out.empty() ? "--size " : ",") + symbol + "=…";
  return out;
}

}  // namespace

Result<PreparedNest> at_trial_sizes(const PreparedNest& nest, std::size_t unit, const string& wanted, double most_work,
                                    Inputs inputs) {
  const auto missing = unknown(nest);
  if (missing.empty()) return nest;
  const auto asked = tuning_db::parse_size_class(wanted);
  const int power = asked && asked->power ? *asked->power : usual_power;
  std::optional<PreparedNest> best;
  if (const auto values = values_for(nest, unit, most_work, inputs)) {
    // Odd multiples, too: a power of two is a size of its own to caches.
    for (std::int64_t value = 24; value <= largest; value += value / 4) {
      PreparedNest sized = with_sizes(nest, *values, value);
      if (!fits(sized, unit, most_work, inputs)) continue;
      const auto reached = tuning_db::size_class(sized.unit(unit).nest, sized.unit(unit).sizes).power;
      if (!reached || *reached > power) break;
      best = std::move(sized);
    }
  }
  if (!best) return fail("measure.sizes", "its sizes are not known: give " + needed(missing));
  return std::move(*best);
}

}  // namespace sous::client
