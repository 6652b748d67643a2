// After building: the rows of the memory that a pointer leads to, where subscripts tell of them.
#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <ranges>
#include <tuple>

#include "frontends/c/builder.h"
#include "frontends/c/memlets.h"
#include "sdfg/planted_fault.h"
#include "sdfg/unknown_extent.h"

namespace sous::frontends::c {

using sdfg::Atom;
using sdfg::AtomKind;
using sdfg::Expr;
using sdfg::Memlet;
using sdfg::Term;

namespace {

Expr expression(const Atom& atom) {
  switch (atom.kind) {
    case AtomKind::Symbol:
      return Expr::symbol(atom.name);
    case AtomKind::FloorDiv:
      return Expr::floor_div(atom.args[0], atom.args[1]);
    case AtomKind::Mod:
      return Expr::mod(atom.args[0], atom.args[1]);
    case AtomKind::Min:
      return Expr::min(atom.args[0], atom.args[1]);
    case AtomKind::Max:
      return Expr::max(atom.args[0], atom.args[1]);
    case AtomKind::Read:
      return Expr::read(atom.name, atom.args);
  }
  __builtin_unreachable();
}

using Monomial = std::vector<Atom>;  // a product of parameters, sorted

Expr product(const Monomial& m) {
  Expr result(1);
  for (const Atom& a : m) result = result * expression(a);
  return result;
}

// The largest term: of the most factors.
struct Leading {
  std::int64_t factor = 0;
  Monomial parameters;
};
Leading leading(const Expr& e) {
  Leading result{.factor = e.constant_term(), .parameters = {}};
  for (const Term& t : e.terms())
    if (result.factor == 0 ||
        std::tuple(t.atoms.size(), t.atoms) > std::tuple(result.parameters.size(), result.parameters))
      result = {.factor = t.coefficient, .parameters = t.atoms};
  return result;
}

// How far apart the rows of one dimension are: a polynomial of parameters, whose largest term is positive.
struct Stride {
  Expr value = Expr(1);

  // Of chained strides, the inner one is the smaller.
  bool operator<(const Stride& other) const {
    const Leading a = leading(value), b = leading(other.value);
    const auto order = [](const Leading& l) { return std::tuple(l.parameters.size(), l.parameters, l.factor); };
    return order(a) != order(b) ? order(a) < order(b) : value < other.value;
  }
  bool is_number() const { return value.constant().has_value(); }
};

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

// e as quotient * stride + remainder: 1101*i - 1 by 1100 is i and i - 1, 3*n*i + 2*n + j by 3*n is i and 2*n + j, and
// n*i + i + j by n + 1 is i and j.
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

// The dimensions that an array of rows has behind its outermost one.
struct Rows {
  std::vector<Stride> strides;  // innermost first
  std::vector<Stride> extents;
};

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

// What a subscript multiplies by what varies in it: each term's own factors (n and 1 of n*i + i + j, where [i][i + j]
// is meant), or all that goes with it (n + 1, where [i][j] is).
enum class Factors : std::uint8_t { OfTerms, Whole };

void find_strides(const Expr& at, const std::function<bool(const Atom&)>& varies, Factors factors,
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
      if (!number || std::abs(*number) > *smallest) strides.push_back({leading(factor).factor < 0 ? -factor : factor});
    }
}

// A row as short as this is assumed to be long enough only where that is certain: a[2*i + j] is more often a window
// that moves by 2 than a row of 2.
constexpr std::int64_t kShortRow = 16;

// The subscripts of a flat one in rows; nullopt: it is not shown, and cannot be assumed, to stay in its row.
std::optional<std::vector<Expr>> decompose(const Expr& at, const Rows& rows, const Box& box, Ranges& ranges) {
  std::vector<Expr> subscript;
  Expr rest = at;
  for (std::size_t k = rows.strides.size(); k-- > 0;) {
    auto [quotient, remainder] = split(rest, rows.strides[k]);
    subscript.push_back(quotient);
    rest = remainder;
  }
  subscript.push_back(rest);
  // Innermost first, for a shift changes the next dimension.
  for (std::size_t d = subscript.size() - 1; d > 0; --d) {
    const Expr& extent = rows.extents[subscript.size() - 1 - d].value;
    Expr& s = subscript[d];
    if (ranges.nonneg(Expr(-1) - s, box) && ranges.nonneg(s + extent, box)) {
      s = s + extent;  // [i][-1] is [i-1][n-1]
      subscript[d - 1] = subscript[d - 1] - Expr(1);
    }
    if (planted(Fault::rows_unchecked)) continue;
    const bool short_row = extent.constant() && *extent.constant() < kShortRow;
    for (const Expr& e : {s, extent - s - Expr(1)})
      if (!(short_row ? ranges.nonneg(e, box) : ranges.require_nonneg(e, box))) return std::nullopt;
  }
  return subscript;
}

// Rows take the place of a dimension; `extent` of them.
void reshape(sdfg::Container& c, std::size_t dimension, const Expr& extent, const Rows& rows) {
  std::vector<Expr> shape{extent};
  for (const Stride& row : rows.extents | std::views::reverse) shape.push_back(row.value);
  std::vector<Expr> strides = sdfg::row_major(shape);
  for (Expr& stride : strides) stride = stride * c.strides[dimension];
  const auto replace = [&](std::vector<Expr>& all, const std::vector<Expr>& by) {
    const auto at = all.erase(all.begin() + static_cast<std::ptrdiff_t>(dimension));
    all.insert(at, by.begin(), by.end());
  };
  replace(c.shape, shape);
  replace(c.strides, strides);
}

using FlatAccess = std::pair<Expr, Box>;

// The number of rows that all the accesses stay in; nullopt: nobody knows.
std::optional<Expr> count_of(const Rows& rows, const std::vector<FlatAccess>& accesses, Ranges& ranges) {
  std::optional<Expr> count;
  for (const auto& [at, box] : accesses) {
    const auto subscript = decompose(at, rows, box, ranges);
    const auto last = subscript ? ranges.upper(subscript->front(), box, true) : std::nullopt;
    if (!last || !last->reads().empty() || !ranges.require_nonneg(subscript->front(), box)) return std::nullopt;
    count = count ? ranges.larger(*count, *last + Expr(1)) : *last + Expr(1);
  }
  return count;
}

}  // namespace

// `e` with the variables of loops that may end early as symbols, whose ranges are added to the box: each is read inside
// of its loop only.
Expr Builder::ranged(const Expr& e, Box& box) const {
  if (own_ranges_.empty() || e.reads().empty()) return e;
  return e.map_reads([&](const std::string& container, const std::vector<Expr>& subscript) {
    const auto own = own_ranges_.find(container);
    if (own == own_ranges_.end() || !subscript.empty()) return Expr::read(container, subscript);
    box.push_back(own->second);
    return Expr::symbol(own->second.symbol);
  });
}

// A flat pointer with subscripts such as i*n + j or 1100*i + j becomes an array of rows of n or 1100, where 0 <= j < n;
// so does what each pointer of a table leads to, if its rows are planes.
Lift<void> Builder::delinearize(Memory& memory) {
  const sdfg::Container* container = sdfg_.find(memory.container);
  const bool planes = !memory.stride.empty();
  const std::size_t dimension = planes ? 1 : 0;
  if (planes ? memory.table.empty() || container->shape.size() != 2
             : !memory.flat || (container->shape.size() != 1 && memory.record.empty()))
    return {};
  std::set<std::string> loops;
  sdfg::visit(sdfg_.root, [&](const sdfg::Node& n) {
    if (const auto* l = std::get_if<sdfg::Loop>(&n.value)) loops.insert(l->symbol);
  });
  std::map<std::string, Expr> reads;  // what `ranged` replaced
  for (const auto& [own, range] : own_ranges_) {
    loops.insert(range.symbol);
    reads.emplace(range.symbol, Expr::read(own, {}));
  }
  auto varies = [&](const Atom& a) {
    if (a.kind == AtomKind::Symbol) return loops.contains(a.name);
    return a.kind == AtomKind::Read ||
           std::ranges::any_of(expression(a).symbols(), [&](const std::string& s) { return loops.contains(s); });
  };
  std::vector<FlatAccess> accesses;
  std::vector<Stride> of_terms, whole;
  visit_memlets(sdfg_.root, [&](const Memlet& m, bool, const Box& box) {
    if (m.container != memory.container) return;
    Box inside = box;
    const Expr at = ranged(m.subset[dimension], inside);
    accesses.emplace_back(at, std::move(inside));
    find_strides(at, varies, Factors::OfTerms, of_terms);
    find_strides(at, varies, Factors::Whole, whole);
  });
  // What stays in its rows for sure, before what is assumed to.
  const std::vector<Expr> assumptions = ranges_.assumptions;
  const auto fits = [&](const std::optional<Rows>& rows, bool for_sure) {
    ranges_.assumptions = assumptions;
    const bool fit = rows && std::ranges::all_of(accesses, [&](const auto& access) {
                       return decompose(access.first, *rows, access.second, ranges_).has_value();
                     });
    return fit && (!for_sure || ranges_.assumptions == assumptions);
  };
  std::optional<Rows> rows;
  for (const bool for_sure : {true, false})
    for (auto* strides : {&of_terms, &whole})
      if (!rows)
        if (auto some = rows_of(*strides); fits(some, for_sure)) rows = std::move(some);
  const auto count = rows && planes ? count_of(*rows, accesses, ranges_) : Expr(sdfg::unknown_extent);
  if (!rows || !count) {
    ranges_.assumptions = assumptions;
    return {};
  }
  rewrite_subscripts(sdfg_.root, memory.container, [&](const std::vector<Expr>& s, const Box& box) {
    Box inside = box;
    const Expr at = ranged(s[dimension], inside);
    const auto result = decompose(at, *rows, inside, ranges_);
    SOUS_ASSERT(result);
    std::vector<Expr> subscript(s.begin(), s.begin() + static_cast<std::ptrdiff_t>(dimension));
    for (const Expr& e : *result) subscript.push_back(e.substitute(reads));
    subscript.insert(subscript.end(), s.begin() + static_cast<std::ptrdiff_t>(dimension) + 1,
                     s.end());  // of structures
    return subscript;
  });
  memory.declared.reset();  // in elements: of rows, the accesses tell
  reshape(*sdfg_.find(memory.container), dimension, *count, *rows);
  return {};
}

}  // namespace sous::frontends::c
