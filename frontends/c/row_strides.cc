#include "frontends/c/row_strides.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <numeric>
#include <tuple>

#include "sdfg/atoms.h"
#include "sdfg/planted_fault.h"

namespace sous::frontends::c {

using sdfg::Atom;
using sdfg::AtomKind;
using sdfg::Expr;
using sdfg::Term;

namespace {

using Monomial = std::vector<Atom>;  // a product of parameters, sorted

Expr product(const Monomial& m) {
  Expr result(1);
  for (const Atom& a : m) result = result * sdfg::make_atom(a, a.args);
  return result;
}

// The largest term: of the most factors; of several (w - t), one that is added.
struct Leading {
  std::int64_t factor = 0;
  Monomial parameters;
};
Leading leading(const Expr& e) {
  Leading result{.factor = e.constant_term(), .parameters = {}};
  const auto order = [](const Monomial& m, std::int64_t factor) { return std::tuple(m.size(), factor > 0, m); };
  for (const Term& t : e.terms())
    if (result.factor == 0 || order(t.atoms, t.coefficient) > order(result.parameters, result.factor))
      result = {.factor = t.coefficient, .parameters = t.atoms};
  return result;
}

// How far apart rows are that this leads from one to another of, upwards or downwards.
Expr distance(const Expr& factor, const IsNegative& is_negative) {
  const std::size_t most = leading(factor).parameters.size();
  const bool unclear =
      std::ranges::any_of(factor.terms(), [&](const Term& t) { return t.atoms.size() == most && t.coefficient < 0; });
  return unclear && (leading(factor).factor < 0 || is_negative(factor)) ? -factor : factor;
}

// a / b, where b's atoms are all in a.
std::optional<Monomial> divide(Monomial a, const Monomial& b) {
  for (const Atom& atom : b) {
    auto it = std::ranges::find(a, atom);
    if (it == a.end()) return std::nullopt;
    a.erase(it);
  }
  return a;
}

// value / divisor to the nearest integer.
std::int64_t rounded(std::int64_t value, std::int64_t divisor) {
  const std::int64_t quotient = value / divisor, rest = value % divisor;
  return 2 * std::abs(rest) > divisor ? quotient + (rest > 0 ? 1 : -1) : quotient;
}

// And downwards.
std::int64_t floored(std::int64_t value, std::int64_t divisor) {
  return value / divisor - (value % divisor < 0 ? 1 : 0);
}

}  // namespace

bool Stride::operator<(const Stride& other) const {
  const Leading a = leading(value), b = leading(other.value);
  const auto order = [](const Leading& l) { return std::tuple(l.parameters.size(), l.parameters, l.factor); };
  return order(a) != order(b) ? order(a) < order(b) : value < other.value;
}

std::pair<Expr, Expr> split(const Expr& e, const Stride& stride) {
  const Leading by = leading(stride.value);
  const auto divide_numbers = by.parameters.empty() ? rounded : floored;
  // How often the largest term is in this one.
  const auto times = [&](std::int64_t coefficient, const Monomial& atoms) -> std::optional<Expr> {
    const std::optional<Monomial> rest = divide(atoms, by.parameters);
    const std::int64_t number = rest ? divide_numbers(coefficient, by.factor) : 0;
    return number != 0 ? std::optional(Expr(number) * product(*rest)) : std::nullopt;
  };
  Expr quotient(0), remainder = e;
  constexpr int most_terms = 64;
  for (int k = 0; k < most_terms; ++k) {
    std::optional<Expr> part = times(remainder.constant_term(), {});
    for (const Term& t : remainder.terms())
      if (!part) part = times(t.coefficient, t.atoms);
    if (!part) break;
    quotient = quotient + *part;
    remainder = remainder - *part * stride.value;
  }
  return {quotient, remainder};
}

namespace {

// a / b, where it is exact and more than 1.
std::optional<Stride> divide(const Stride& a, const Stride& b) {
  auto [quotient, remainder] = split(a.value, b);
  if (remainder != Expr(0) || quotient == Expr(1) || leading(quotient).factor <= 0) return std::nullopt;
  return Stride{std::move(quotient)};
}

// Each stride a multiple of the one before (n, n*m, …): the extents of the inner dimensions, innermost first.
std::optional<std::vector<Stride>> chain(const std::vector<Stride>& strides) {
  std::vector<Stride> extents;
  Stride before;
  for (const Stride& s : strides) {
    const std::optional<Stride> extent = divide(s, before);
    if (!extent) return std::nullopt;
    extents.push_back(*extent);
    before = s;
  }
  return extents;
}

// The loop that one term of a subscript goes with and what it is multiplied by; nullopt: it is no such term.
struct Step {
  std::string loop;  // "": none
  Stride stride;
};
std::optional<Step> step_of(const Term& term, const Varies& varies) {
  Step step;
  Expr stride(term.coefficient);
  for (const Atom& a : term.atoms) {
    const bool is_loop = varies(a);
    if (is_loop && (a.kind != AtomKind::Symbol || !step.loop.empty())) return std::nullopt;
    if (is_loop)
      step.loop = a.name;
    else
      stride = stride * sdfg::make_atom(a, a.args);
  }
  step.stride.value = leading(stride).factor < 0 ? -stride : stride;
  return step;
}

}  // namespace

std::optional<Rows> rows_of(std::vector<Stride> strides) {
  std::ranges::sort(strides, std::less{});
  // Of the multiples of a polynomial rows have what they have in common: 3*n of 3*n*i and 6*n*k.
  std::vector<Stride> distinct;
  for (const Stride& s : strides) {
    const Leading now = leading(s.value), before = distinct.empty() ? Leading() : leading(distinct.back().value);
    const bool is_multiple = !distinct.empty() && !s.is_number() && now.parameters == before.parameters &&
                             s.value * Expr(before.factor) == distinct.back().value * Expr(now.factor);
    if (is_multiple) {
      const auto [parts, rest] = split(s.value * Expr(std::gcd(now.factor, before.factor)), Stride{Expr(now.factor)});
      if (rest == Expr(0)) distinct.back().value = parts;
    } else if (distinct.empty() || distinct.back().value != s.value) {
      distinct.push_back(s);
    }
  }
  strides = std::move(distinct);
  std::optional<std::vector<Stride>> extents = chain(strides);
  if (!extents) {
    // Numbers that are no rows of the others (the members of 4*j + k in rows of n) stay in the subscripts.
    std::erase_if(strides, &Stride::is_number);
    extents = chain(strides);
  }
  if (!extents || strides.empty()) return std::nullopt;
  return Rows{std::move(strides), std::move(*extents)};
}

void find_strides(const Expr& at, const Varies& varies, Factors factors, const IsNegative& is_negative,
                  std::vector<Stride>& strides) {
  std::map<Monomial, std::vector<Expr>> by_what_varies;
  for (const Term& t : at.terms()) {
    Monomial varying, parameters;
    for (const Atom& a : t.atoms) (varies(a) ? varying : parameters).push_back(a);
    if (varying.empty()) continue;
    const Expr factor = Expr(t.coefficient) * product(parameters);
    std::vector<Expr>& known = by_what_varies[varying];
    if (factors == Factors::Whole && !known.empty())
      known.back() = known.back() + factor;
    else
      known.push_back(factor);
  }
  std::optional<std::int64_t> smallest;  // of what varies in this access without a parameter
  for (const auto& [varying, all] : by_what_varies)
    for (const Expr& factor : all)
      if (const auto number = factor.constant()) smallest = std::min(smallest.value_or(INT64_MAX), std::abs(*number));
  for (const auto& [varying, all] : by_what_varies)
    for (const Expr& factor : all) {
      const auto number = factor.constant();
      if (!number || std::abs(*number) > *smallest) strides.push_back({distance(factor, is_negative)});
    }
}

std::optional<Rows> loose_rows(const std::vector<FlatAccess>& accesses, const Varies& varies,
                               const std::vector<std::string>& loops, Ranges& ranges) {
  using Order = std::tuple<std::size_t, std::ptrdiff_t>;  // factors, and how far inside the loop is
  std::map<Expr, Order> order;
  for (const auto& [at, box] : accesses)
    for (const Term& term : at.terms()) {
      const auto step = step_of(term, varies);
      if (!step) return std::nullopt;
      if (step->loop.empty() || step->stride.is_number()) continue;
      const Order own(leading(step->stride.value).parameters.size(),
                      loops.end() - std::ranges::find(loops, step->loop));
      const auto [known, is_new] = order.emplace(step->stride.value, own);
      if (!is_new) known->second = std::max(known->second, own);
    }
  Rows rows;
  for (const auto& [value, own] : order) rows.strides.push_back({value});
  std::ranges::sort(rows.strides, {}, [&](const Stride& s) { return order.at(s.value); });
  std::vector<std::optional<Expr>> longest(rows.strides.size());  // what subscripts say, innermost first
  for (const auto& [at, box] : accesses) {
    Expr rest = at;
    for (std::size_t k = rows.strides.size(); k-- > 0;) {
      auto [quotient, remainder] = split(rest, rows.strides[k]);
      const auto last = ranges.upper(quotient, box, true);
      if (k + 1 < rows.strides.size() && (!last || !last->reads().empty())) return std::nullopt;
      if (last) longest[k] = longest[k] ? ranges.larger(*longest[k], *last + Expr(1)) : *last + Expr(1);
      rest = std::move(remainder);
    }
  }
  Stride before;
  for (std::size_t k = 0; k < rows.strides.size(); ++k) {
    const Stride& stride = rows.strides[k];
    auto extent = divide(stride, before);
    if (!extent && k == 0) return std::nullopt;
    if (!extent) {
      rows.multiples = false;
      extent = Stride{*longest[k - 1]};
      if (!planted(Fault::loose_rows_unchecked) &&
          !ranges.require_nonneg(stride.value - extent->value * before.value, {}))
        return std::nullopt;
    }
    rows.extents.push_back(*extent);
    before = stride;
  }
  if (rows.strides.size() < 2) return std::nullopt;
  return rows;
}

}  // namespace sous::frontends::c
