#include "client/contained.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "sdfg/interp.h"
#include "tuning-db/nest_facts.h"

namespace sous::client {
namespace {

using sdfg::Expr;
using std::string;
using tuning_db::Interval;
using tuning_db::IntervalMap;

constexpr double largest = 0x1p62, most_bytes = 0x1p32;

class Contained {
 public:
  Contained(const sdfg::Sdfg& nest, const std::map<string, std::int64_t>& sizes) : nest_(nest) {
    for (const auto& [name, value] : sizes) sizes_[name] = {static_cast<double>(value), static_cast<double>(value)};
  }

  bool arrays(const std::map<string, std::int64_t>& sizes) const {
    double bytes = 0;
    for (const auto& container : nest_.containers) {
      for (const auto& list : {container.shape, container.strides})
        for (const Expr& e : list)
          if (!bounded(e, sizes_)) return false;
      const auto elements = sdfg::store_size(nest_, container.name, sizes);
      if (!elements) return false;
      bytes += static_cast<double>(*elements) * sdfg::info(container.type).bytes;
      // What the nest itself allocates is as long as its shape.
      const bool plain = container.strides == sdfg::row_major(container.shape) && container.offset == Expr(0);
      if (container.transient && !plain) return false;
    }
    return bytes <= most_bytes;
  }

  bool region(const sdfg::Region& region, const IntervalMap& symbols) {
    return std::ranges::all_of(region.nodes, [&](const sdfg::Node& node) {
      return match(
          node.value, [&](const sdfg::State& state) { return this->state(state, symbols); },
          [&](const sdfg::Loop& loop) { return this->loop(loop, symbols); },
          [&](const sdfg::If& branch) {
            return condition(branch.condition, symbols) && this->region(branch.then_body, symbols) &&
                   this->region(branch.else_body, symbols);
          },
          [&](const sdfg::While& loop) {
            return condition(loop.condition, symbols) && this->region(loop.body, symbols);
          });
    });
  }

 private:
  bool state(const sdfg::State& state, const IntervalMap& symbols) const {
    return std::ranges::all_of(state.edges, [&](const auto& edge) { return memlet(edge.memlet, symbols); });
  }

  bool condition(const sdfg::Condition& condition, const IntervalMap& symbols) const {
    return std::ranges::all_of(condition.inputs, [&](const auto& input) { return memlet(input, symbols); });
  }

  bool loop(const sdfg::Loop& loop, IntervalMap symbols) {
    const auto begin = evaluate(loop.begin, symbols), end = evaluate(loop.end, symbols);
    if (!begin || !end || !bounded(loop.begin, symbols) || !bounded(loop.end, symbols)) return false;
    if (std::abs(static_cast<double>(loop.step)) > largest) return false;
    const Interval values = loop.step > 0 ? Interval{begin->lo, end->hi - 1} : Interval{end->lo + 1, begin->hi};
    if (values.hi < values.lo) return true;  // it never runs
    symbols[loop.symbol] = values;
    around_.push_back(&loop);
    const bool inside = region(loop.body, symbols);
    around_.pop_back();
    return inside;
  }

  bool memlet(const sdfg::Memlet& memlet, const IntervalMap& symbols) const {
    const auto* container = nest_.find(memlet.container);
    if (container == nullptr || memlet.subset.size() != container->shape.size()) return false;
    for (std::size_t d = 0; d < memlet.subset.size(); ++d) {
      const Expr& index = memlet.subset[d];
      const auto extent = evaluate(container->shape[d], sizes_);
      if (!extent || !bounded(index, symbols)) return false;
      const auto inside = [&](const std::optional<Interval>& at) { return at && at->lo >= 0 && at->hi < extent->lo; };
      if (!inside(evaluate(index, symbols)) && !inside(over_loops(index))) return false;
    }
    return true;
  }

  // Whether no way of computing it leaves the range, for symbols within their intervals.
  static bool bounded(const Expr& e, const IntervalMap& symbols) {
    double sum = std::abs(static_cast<double>(e.constant_term()));
    for (const sdfg::Term& term : e.terms()) {
      double product = std::abs(static_cast<double>(term.coefficient));
      for (const sdfg::Atom& atom : term.atoms) {
        if (atom.kind == sdfg::AtomKind::Read) return false;
        if (!std::ranges::all_of(atom.args, [&](const Expr& part) { return bounded(part, symbols); })) return false;
        Expr value = Expr::symbol(atom.name);
        if (atom.kind == sdfg::AtomKind::FloorDiv) value = Expr::floor_div(atom.args[0], atom.args[1]);
        if (atom.kind == sdfg::AtomKind::Mod) value = Expr::mod(atom.args[0], atom.args[1]);
        if (atom.kind == sdfg::AtomKind::Min) value = Expr::min(atom.args[0], atom.args[1]);
        if (atom.kind == sdfg::AtomKind::Max) value = Expr::max(atom.args[0], atom.args[1]);
        const auto range = evaluate(value, symbols);
        if (!range) return false;
        product *= std::max({1.0, std::abs(range->lo), std::abs(range->hi)});
      }
      sum += product;
    }
    return sum < largest;
  }

  // Exact where intervals are not: `i - j` with j below i. Innermost first, each loop's symbol gives way to the end of
  // its range that makes the expression least, or greatest. A loop that is empty there makes the range wider.
  std::optional<Interval> over_loops(const Expr& e) const {
    const auto extreme = [&](bool least) -> std::optional<double> {
      Expr at = e;
      for (auto loop = around_.rbegin(); loop != around_.rend(); ++loop) {
        const auto form = sdfg::affine(at);
        if (!form) return std::nullopt;
        const auto own = form->coefficients.find((*loop)->symbol);
        if (own == form->coefficients.end() || own->second == 0) continue;
        if ((*loop)->step != 1) return std::nullopt;
        at = at.substitute({{(*loop)->symbol, (own->second > 0) == least ? (*loop)->begin : (*loop)->end - 1}});
      }
      const auto value = evaluate(at, sizes_);
      return value ? std::optional(least ? value->lo : value->hi) : std::nullopt;
    };
    const auto least = extreme(true), greatest = extreme(false);
    return least && greatest ? std::optional(Interval{*least, *greatest}) : std::nullopt;
  }

  const sdfg::Sdfg& nest_;
  IntervalMap sizes_;
  std::vector<const sdfg::Loop*> around_;

 public:
  const IntervalMap& sizes() const { return sizes_; }
};

}  // namespace

Result<void> contained(const sdfg::Sdfg& nest, const std::map<string, std::int64_t>& sizes) {
  Contained judge(nest, sizes);
  if (judge.arrays(sizes) && judge.region(nest.root, judge.sizes())) return {};
  return fail("measure.bounds", "it cannot be shown that it stays inside of its arrays, and that these are small");
}

}  // namespace sous::client
