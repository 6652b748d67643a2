// How large parameters may be for what is computed from them to stay in 64 bits: assumptions that the entry checks.
#include <algorithm>
#include <span>

#include "frontends/c/intervals.h"
#include "frontends/c/ranges.h"

namespace sous::frontends::c {

using sdfg::Atom;
using sdfg::AtomKind;
using sdfg::Expr;
using sdfg::Term;

bool Ranges::require_64_bits(const Expr& e, const Box& box) {
  trust_elements = true;
  const std::optional<Expr> ends[] = {upper(e, box), lower(e, box)};
  trust_elements = false;
  for (const auto& end : ends) {
    if (!end || !end->reads().empty()) continue;
    const WideInterval values = interval(*end, parameters);
    if (values.lo >= INT64_MIN && values.hi <= INT64_MAX) continue;
    if (!require_64_bits_of_parameters(*end)) return false;
  }
  return true;
}

namespace {

bool is_long_product(const Term& t) {
  return t.atoms.size() > 2 && std::ranges::all_of(t.atoms, [](const Atom& a) { return a.kind == AtomKind::Symbol; });
}

}  // namespace

bool Ranges::require_at_most(std::int64_t limit, const Expr& symbols_of) {
  return std::ranges::all_of(symbols_of.symbols(), [&](const std::string& symbol) {
    return !parameters.contains(symbol) || require_nonneg(Expr(limit) - Expr::symbol(symbol), {});
  });
}

// Each extent alone, of four and more, would have to be smaller than some are. So that no product of several of them
// is too large, and none that is asked about wraps where those before it hold: each is 1 to 2^31, and so is the product
// of all but the last one. Their coefficients take some bits of that.
bool Ranges::require_products(const std::vector<Term>& products) {
  constexpr int bits_of_factor = 31;
  Wide times = 0;
  for (const Term& t : products) times += t.coefficient < 0 ? -Wide{t.coefficient} : Wide{t.coefficient};
  int bits = bits_of_factor;
  for (; times > 1; times = (times + 1) / 2) --bits;
  if (bits < bits_of_factor / 2) return false;
  for (const Term& t : products) {
    Expr product = 1;
    for (const Atom& a : t.atoms) {
      const Expr factor = Expr::symbol(a.name);
      if (!parameters.contains(a.name) || !require_nonneg(factor - Expr(1), {}) ||
          !require_nonneg(Expr(std::int64_t{1} << bits_of_factor) - factor, {}))
        return false;
      const bool first = product == Expr(1), last = &a == &t.atoms.back();
      product = product * factor;
      if (!first && !last && !require_nonneg(Expr(std::int64_t{1} << bits) - product, {})) return false;
    }
  }
  return true;
}

bool Ranges::require_64_bits_of_parameters(const Expr& e) {
  std::vector<Term> products;
  Expr rest = e;
  for (const Term& t : e.terms()) {
    if (!is_long_product(t)) continue;
    products.push_back(t);
    Expr product = t.coefficient;
    for (const Atom& a : t.atoms) product = product * Expr::symbol(a.name);
    rest = rest - product;
  }
  // Each of the two, half of the range.
  if (!products.empty()) rest = Expr(2) * rest;
  const auto limit = limit_of_parameters(rest);
  return limit && require_at_most(*limit, rest) && require_products(products);
}

bool Ranges::require_no_wrap(const Expr& e, const Box& box) {
  trust_elements = true;
  const std::optional<Expr> most = upper(e, box);
  trust_elements = false;
  if (!most || !most->reads().empty()) return false;
  if (!std::ranges::any_of(e.terms(), is_long_product) && !std::ranges::any_of(most->terms(), is_long_product)) {
    const auto limit = limit_of_parameters(e);
    return limit && require_at_most(*limit, *most) && require_at_most(*limit, e);
  }
  Expr strides;
  for (const Term& t : e.terms()) {
    Expr stride = t.coefficient < 0 ? -Expr(t.coefficient) : Expr(t.coefficient);
    for (const Atom& a : t.atoms)
      if (a.kind == AtomKind::Symbol && parameters.contains(a.name)) stride = stride * Expr::symbol(a.name);
    strides = strides + stride;
  }
  return require_64_bits_of_parameters(*most) && require_64_bits_of_parameters(strides);
}

bool Ranges::assumed_little(std::size_t before) const {
  constexpr std::int64_t kLittle = std::int64_t{1} << 20;  // what products of three may be asked to stay below
  const std::span<const Expr> made(assumptions.begin() + static_cast<std::ptrdiff_t>(before), assumptions.end());
  const auto limits_product = [&](const Expr& e) {
    const Expr limited = Expr(e.constant_term()) - e;
    return e.constant_term() >= kLittle && limited.terms().size() == 1 && limited.terms()[0].coefficient == 1 &&
           std::ranges::all_of(limited.terms()[0].atoms, [](const Atom& a) { return a.kind == AtomKind::Symbol; });
  };
  return std::ranges::all_of(made, [&](const Expr& e) {
    if (const auto symbol = e.as_symbol()) {
      const auto type = parameters.find(*symbol);
      return type != parameters.end() && type->second.lo == 0;
    }
    // Of a product whose factor is 0 nothing is an index.
    const auto factor = e.constant_term() == -1 ? (e + Expr(1)).as_symbol() : std::nullopt;
    return limits_product(e) || (factor && std::ranges::any_of(made, [&](const Expr& other) {
                                   return other.uses(*factor) && limits_product(other);
                                 }));
  });
}

}  // namespace sous::frontends::c
