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
            const Expr last = loop.end - loop.step;  // or behind the last one
            const bool up = loop.step > 0;
            around_.push_back({loop.symbol, {up ? loop.begin : last, up ? last : loop.begin}});
            this->region(loop.body);
            around_.pop_back();
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
             std::ranges::none_of(around_, [&](const auto& loop) { return e.symbolic.uses(loop.first); });
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

  // The largest or the least value while the loops around it run, from the innermost loop on, whose bounds are those of
  // an iteration of the others. Nullopt: data decides, or a sign that nobody knows.
  std::optional<Expr> extreme(const Expr& e, bool largest) const {
    std::optional<Expr> value = e;
    for (auto loop = around_.rbegin(); loop != around_.rend() && value; ++loop)
      value = sdfg::extreme(*value, largest, {*loop}, sdfg::Signs::Unknown);
    return value && value->reads().empty() ? std::move(value) : std::nullopt;
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
  std::vector<std::pair<std::string, sdfg::Extremes>> around_;  // loops, outermost first
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
