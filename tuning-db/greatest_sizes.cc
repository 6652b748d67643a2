#include "tuning-db/greatest_sizes.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "sdfg/unknown_extent.h"

namespace sous::tuning_db {
namespace {

using sdfg::Expr;
using Sizes = std::map<std::string, std::int64_t>;

class Bounds {
 public:
  Bounds(const sdfg::Sdfg& nest, const Sizes& known, std::int64_t largest)
      : nest_(nest), known_(known), largest_(largest) {}

  // What is reached whenever the loops around it run.
  void region(const sdfg::Region& region) {
    for (const sdfg::Node& node : region.nodes)
      match(
          node.value,
          [&](const sdfg::State& state) {
            for (const sdfg::Edge& edge : state.edges) memlet(edge.memlet);
          },
          [&](const sdfg::Loop& loop) {
            around_.push_back(&loop);
            this->region(loop.body);
            around_.pop_back();
          },
          [](const sdfg::If&) {}, [](const sdfg::While&) {});
  }

  Sizes take() { return std::move(greatest_); }

 private:
  void memlet(const sdfg::Memlet& memlet) {
    const sdfg::Container* container = nest_.find(memlet.container);
    if (container == nullptr) return;
    for (std::size_t d = 0; d < std::min(memlet.subset.size(), container->shape.size()); ++d) {
      const auto extent = container->shape[d].constant();
      if (!extent || *extent >= sdfg::unknown_extent) continue;
      if (const auto last = last_value(memlet.subset[d])) at_most(*last, *extent - 1);
    }
  }

  // The largest value of a subscript while the loops around it run.
  std::optional<Expr> last_value(Expr e) const {
    if (!e.reads().empty()) return std::nullopt;
    for (auto loop = around_.rbegin(); loop != around_.rend(); ++loop) {
      const sdfg::Loop& l = **loop;
      if (!e.uses(l.symbol)) continue;
      const auto factor = sdfg::coefficient_of(e, l.symbol);
      const auto number = factor ? factor->constant() : std::nullopt;
      if (!number) return std::nullopt;
      const bool at_begin = (*number > 0) != (l.step > 0);
      // The last value is not before this.
      e = e.substitute({{l.symbol, at_begin ? l.begin : l.end - l.step}});
    }
    return e.reads().empty() ? std::optional(e) : std::nullopt;
  }

  // `e`, which grows with the only symbol that has no value.
  void at_most(const Expr& e, std::int64_t most) {
    std::set<std::string> open = e.symbols();
    std::erase_if(open, [&](const std::string& symbol) { return known_.contains(symbol); });
    if (open.size() != 1) return;
    const std::string& symbol = *open.begin();
    Sizes sizes = known_;
    const auto within = [&](std::int64_t value) {
      sizes[symbol] = value;
      const auto result = e.evaluate(sizes);
      return result && *result <= most;
    };
    std::int64_t low = 1, high = greatest_.contains(symbol) ? greatest_[symbol] : largest_;
    if (!within(low) || within(high)) return;
    while (high - low > 1) {
      const std::int64_t middle = low + (high - low) / 2;
      (within(middle) ? low : high) = middle;
    }
    greatest_[symbol] = low;
  }

  const sdfg::Sdfg& nest_;
  const Sizes& known_;
  const std::int64_t largest_;
  std::vector<const sdfg::Loop*> around_;
  Sizes greatest_;
};

}  // namespace

Sizes greatest_sizes(const sdfg::Sdfg& nest, const Sizes& known, std::int64_t largest) {
  Bounds bounds(nest, known, largest);
  bounds.region(nest.root);
  return bounds.take();
}

Sizes likely_sizes(const sdfg::Sdfg& nest, const Sizes& known) {
  Sizes sizes = greatest_sizes(nest, known, sdfg::unknown_extent);
  std::int64_t longest = 0;
  for (const auto& [symbol, size] : sizes) longest = std::max(longest, size);
  for (const auto& [symbol, size] : known) sizes[symbol] = size;
  if (longest > 0)
    for (const std::string& symbol : nest.symbols) sizes.emplace(symbol, longest);
  return sizes;
}

}  // namespace sous::tuning_db
