#include "frontends/c/ranges.h"

#include <algorithm>
#include <numeric>

#include "frontends/c/intervals.h"
#include "frontends/c/row_strides.h"
#include "sdfg/atoms.h"

namespace sous::frontends::c {

using sdfg::Atom;
using sdfg::AtomKind;
using sdfg::Expr;
using sdfg::ScalarExpr;
using sdfg::ScalarOp;
using sdfg::Term;

namespace {

constexpr int kMaxDepth = 12;

// What is not negative wherever `e` is not: by the greatest common divisor of its coefficients.
Expr in_lowest_terms(const Expr& e) {
  std::int64_t divisor = 0;
  for (const Term& term : e.terms()) divisor = std::gcd(divisor, term.coefficient);
  return divisor < 2 ? e : Expr::floor_div(e, Expr(divisor));
}

}  // namespace

Interval type_interval(sdfg::ElementType type) {
  const int bits = 8 * sdfg::info(type).bytes;
  if (type == sdfg::ElementType::boolean) return {0, 1};
  if (sdfg::info(type).kind == sdfg::TypeKind::Signed)
    return bits == 64 ? Interval{INT64_MIN, INT64_MAX}
                      : Interval{-(std::int64_t{1} << (bits - 1)), (std::int64_t{1} << (bits - 1)) - 1};
  return bits == 64 ? Interval{0, INT64_MAX} : Interval{0, (std::int64_t{1} << bits) - 1};
}

bool holds_all(sdfg::ElementType to, sdfg::ElementType from) {
  if (from == sdfg::ElementType::boolean) return sdfg::is_integer(to);
  if (!sdfg::is_integer(to) || !sdfg::is_integer(from)) return false;
  const bool signed_to = sdfg::info(to).kind == sdfg::TypeKind::Signed,
             signed_from = sdfg::info(from).kind == sdfg::TypeKind::Signed;
  const auto wide = sdfg::info(to).bytes, narrow = sdfg::info(from).bytes;
  return signed_to == signed_from ? wide >= narrow : signed_to && wide > narrow;
}

bool Ranges::nonneg_parameters(const Expr& e) const {
  if (!e.is_valid()) return false;
  if (interval(e, parameters).lo >= 0) return true;
  // 2*n follows from n - 1, taken twice.
  auto implies = [&](const Expr& a) {
    if (interval(e - a, parameters).lo >= 0) return true;
    if (a.terms().size() != 1 || e.terms().size() != 1 || a.terms()[0].atoms != e.terms()[0].atoms) return false;
    const std::int64_t times = e.terms()[0].coefficient / a.terms()[0].coefficient;
    return times > 1 && interval(e - Expr(times) * a, parameters).lo >= 0;
  };
  if (std::ranges::any_of(assumptions, implies) || std::ranges::any_of(facts_, implies)) return true;
  // Nor is a product of what none is negative of.
  if (std::ranges::none_of(e.terms(), [](const Term& t) { return t.atoms.size() > 1; })) return false;
  std::map<std::string, Interval> known = parameters;
  for (const auto* all : {&assumptions, &facts_})
    for (const Expr& a : *all)
      if (const auto symbol = (a - Expr(a.constant_term())).as_symbol())
        if (const auto at = known.find(*symbol); at != known.end())
          at->second.lo = std::max(at->second.lo, -a.constant_term());
  return interval(e, known).lo >= 0;
}

Ranges::WithFacts::WithFacts(Ranges& r, const Box& box) : ranges(r), before(r.facts_) {
  Box outer;
  for (const Range& range : box) {
    std::optional<Expr> trips;
    if (range.lo && range.hi) trips = ranges.bound(*range.hi - *range.lo, outer, true, false, 0);
    outer.push_back(range);
    if (!trips || trips->constant()) continue;
    ranges.facts_.push_back(*trips);
    // 4*n - 1 >= 0 is n - 1 >= 0.
    if (const Expr whole = in_lowest_terms(*trips); whole != *trips) ranges.facts_.push_back(whole);
  }
}
Ranges::WithFacts::~WithFacts() { ranges.facts_ = std::move(before); }

// What a minimum (or a maximum) is of; of all else, itself.
std::vector<Expr> operands(const Expr& e, sdfg::AtomKind kind) {
  const auto& terms = e.terms();
  const bool is_one = e.constant_term() == 0 && terms.size() == 1 && terms[0].coefficient == 1 &&
                      terms[0].atoms.size() == 1 && terms[0].atoms[0].kind == kind;
  if (!is_one) return {e};
  std::vector<Expr> all;
  for (const Expr& arg : terms[0].atoms[0].args)
    for (Expr& operand : operands(arg, kind)) all.push_back(std::move(operand));
  return all;
}

std::optional<int> Ranges::sign(const Expr& e, const Box& box, bool assume, int depth) {
  if (auto c = e.constant()) return *c < 0 ? -1 : 1;
  auto lo = bound(e, box, false, false, depth + 1);
  if (lo && nonneg_parameters(*lo)) return 1;
  auto hi = bound(e, box, true, false, depth + 1);
  if (hi && nonneg_parameters(-*hi)) return -1;
  if (!assume) return std::nullopt;
  // Of sizes and distances most are positive: the more likely sign is the one that is written.
  const bool is_negated =
      e.constant_term() <= 0 && std::ranges::all_of(e.terms(), [](const Term& t) { return t.coefficient < 0; });
  const auto& likely = is_negated ? hi : lo;
  if (!likely || !likely->reads().empty()) return std::nullopt;
  assumptions.push_back(is_negated ? -*likely : *likely);
  return is_negated ? -1 : 1;
}

// Of max(0, x) - x the pieces are -x and 0: each is closer than the maximum's bound and -x apart. And x - min(x, y) is
// min(x, y) - x the other way round.
std::optional<Expr> Ranges::bound_of_pieces(const Expr& e, const Box& box, bool up, bool assume, int depth) {
  const auto in_box = [&](const Term& term, AtomKind kind, bool of_kind) {
    return std::ranges::any_of(term.atoms, [&](const Atom& a) {
      return (a.kind == kind) == of_kind && std::ranges::any_of(box, [&](const Range& r) {
               return a.kind == AtomKind::Symbol
                          ? a.name == r.symbol
                          : std::ranges::any_of(a.args, [&](const Expr& x) { return x.uses(r.symbol); });
             });
    });
  };
  for (const bool negated : {false, true}) {
    const Expr sum = negated ? -e : e;
    const bool upward = up != negated;
    for (const AtomKind kind : {AtomKind::Max, AtomKind::Min}) {
      const auto inside = [&](bool of_kind) {
        return std::ranges::any_of(sum.terms(), [&](const Term& t) { return in_box(t, kind, of_kind); });
      };
      if (!inside(true) || !inside(false)) continue;
      const auto pieces = kind == AtomKind::Max ? sdfg::max_pieces(sum) : sdfg::min_pieces(sum);
      if (pieces.size() < 2) continue;
      const bool any_will_do = (kind == AtomKind::Min) == upward;
      std::optional<Expr> result;
      for (const Expr& piece : pieces) {
        const auto value = bound(piece, box, upward, assume && !any_will_do, depth + 1);
        if (!value && !any_will_do) return std::nullopt;
        if (!value) continue;
        const Expr larger = result ? this->larger(*result, *value) : *value;
        const bool is_min = kind == AtomKind::Min && result;
        result = !is_min             ? larger
                 : larger == *value  ? *result
                 : larger == *result ? *value
                                     : Expr::min(*result, *value);
      }
      if (result && negated) return -*result;
      return result;
    }
  }
  return std::nullopt;
}

// The least of a maximum, or the largest of a minimum, that no operand says alone. Half of their sum is one, where the
// loops cancel out: what is mirrored at a border stays behind it. And max(a, min(b, c)) is min(max(a, b), max(a, c)).
std::optional<Expr> Ranges::bound_by_both(const Atom& atom, const Box& box, int depth) {
  const bool is_max = atom.kind == AtomKind::Max;
  const AtomKind other = is_max ? AtomKind::Min : AtomKind::Max;
  const auto a = operands(atom.args[0], other), b = operands(atom.args[1], other);
  const Expr sum = atom.args[0] + atom.args[1];
  const bool varies = std::ranges::any_of(box, [&](const Range& r) { return sum.uses(r.symbol); });
  if (sum.is_valid() && sum.reads().empty() && !varies) return Expr::floor_div(sum + Expr(is_max ? 1 : 0), Expr(2));
  constexpr std::size_t kMostPairs = 6;
  if (a.size() + b.size() == 2 || a.size() * b.size() > kMostPairs) return std::nullopt;
  std::optional<Expr> all;
  for (const Expr& x : a)
    for (const Expr& y : b) {
      const auto one = bound(is_max ? Expr::max(x, y) : Expr::min(x, y), box, !is_max, false, depth + 1);
      if (!one) return std::nullopt;
      all = !all ? *one : is_max ? Expr::min(*all, *one) : Expr::max(*all, *one);
    }
  return all;
}

Expr Ranges::with_elements(const Expr& e, Box& box) const {
  return e.map_reads([&](const std::string& container, const std::vector<Expr>& subscript) {
    const Expr element = Expr::read(container, subscript);
    const auto values = elements.find(container);
    if (values == elements.end()) return element;
    const Range range{"the value of " + element.to_string(), Expr(values->second.lo), Expr(values->second.hi)};
    box.push_back(range);
    return Expr::symbol(range.symbol);
  });
}

// Which value at most (at least) a / b has, rounded down, for b > 0, where a is this at most (at least). Of x * n / b
// with x below b: what is below n.
std::optional<Expr> Ranges::quotient(const Expr& a, const Expr& b, bool up, bool assume) {
  if (b.constant()) return Expr::floor_div(a, b);
  if (!up) return nonneg_parameters(a) ? std::optional(Expr(0)) : std::nullopt;
  const auto [whole, rest] = split(a, Stride{b});
  if (whole != Expr(0)) {
    if (nonneg_parameters(Expr(-1) - rest) || (assume && require_nonneg(Expr(-1) - rest, {}))) return whole - Expr(1);
    if (nonneg_parameters(-rest)) return whole;
  }
  return nonneg_parameters(a) ? std::optional(a) : std::nullopt;
}

// With a symbol for a factor that is none.
std::optional<Expr> Ranges::bound_of_product(const Expr& e, const Atom& factor, const Box& box, bool up, bool assume,
                                             int depth) {
  const Expr value = sdfg::make_atom(factor, factor.args);
  const auto most = bound(value, box, true, assume, depth + 1), least = bound(value, box, false, assume, depth + 1);
  if (!most || !least) return std::nullopt;
  Box inside = box;
  inside.push_back({"the value of " + value.to_string(), *least, *most});
  Expr with_symbol(e.constant_term());
  for (const Term& term : e.terms()) {
    Expr product(term.coefficient);
    for (const Atom& a : term.atoms)
      product = product * (a == factor ? Expr::symbol(inside.back().symbol) : sdfg::make_atom(a, a.args));
    with_symbol = with_symbol + product;
  }
  return bound(with_symbol, inside, up, assume, depth + 1);
}

std::optional<Expr> Ranges::bound(Expr e, const Box& box, bool up, bool assume, int depth) {
  if (depth > kMaxDepth || !e.is_valid()) return std::nullopt;
  if (trust_elements && !e.reads().empty()) {
    Box inside = box;
    const Expr named = with_elements(e, inside);
    if (inside.size() > box.size()) return bound(named, inside, up, assume, depth + 1);
  }
  auto in_box = [&](const Expr& x) {
    return std::ranges::any_of(box, [&](const Range& r) { return x.uses(r.symbol); });
  };
  const auto is_divisor = [&](const Expr& x) { return !in_box(x) && nonneg_parameters(x - Expr(1)); };
  if (auto value = bound_of_pieces(e, box, up, assume, depth)) return value;
  // Atoms that are not symbols but depend on the loops are replaced by their own bound first.
  for (bool again = true; again;) {
    again = false;
    for (const Term& term : e.terms()) {
      for (const Atom& atom : term.atoms) {
        if (atom.kind == AtomKind::Symbol || !std::ranges::any_of(atom.args, in_box)) continue;
        if (atom.kind == AtomKind::Read) return std::nullopt;
        if (term.atoms.size() != 1) return bound_of_product(e, atom, box, up, assume, depth);
        const bool atom_up = (term.coefficient > 0) == up;
        std::optional<Expr> value;
        if (atom.kind == AtomKind::FloorDiv) {
          if (!is_divisor(atom.args[1])) return std::nullopt;
          if (auto a = bound(atom.args[0], box, atom_up, assume, depth + 1))
            value = quotient(*a, atom.args[1], atom_up, assume);
        } else if (atom.kind == AtomKind::Mod) {
          if (!is_divisor(atom.args[1])) return std::nullopt;
          value = atom_up ? atom.args[1] - Expr(1) : Expr(0);
        } else {
          auto a = bound(atom.args[0], box, atom_up, assume, depth + 1);
          auto b = bound(atom.args[1], box, atom_up, assume, depth + 1);
          // One side alone bounds a min from above and a max from below.
          const bool one_will_do = (atom.kind == AtomKind::Min) == atom_up;
          if (a && b)
            value = atom.kind == AtomKind::Min ? Expr::min(*a, *b) : Expr::max(*a, *b);
          else if (one_will_do && (a || b))
            value = a ? *a : *b;
          if (const auto both = one_will_do ? bound_by_both(atom, box, depth) : std::nullopt)
            value = !value ? *both : atom_up ? Expr::min(*value, *both) : Expr::max(*value, *both);
        }
        if (!value) return std::nullopt;
        e = e + Expr(term.coefficient) * (*value - sdfg::make_atom(atom, atom.args));
        again = true;
        break;
      }
      if (again) break;
    }
  }
  for (std::size_t k = box.size(); k-- > 0;) {
    const Range& range = box[k];
    if (!e.uses(range.symbol)) continue;
    auto coefficient = sdfg::coefficient_of(e, range.symbol);
    if (!coefficient) return std::nullopt;
    const auto [count, rest] = split(*coefficient, Stride{range.times});
    if (rest != Expr(0)) continue;  // an outer range of the same symbol may do
    const Box outer(box.begin(), box.begin() + static_cast<std::ptrdiff_t>(k));
    auto direction = sign(count, outer, assume, depth);
    if (!direction) return std::nullopt;
    const auto& end = (*direction > 0) == up ? range.hi : range.lo;
    if (!end) continue;
    e = e - *coefficient * Expr::symbol(range.symbol) + count * *end;
    if (std::ranges::any_of(e.terms(), [&](const Term& t) {
          return std::ranges::any_of(t.atoms, [&](const Atom& a) {
            return a.kind != AtomKind::Symbol && std::ranges::any_of(a.args, in_box);
          });
        }))
      return bound(e, outer, up, assume, depth + 1);
  }
  if (in_box(e)) return std::nullopt;
  return e;
}

namespace {

// Without what conditions say, which may keep other accesses in bounds than the one that is asked about; nullopt: that
// is the same.
std::optional<Box> of_loops_alone(const Box& box) {
  Box result;
  for (const Range& range : box)
    if (std::ranges::none_of(result, [&](const Range& r) { return r.symbol == range.symbol; })) result.push_back(range);
  return result.size() < box.size() ? std::optional(std::move(result)) : std::nullopt;
}

}  // namespace

std::optional<Expr> Ranges::extreme(const Expr& e, const Box& box, bool up, bool assume) {
  const WithFacts facts(*this, box);
  const std::optional<Box> plain = of_loops_alone(box);
  if (!plain) return bound(e, box, up, assume, 0);
  const auto a = bound(e, box, up, false, 0), b = bound(e, *plain, up, false, 0);
  if (!a && !b) return bound(e, box, up, assume, 0);
  if (!a || !b) return a ? a : b;
  const Expr most = larger(*a, *b);
  if (!up) return most;
  return most == *a ? *b : most == *b ? *a : Expr::min(*a, *b);
}

std::optional<Expr> Ranges::upper(const Expr& e, const Box& box, bool assume) { return extreme(e, box, true, assume); }
std::optional<Expr> Ranges::lower(const Expr& e, const Box& box, bool assume) { return extreme(e, box, false, assume); }

bool Ranges::nonneg(const Expr& e, const Box& box) const {
  Ranges copy = *this;
  const WithFacts facts(copy, box);
  const auto is_shown = [&](const Box& inside) {
    const auto lo = copy.bound(e, inside, false, false, 0);
    return lo && copy.nonneg_parameters(*lo);
  };
  if (is_shown(box)) return true;
  const std::optional<Box> plain = of_loops_alone(box);
  return plain && is_shown(*plain);
}

bool Ranges::fits(const Expr& e, sdfg::ElementType type, const Box& box) const {
  const Interval values = type_interval(type);
  return (values.lo == INT64_MIN || nonneg(e - Expr(values.lo), box)) &&
         (values.hi == INT64_MAX || nonneg(Expr(values.hi) - e, box));
}

bool Ranges::require_nonneg(const Expr& e, const Box& box) {
  if (nonneg(e, box)) return true;
  const WithFacts facts(*this, box);
  const std::size_t before = assumptions.size();
  auto lo = bound(e, box, false, true, 0);
  // What conditions say of other accesses brings in what has nothing to do with this one: fewer sizes do without it.
  if (const std::optional<Box> plain = of_loops_alone(box)) {
    const std::vector<Expr> with_conditions = assumptions;
    assumptions.resize(before);
    const auto by_loops = bound(e, *plain, false, true, 0);
    if (by_loops && (!lo || by_loops->symbols().size() < lo->symbols().size()))
      lo = by_loops;
    else
      assumptions = with_conditions;
  }
  if (lo && nonneg_parameters(*lo)) return true;
  // Nor where what holds in the box says the contrary: a loop that walks backwards from where it begins.
  const bool possible = lo && lo->is_valid() && !lo->constant() && lo->reads().empty() && !lo->symbols().empty() &&
                        interval(*lo, parameters).hi >= 0 && !nonneg_parameters(Expr(-1) - *lo);
  if (!possible) {
    assumptions.resize(before);
    return false;
  }
  assumptions.push_back(*lo);
  return true;
}

std::optional<Expr> Ranges::quotient(const Expr& a, const Expr& b, const Box& box, bool assume) {
  const WithFacts facts(*this, box);
  return quotient(a, b, true, assume);
}

Expr Ranges::larger(const Expr& a, const Expr& b) const {
  if (nonneg_parameters(a - b)) return a;
  if (nonneg_parameters(b - a)) return b;
  return Expr::max(a, b);
}

Expr Ranges::larger(const Expr& a, const Expr& b, const Box& box) {
  const WithFacts facts(*this, box);
  return larger(a, b);
}

Box common(const Box& a, const Box& b) {
  const auto same = [](const Range& r, const Range& s) {
    return r.symbol == s.symbol && r.lo == s.lo && r.hi == s.hi && r.times == s.times;
  };
  return {a.begin(), std::ranges::mismatch(a, b, same).in1};
}

Range loop_range(const std::string& symbol, const Expr& begin, const Expr& end, std::int64_t step) {
  if (step > 0) return {symbol, begin, end - Expr(1)};
  return {symbol, end + Expr(1), begin};
}

}  // namespace sous::frontends::c
