#include "tuning-db/greatest_sizes.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "sdfg/extremes.h"
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
          node.value, [&](const sdfg::State& s) { state(s); },
          [&](const sdfg::Loop& loop) {
            enter(loop);
            this->region(loop.body);
            ranges_.erase(loop.symbol);
          },
          [&](const sdfg::If& branch) {
            read(branch.condition.code, branch.condition.inputs);
            // What all depends on is true, or there is nothing to do.
            if (region.nodes.size() == 1 && branch.else_body.nodes.empty() && stays(branch.condition))
              this->region(branch.then_body);
          },
          [](const sdfg::While&) {});
  }

  Sizes take() { return std::move(greatest_); }

 private:
  void enter(const sdfg::Loop& loop) {
    const Expr last = loop.end - loop.step;  // or behind the last one
    const auto low = extreme(loop.step > 0 ? loop.begin : last, false);
    const auto high = extreme(loop.step > 0 ? last : loop.begin, true);
    if (low && high) ranges_[loop.symbol] = {*low, *high};
    around_.insert(loop.symbol);
  }

  void state(const sdfg::State& state) {
    if (const auto assigned = sdfg::as_assignment(state)) {
      read(assigned->code, assigned->inputs);
      memlet(assigned->out);
      return;
    }
    for (const sdfg::Edge& edge : state.edges) memlet(edge.memlet);
  }

  // What evaluating the code evaluates in any case.
  void read(const sdfg::ScalarExpr& code, const std::vector<sdfg::Memlet>& inputs) {
    if (code.op == sdfg::ScalarOp::input) memlet(inputs[static_cast<std::size_t>(code.input)]);
    for (std::size_t k = 0; k < sdfg::operands_in_any_case(code); ++k) read(code.args[k], inputs);
  }

  // Whether it is the same in all iterations.
  bool stays(const sdfg::Condition& condition) const {
    bool same = condition.inputs.empty();
    condition.code.visit([&](const sdfg::ScalarExpr& e) {
      if (e.op != sdfg::ScalarOp::symbolic) return;
      same = same && e.symbolic.reads().empty() &&
             std::ranges::none_of(around_, [&](const std::string& loop) { return e.symbolic.uses(loop); });
    });
    return same;
  }

  void memlet(const sdfg::Memlet& memlet) {
    const sdfg::Container* container = nest_.find(memlet.container);
    if (container == nullptr) return;
    for (std::size_t d = 0; d < std::min(memlet.subset.size(), container->shape.size()); ++d) {
      const auto extent = container->shape[d].constant();
      if (!extent || *extent >= sdfg::unknown_extent) continue;
      const auto last = extreme(memlet.subset[d], true), first = extreme(memlet.subset[d], false);
      if (last) at_most(*last, *extent - 1);
      if (last && first) at_most(*last - *first, *extent - 1);  // wherever in it the first one lies
    }
  }

  // The largest or the least value while the loops around it run. Nullopt: data, or a loop without a range, decides.
  std::optional<Expr> extreme(const Expr& e, bool largest) const {
    auto value = sdfg::extreme(e, largest, ranges_, sdfg::Signs::Unknown);
    if (!value || !value->reads().empty()) return std::nullopt;
    return std::ranges::any_of(around_, [&](const std::string& loop) { return value->uses(loop); }) ? std::nullopt
                                                                                                    : std::move(value);
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
  std::set<std::string> around_;  // all loops so far
  sdfg::ExtremesOf ranges_;       // of those around that have some
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
