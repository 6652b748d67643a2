#include "targets/cpp/extents.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "sdfg/atoms.h"

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

std::optional<Mean> product(const std::optional<Mean>& a, const std::optional<Mean>& b) {
  if (!a || !b || a->denominator * b->denominator > largest_denominator) return std::nullopt;
  return Mean{a->numerator * b->numerator, a->denominator * b->denominator};
}

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
  const auto divisor = b->numerator.constant();
  if (a->denominator != 1 && b->denominator == 1 && divisor.value_or(0) > 0) {
    // Between loops' iterations a remainder is anything below the divisor.
    if (*divisor > largest_denominator / (2 * a->denominator)) return std::nullopt;
    if (atom.kind == AtomKind::Mod) return Mean{Expr(*divisor - 1), 2};
    return Mean{a->numerator * Expr(2) - Expr(a->denominator * (*divisor - 1)), 2 * a->denominator * *divisor};
  }
  if (a->denominator != 1 || b->denominator != 1) return std::nullopt;
  return Mean{atom.kind == AtomKind::FloorDiv ? Expr::floor_div(a->numerator, b->numerator)
                                              : Expr::mod(a->numerator, b->numerator)};
}

std::optional<Mean> mean(const Expr& e, const Means& loops) {
  std::optional<Mean> sum = Mean{Expr(e.constant_term())};
  for (const sdfg::Term& term : e.terms()) {
    std::optional<Mean> term_mean = Mean{Expr(term.coefficient)};
    for (const Atom& atom : term.atoms) {
      term_mean = product(term_mean, mean(atom, loops));
      if (!term_mean) return std::nullopt;
    }
    sum = combined(*sum, *term_mean, plus);
    if (!sum) return std::nullopt;
  }
  return sum;
}

// Executions, as text and as an expression, where that is known.
struct Amount {
  Work work;
  std::optional<Mean> mean;
};
Amount constant_amount(std::int64_t value) { return {constant_work(static_cast<double>(value)), Mean{Expr(value)}}; }
Amount operator+(const Amount& a, const Amount& b) {
  return {sum(a.work, b.work), a.mean && b.mean ? combined(*a.mean, *b.mean, plus) : std::nullopt};
}

class ShapePrinter {
 public:
  ShapePrinter(const Guard& guard, const Expressions& expressions) : guard_(guard), expressions_(expressions) {}

  Shape print() {
    Shape shape;
    const Amount all = region(guard_.original);
    shape.work = all.work;
    shape.looks_at_data = looks_at_data_;
    if (looks_at_data_) shape.needs_all = false;
    shape.too_small = too_short_;
    for (const auto& [value, bound] : bounds_) {
      if (!shape.too_small.empty()) shape.too_small += " || ";
      shape.too_small += expressions_.index_ahead(value).in(Binding::Sum) + " < " + std::to_string(bound);
      shape.needs.push_back(value - Expr(bound));
    }
    if (all.mean && guard_.least_work > 0 && guard_.least_work < most_counted)
      shape.needs.push_back(all.mean->numerator - Expr(scaled(guard_.least_work, *all.mean)));
    else if (guard_.least_work > 0)
      shape.needs_all = false;
    const auto unsaid = [](const Expr& e) { return !e.is_valid() || !e.reads().empty(); };
    if (std::erase_if(shape.needs, unsaid) > 0) shape.needs_all = false;
    return shape;
  }

 private:
  // Far above every size.
  static constexpr double most_counted = 1e12;
  static std::int64_t scaled(double least, const Mean& mean) {
    return static_cast<std::int64_t>(std::ceil(least * static_cast<double>(mean.denominator)));
  }

  Amount region(const sdfg::Region& region) {
    Amount total = constant_amount(0);
    for (const sdfg::Node& n : region.nodes) total = total + node(n);
    return total;
  }

  Amount node(const sdfg::Node& n) {
    return match(
        n.value,
        [](const sdfg::State& s) {
          return constant_amount(static_cast<std::int64_t>(sdfg::execution_order(s).size()));
        },
        [&](const sdfg::Loop& l) { return loop(l); },
        [&](const sdfg::If& i) { return walk_.inside(i, [&] { return region(i.then_body) + region(i.else_body); }); },
        [&](const sdfg::While& w) { return walk_.inside(w, [&] { return region(w.body); }); });
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

  Amount loop(const sdfg::Loop& l) {
    const std::size_t place = loops_++;
    const auto extent = enter(l);
    Amount iterations = constant_amount(1);
    if (extent && extent->numerator.reads().empty() && extent->numerator.is_valid()) {
      if (place < guard_.least_extents.size()) require(*extent, guard_.least_extents[place]);
      iterations = {work_of_extent(extent->numerator, expressions_), extent};
      if (extent->denominator != 1)
        iterations.work = product(iterations.work, constant_work(1.0 / static_cast<double>(extent->denominator)));
    } else if (const auto rows = walk_.of(l)) {
      const Work length = mean_length(*rows, expressions_);
      const double least = place < guard_.least_extents.size() ? guard_.least_extents[place] : 0;
      if (least > 1) too_short_ += (too_short_.empty() ? "" : " || ") + length.text + " < " + constant_work(least).text;
      iterations = {length, std::nullopt};
      looks_at_data_ = true;
    }
    const Amount body = walk_.inside(l, [&] { return region(l.body); });
    means_.erase(l.symbol);
    return {product(iterations.work, body.work), product(iterations.mean, body.mean)};
  }

  // One condition for each expression, whatever constant is added to it: the strictest.
  void require(const Mean& extent, double least) {
    if (!(least > 0) || least > 1e15) return;
    const std::int64_t needed = scaled(least, extent);
    const Expr value = extent.numerator - Expr(extent.numerator.constant_term());
    const std::int64_t bound = needed - extent.numerator.constant_term();
    if (value.constant() && bound <= 0) return;  // known to be enough
    const auto [at, fresh] = bounds_.try_emplace(value, bound);
    if (!fresh) at->second = std::max(at->second, bound);
  }

  const Guard& guard_;
  const Expressions& expressions_;
  sdfg::RowWalk walk_{expressions_.sdfg(), guard_.original};
  std::string too_short_;
  bool looks_at_data_ = false;
  Means means_;
  std::size_t loops_ = 0;
  std::map<Expr, std::int64_t> bounds_;
};

// Whether it has a value whatever its symbols are.
bool is_total(const Expr& e) {
  return std::ranges::all_of(e.terms(), [](const sdfg::Term& term) {
    return std::ranges::all_of(term.atoms, [](const Atom& atom) {
      const bool divides = atom.kind == AtomKind::FloorDiv || atom.kind == AtomKind::Mod;
      return atom.kind != AtomKind::Read && std::ranges::all_of(atom.args, is_total) &&
             (!divides || atom.args[1].constant().value_or(0) > 0);
    });
  });
}

// In doubles: a product of sizes neither overflows nor wraps.
sdfg::ScalarExpr is_not_negative(const Expr& e) {
  using sdfg::ElementType;
  using sdfg::ScalarExpr;
  const auto both = [](std::optional<ScalarExpr> a, sdfg::ScalarOp op, ScalarExpr b) {
    return a ? ScalarExpr::binary(op, std::move(*a), std::move(b)) : b;
  };
  const auto real = [](std::int64_t value) { return ScalarExpr::real(static_cast<double>(value), ElementType::f64); };
  std::optional<ScalarExpr> sum;
  for (const sdfg::Term& term : e.terms()) {
    std::optional<ScalarExpr> product;
    if (term.coefficient != 1) product = real(term.coefficient);
    for (const Atom& atom : term.atoms) {
      auto value = ScalarExpr::make_symbolic(sdfg::make_atom(atom, atom.args), ElementType::i64);
      product = both(std::move(product), sdfg::ScalarOp::mul, ScalarExpr::cast(std::move(value), ElementType::f64));
    }
    sum = both(std::move(sum), sdfg::ScalarOp::add, std::move(*product));
  }
  return ScalarExpr::binary(sdfg::ScalarOp::ge, sum.value_or(real(0)), real(-e.constant_term()));
}

}  // namespace

Shape shape(const Guard& guard, const Expressions& expressions) { return ShapePrinter(guard, expressions).print(); }

std::optional<sdfg::Condition> condition(const Guard& guard, const sdfg::Sdfg& sdfg) {
  Names names;
  const Shape asked = shape(guard, Expressions(sdfg, names));
  if (!asked.needs_all || !std::ranges::all_of(asked.needs, is_total)) return std::nullopt;
  std::optional<sdfg::ScalarExpr> all;
  for (const Expr& e : asked.needs) {
    sdfg::ScalarExpr one = is_not_negative(e);
    all = all ? sdfg::ScalarExpr::binary(sdfg::ScalarOp::logical_and, std::move(*all), std::move(one)) : std::move(one);
  }
  return sdfg::Condition{all.value_or(sdfg::ScalarExpr::integer(1, sdfg::ElementType::boolean)), {}};
}

}  // namespace sous::targets
