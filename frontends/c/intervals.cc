#include "frontends/c/intervals.h"

#include <algorithm>

namespace sous::frontends::c {

using sdfg::Atom;
using sdfg::AtomKind;
using sdfg::Expr;
using sdfg::Term;

namespace {

constexpr Wide kWideLimit = Wide{1} << 120;

Wide clamp(Wide v) { return std::clamp(v, -kWideLimit, kWideLimit); }

// Product without leaving the range: factors beyond the limit give the limit, with the right sign.
Wide multiply(Wide a, Wide b) {
  if (a == 0 || b == 0) return 0;
  Wide abs_a = a < 0 ? -a : a, abs_b = b < 0 ? -b : b;
  bool negative = (a < 0) != (b < 0);
  if (abs_a > kWideLimit / abs_b) return negative ? -kWideLimit : kWideLimit;
  return a * b;
}

WideInterval multiply(WideInterval a, WideInterval b) {
  Wide p[4] = {multiply(a.lo, b.lo), multiply(a.lo, b.hi), multiply(a.hi, b.lo), multiply(a.hi, b.hi)};
  return {*std::min_element(p, p + 4), *std::max_element(p, p + 4)};
}

Wide divide_floor(Wide a, Wide b) {
  Wide q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

WideInterval interval(const Atom& atom, const std::map<std::string, Interval>& parameters) {
  const WideInterval unknown{-kWideLimit, kWideLimit};
  switch (atom.kind) {
    case AtomKind::Symbol: {
      auto it = parameters.find(atom.name);
      return it == parameters.end() ? unknown : WideInterval{it->second.lo, it->second.hi};
    }
    case AtomKind::FloorDiv: {
      WideInterval a = interval(atom.args[0], parameters), b = interval(atom.args[1], parameters);
      if (b.lo <= 0) return unknown;
      Wide p[4] = {divide_floor(a.lo, b.lo), divide_floor(a.lo, b.hi), divide_floor(a.hi, b.lo),
                   divide_floor(a.hi, b.hi)};
      return {*std::min_element(p, p + 4), *std::max_element(p, p + 4)};
    }
    case AtomKind::Mod: {
      WideInterval b = interval(atom.args[1], parameters);
      return b.lo <= 0 ? unknown : WideInterval{0, b.hi - 1};
    }
    case AtomKind::Min: {
      WideInterval a = interval(atom.args[0], parameters), b = interval(atom.args[1], parameters);
      return {std::min(a.lo, b.lo), std::min(a.hi, b.hi)};
    }
    case AtomKind::Max: {
      WideInterval a = interval(atom.args[0], parameters), b = interval(atom.args[1], parameters);
      return {std::max(a.lo, b.lo), std::max(a.hi, b.hi)};
    }
    case AtomKind::Read:
      return unknown;
  }
  __builtin_unreachable();
}

// How far from zero `e` is at most where no symbol is farther than that.
Wide magnitude(const Expr& e, Wide of_symbols) {
  const auto of_atom = [&](const Atom& a) -> Wide {
    if (a.kind == AtomKind::Symbol || a.kind == AtomKind::Read) return of_symbols;
    const Wide first = magnitude(a.args[0], of_symbols), second = magnitude(a.args[1], of_symbols);
    return a.kind == AtomKind::Mod ? second : a.kind == AtomKind::FloorDiv ? first : std::max(first, second);
  };
  const auto absolute = [](Wide v) { return v < 0 ? -v : v; };
  Wide sum = absolute(e.constant_term());
  for (const Term& t : e.terms()) {
    Wide product = absolute(t.coefficient);
    for (const Atom& a : t.atoms) product = multiply(product, of_atom(a));
    sum = clamp(sum + product);
  }
  return sum;
}

}  // namespace

WideInterval interval(const Expr& e, const std::map<std::string, Interval>& parameters) {
  WideInterval sum{e.constant_term(), e.constant_term()};
  for (const Term& term : e.terms()) {
    WideInterval product{term.coefficient, term.coefficient};
    for (std::size_t k = 0; k < term.atoms.size(); ++k) {
      WideInterval factor = interval(term.atoms[k], parameters);
      // x*x is not negative, whatever x.
      if (k + 1 < term.atoms.size() && term.atoms[k] == term.atoms[k + 1]) {
        WideInterval square = multiply(factor, factor);
        factor = {factor.lo <= 0 && factor.hi >= 0 ? 0 : std::max<Wide>(square.lo, 0), square.hi};
        ++k;
      }
      product = multiply(product, factor);
    }
    sum = {clamp(sum.lo + product.lo), clamp(sum.hi + product.hi)};
  }
  return sum;
}

std::optional<std::int64_t> limit_of_parameters(const Expr& e) {
  std::size_t degree = 1;
  for (const Term& t : e.terms()) degree = std::max(degree, t.atoms.size());
  // Powers of two, for they are read: of products of two (three) half (a third of) the bits.
  constexpr std::size_t kMostFactors = 3;
  if (degree > kMostFactors) return std::nullopt;
  for (int bits = degree == 3 ? 20 : degree == 2 ? 31 : 62; bits > 0; --bits)
    if (magnitude(e, Wide{1} << bits) <= INT64_MAX) return std::int64_t{1} << bits;
  return std::nullopt;
}

}  // namespace sous::frontends::c
