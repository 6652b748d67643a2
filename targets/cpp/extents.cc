#include "targets/cpp/extents.h"

#include <cmath>
#include <cstdlib>
#include <numeric>

namespace sous::targets {
namespace {

using sdfg::Atom;
using sdfg::AtomKind;
using sdfg::Expr;

// numerator / denominator: averages of whole numbers stay exact.
struct Mean {
  Expr numerator;
  std::int64_t denominator = 1;

  // Over another denominator, a multiple of its own. (They are small: powers of two times steps.)
  Expr over(std::int64_t common) const { return numerator * Expr(common / denominator); }
};
using Means = std::map<std::string, Mean>;

constexpr std::int64_t largest_denominator = 1 << 20;

std::optional<Mean> combined(const Mean& a, const Mean& b, Expr (*f)(const Expr&, const Expr&)) {
  const std::int64_t common = std::lcm(a.denominator, b.denominator);
  if (common > largest_denominator) return std::nullopt;
  return Mean{f(a.over(common), b.over(common)), common};
}
Expr plus(const Expr& a, const Expr& b) { return a + b; }
Expr minus(const Expr& a, const Expr& b) { return a - b; }

// `e` for loop variables in the middle of their ranges; nothing where that is not known on entry.
std::optional<Mean> mean(const Expr& e, const Means& loops);

std::optional<Mean> mean(const Atom& atom, const Means& loops) {
  if (atom.kind == AtomKind::Symbol) {
    const auto at = loops.find(atom.name);
    return at == loops.end() ? Mean{Expr::symbol(atom.name)} : at->second;
  }
  if (atom.kind == AtomKind::Read) return std::nullopt;
  const auto a = mean(atom.args[0], loops), b = mean(atom.args[1], loops);
  if (!a || !b) return std::nullopt;
  if (atom.kind == AtomKind::Min) return combined(*a, *b, Expr::min);
  if (atom.kind == AtomKind::Max) return combined(*a, *b, Expr::max);
  if (a->denominator != 1 || b->denominator != 1) return std::nullopt;
  return Mean{atom.kind == AtomKind::FloorDiv ? Expr::floor_div(a->numerator, b->numerator)
                                              : Expr::mod(a->numerator, b->numerator)};
}

std::optional<Mean> mean(const Expr& e, const Means& loops) {
  std::optional<Mean> sum = Mean{Expr(e.constant_term())};
  for (const sdfg::Term& term : e.terms()) {
    Mean product{Expr(term.coefficient)};
    for (const Atom& atom : term.atoms) {
      const auto factor = mean(atom, loops);
      if (!factor || product.denominator * factor->denominator > largest_denominator) return std::nullopt;
      product = {product.numerator * factor->numerator, product.denominator * factor->denominator};
    }
    sum = combined(*sum, product, plus);
    if (!sum) return std::nullopt;
  }
  return sum;
}

class ShapePrinter {
 public:
  ShapePrinter(const Guard& guard, const Expressions& expressions) : guard_(guard), expressions_(expressions) {}

  Shape print() {
    Shape shape;
    shape.work = region(guard_.original);
    for (const auto& [value, bound] : bounds_) {
      if (!shape.too_small.empty()) shape.too_small += " || ";
      shape.too_small += expressions_.index(value).in(Binding::Sum) + " < " + std::to_string(bound);
    }
    return shape;
  }

 private:
  Work region(const sdfg::Region& region) {
    Work total = constant_work(0);
    for (const sdfg::Node& n : region.nodes) total = sum(total, node(n));
    return total;
  }

  Work node(const sdfg::Node& n) {
    return match(
        n.value,
        [](const sdfg::State& s) { return constant_work(static_cast<double>(sdfg::execution_order(s).size())); },
        [&](const sdfg::Loop& l) { return loop(l); },
        [&](const sdfg::If& i) { return sum(region(i.then_body), region(i.else_body)); },
        [&](const sdfg::While& w) { return region(w.body); }, [](const sdfg::Return&) { return constant_work(0); });
  }

  // Iterations, and what the loop's variable is in the middle.
  std::optional<Mean> enter(const sdfg::Loop& l) {
    const auto first = mean(l.begin, means_), end = mean(l.end, means_);
    std::optional<Mean> extent;
    if (first && end) extent = l.step > 0 ? combined(*end, *first, minus) : combined(*first, *end, minus);
    const std::int64_t step = std::abs(l.step);
    if (extent && extent->denominator * step * 2 > largest_denominator) extent.reset();
    if (!extent || !extent->numerator.is_valid()) {
      // Its variable stands for any value: nothing is known of what depends on it.
      means_[l.symbol] = {Expr::read(l.symbol, {})};
      return std::nullopt;
    }
    // (first + last) / 2, where last is end - step.
    const auto ends = combined(*first, *end, plus);
    if (ends) means_[l.symbol] = {ends->numerator - Expr(l.step * ends->denominator), ends->denominator * 2};
    if (extent->denominator == 1 && step != 1) return Mean{Expr::ceil_div(extent->numerator, step)};
    return Mean{extent->numerator, extent->denominator * step};
  }

  Work loop(const sdfg::Loop& l) {
    const std::size_t place = loops_++;
    const auto extent = enter(l);
    Work iterations = constant_work(1);
    if (extent && extent->numerator.reads().empty() && extent->numerator.is_valid()) {
      if (place < guard_.least_extents.size()) require(*extent, guard_.least_extents[place]);
      iterations = work_of_extent(extent->numerator, expressions_);
      if (extent->denominator != 1)
        iterations = product(iterations, constant_work(1.0 / static_cast<double>(extent->denominator)));
    }
    const Work result = product(iterations, region(l.body));
    means_.erase(l.symbol);
    return result;
  }

  // One condition for each expression, whatever constant is added to it: the strictest.
  void require(const Mean& extent, double least) {
    if (!(least > 0) || least > 1e15) return;
    const auto needed = static_cast<std::int64_t>(std::ceil(least * static_cast<double>(extent.denominator)));
    const Expr value = extent.numerator - Expr(extent.numerator.constant_term());
    const std::int64_t bound = needed - extent.numerator.constant_term();
    if (value.constant() && bound <= 0) return;  // known to be enough
    const auto [at, fresh] = bounds_.try_emplace(value, bound);
    if (!fresh) at->second = std::max(at->second, bound);
  }

  const Guard& guard_;
  const Expressions& expressions_;
  Means means_;
  std::size_t loops_ = 0;
  std::map<Expr, std::int64_t> bounds_;
};

}  // namespace

Shape shape(const Guard& guard, const Expressions& expressions) { return ShapePrinter(guard, expressions).print(); }

}  // namespace sous::targets
