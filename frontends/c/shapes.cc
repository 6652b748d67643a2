// After building: the rows of the memory that a pointer leads to, where subscripts tell of them.
#include <algorithm>
#include <functional>
#include <map>
#include <ranges>

#include "frontends/c/builder.h"
#include "frontends/c/memlets.h"
#include "frontends/c/plausible.h"
#include "frontends/c/row_strides.h"
#include "sdfg/planted_fault.h"
#include "sdfg/unknown_extent.h"

namespace sous::frontends::c {

using sdfg::Atom;
using sdfg::AtomKind;
using sdfg::Expr;
using sdfg::Memlet;

namespace {

// A row as short as this is assumed to be long enough only where that is certain: a[2*i + j] is more often a window
// that moves by 2 than a row of 2.
constexpr std::int64_t kShortRow = 16;

bool is_nonneg_by_elements(const Expr& e, const Box& box, Ranges& ranges) {
  ranges.trust_elements = true;
  const bool result = ranges.nonneg(e, box);
  ranges.trust_elements = false;
  return result;
}

// Those that no division makes: rows that are (`(y + c[q] + n) % n`, particles pushed on) would be brought outside,
// with a division for each element where the program's order has one for several.
std::map<std::string, Range> without_divided(std::map<std::string, Range> values, const sdfg::Region& root) {
  sdfg::visit(root, [&](const sdfg::Node& node) {
    const auto* state = std::get_if<sdfg::State>(&node.value);
    const auto assigned = state != nullptr ? sdfg::as_assignment(*state) : std::nullopt;
    if (!assigned || !values.contains(assigned->out.container)) return;
    bool divides = false;
    assigned->code.visit([&](const sdfg::ScalarExpr& e) {
      divides = divides || e.op == sdfg::ScalarOp::rem || e.op == sdfg::ScalarOp::div;
    });
    if (divides) values.erase(assigned->out.container);
  });
  return values;
}
bool has_remainder(const Expr& e) {
  return std::ranges::any_of(e.terms(), [](const sdfg::Term& t) {
    return std::ranges::any_of(
        t.atoms, [](const Atom& a) { return a.kind == AtomKind::Mod && !a.args[1].constant().has_value(); });
  });
}

// The subscripts of a flat one in rows; nullopt: it is not shown, and cannot be assumed, to stay in its row.
// `by_elements`: what is known of the values of elements shows it, too.
std::optional<std::vector<Expr>> decompose(const Expr& at, const Rows& rows, const Box& box, Ranges& ranges,
                                           bool by_elements) {
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
    if (rows.multiples && ranges.nonneg(Expr(-1) - s, box) && ranges.nonneg(s + extent, box)) {
      s = s + extent;
      subscript[d - 1] = subscript[d - 1] - Expr(1);
    }
    if (planted(Fault::rows_unchecked)) continue;
    const bool short_row = extent.constant() && *extent.constant() < kShortRow;
    for (const Expr& e : {s, extent - s - Expr(1)})
      if (!(by_elements && is_nonneg_by_elements(e, box, ranges)) &&
          !(short_row ? ranges.nonneg(e, box) : ranges.require_nonneg(e, box)))
        return std::nullopt;
  }
  return subscript;
}

// Rows take the place of a dimension; `extent` of them.
void reshape(sdfg::Container& c, std::size_t dimension, const Expr& extent, const Rows& rows) {
  std::vector<Expr> shape{extent};
  for (const Stride& row : rows.extents | std::views::reverse) shape.push_back(row.value);
  std::vector<Expr> strides;
  for (const Stride& row : rows.strides | std::views::reverse) strides.push_back(row.value * c.strides[dimension]);
  strides.push_back(c.strides[dimension]);
  const auto replace = [&](std::vector<Expr>& all, const std::vector<Expr>& by) {
    const auto at = all.erase(all.begin() + static_cast<std::ptrdiff_t>(dimension));
    all.insert(at, by.begin(), by.end());
  };
  replace(c.shape, shape);
  replace(c.strides, strides);
}

// The number of rows that all the accesses stay in; nullopt: nobody knows.
std::optional<Expr> count_of(const Rows& rows, const std::vector<FlatAccess>& accesses, Ranges& ranges) {
  std::optional<Expr> count;
  for (const auto& [at, box] : accesses) {
    const auto subscript = decompose(at, rows, box, ranges, false);
    const auto last = subscript ? ranges.upper(subscript->front(), box, true) : std::nullopt;
    if (!last || !last->reads().empty() || !ranges.require_nonneg(subscript->front(), box)) return std::nullopt;
    count = count ? ranges.larger(*count, *last + Expr(1)) : *last + Expr(1);
  }
  return count;
}

// The element that all accesses lie behind, where it lies behind the beginning of a row (arrays that are counted from
// 1, whose pointer points before them): what stays in its row counted from there may reach beyond it counted from the
// pointer. 0: there is none, or nothing is gained.
Expr beginning(const Rows& rows, const std::vector<FlatAccess>& accesses, Ranges& ranges) {
  std::optional<Expr> first;
  for (const auto& [at, box] : accesses) {
    const auto least = ranges.lower(at, box, true);
    if (!least || !least->reads().empty()) return Expr(0);
    first = first ? -ranges.larger(-*first, -*least) : *least;
  }
  if (!first) return Expr(0);
  const Expr within = split(*first, rows.strides.front()).second;
  return ranges.nonneg(within - Expr(1), {}) ? *first : Expr(0);
}

// The rows that hold all accesses: what stays in its rows for sure, before what is assumed to.
class RowSearch {
 public:
  // `later`: elements may be counted from one behind the pointer's.
  RowSearch(const std::vector<FlatAccess>& accesses, const sdfg::Region& nest, bool is_written, bool later,
            Ranges& ranges)
      : accesses_(accesses),
        nest_(nest),
        is_written_(is_written),
        later_(later),
        ranges_(ranges),
        before_(ranges.assumptions) {}

  // By one of these lists of strides. Where something has to be assumed: that j is in its row of n + 1 is less than
  // that i + j is in one of n.
  std::optional<Rows> of(const std::vector<Stride>& of_terms, const std::vector<Stride>& whole) {
    for (const auto& [strides, for_sure] :
         {std::pair(&of_terms, true), std::pair(&whole, true), std::pair(&whole, false), std::pair(&of_terms, false)})
      if (auto rows = rows_of(*strides); rows && ((!for_sure && fit_from_first(*rows)) || fit_with(*rows, for_sure)))
        return rows;
    return std::nullopt;
  }
  std::optional<Rows> loose(const Varies& varies, const std::vector<std::string>& outside_in) {
    ranges_.assumptions = before_;
    auto rows = loose_rows(accesses_, varies, outside_in, ranges_);
    const std::vector<Expr> assumed = ranges_.assumptions;
    if (!rows || !fit_with(*rows, false)) return std::nullopt;
    ranges_.assumptions.insert(ranges_.assumptions.end(), assumed.begin() + std::ssize(before_), assumed.end());
    return rows;
  }
  // Rows that conditions keep the accesses in, by some of the strides: by n of a[(s*i + k)*n + j] where an if asks for
  // s*i + k, and not by s*n as well.
  std::optional<Rows> of_some(std::vector<Stride> strides) {
    constexpr std::size_t kMostStrides = 5;
    std::ranges::sort(strides, std::less{});
    strides.erase(std::ranges::unique(strides, {}, &Stride::value).begin(), strides.end());
    if (strides.size() > kMostStrides) return std::nullopt;
    std::optional<Rows> most;
    for (unsigned chosen = 1; chosen + 1 < 1U << strides.size(); ++chosen) {
      std::vector<Stride> some;
      for (std::size_t k = 0; k < strides.size(); ++k)
        if ((chosen >> k & 1) != 0) some.push_back(strides[k]);
      if (most && some.size() <= most->strides.size()) continue;
      if (auto rows = rows_of(std::move(some)); rows && fit_with(*rows, true)) most = std::move(rows);
    }
    return most;
  }
  // The element that they are counted from.
  const Expr& origin() const { return origin_; }
  // From now on, what is next to never so as well.
  void assume_anything() { anything_ = true; }
  // Nothing is assumed.
  void give_up() { ranges_.assumptions = before_; }

 private:
  bool fit(const Rows& rows) {
    return std::ranges::all_of(accesses_, [&](const auto& access) {
      return decompose(access.first - origin_, rows, access.second, ranges_, is_written_).has_value();
    });
  }
  bool fit_with(const Rows& rows, bool for_sure) {
    ranges_.assumptions = before_;
    return fit(rows) &&
           (ranges_.assumptions == before_ ||
            (!for_sure && (anything_ || (is_plausible(ranges_.assumptions, nest_) && !runs_backwards(rows)))));
  }
  // Whether all rows but the first lie ahead of the array: those of `gap` in a[i - k*gap], which are none.
  bool runs_backwards(const Rows& rows) {
    return std::ranges::any_of(accesses_, [&](const auto& access) {
      const auto& [at, box] = access;
      const Expr row = split(at - origin_, rows.strides.back()).first;
      const bool goes_back = std::ranges::any_of(box, [&](const Range& r) {
        const auto by = sdfg::coefficient_of(row, r.symbol);
        return by && by->constant().value_or(0) < 0;
      });
      const auto first = goes_back ? ranges_.lower(row, box) : std::nullopt;
      return first && first->constant_term() <= 1 && !first->terms().empty() &&
             std::ranges::all_of(first->terms(), [](const sdfg::Term& t) { return t.coefficient < 0; });
    });
  }
  bool fit_from_first(const Rows& rows) {
    ranges_.assumptions = before_;
    if (!later_) return false;
    origin_ = beginning(rows, accesses_, ranges_);
    if (origin_ != Expr(0) && fit(rows)) return true;
    origin_ = Expr(0);
    return false;
  }

  const std::vector<FlatAccess>& accesses_;
  const sdfg::Region& nest_;
  const bool is_written_, later_;
  Ranges& ranges_;
  const std::vector<Expr> before_;
  bool anything_ = false;
  Expr origin_{0};
};

}  // namespace

// `e` with the variables as symbols that lie in these ranges wherever they are read, which are added to the box.
Expr Builder::ranged(const Expr& e, const std::map<std::string, Range>& ranges, Box& box) const {
  if (ranges.empty() || e.reads().empty()) return e;
  return e.map_reads([&](const std::string& container, const std::vector<Expr>& subscript) {
    const auto own = ranges.find(container);
    if (own == ranges.end() || !subscript.empty()) return Expr::read(container, subscript);
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
  // What the pointer leads to may be small arrays: `float (*pixels)[3]`, the two parts of complex numbers.
  const auto fixed = [](const Expr& extent) { return extent.constant().has_value(); };
  if (planes ? memory.table.empty() || container->shape.size() != 2
             : !memory.flat ||
                   (memory.record.empty() && !std::ranges::all_of(container->shape | std::views::drop(1), fixed)))
    return {};
  std::set<std::string> loops;
  std::vector<std::string> outside_in;
  sdfg::visit(sdfg_.root, [&](const sdfg::Node& n) {
    const auto* l = std::get_if<sdfg::Loop>(&n.value);
    if (l != nullptr && loops.insert(l->symbol).second) outside_in.push_back(l->symbol);
  });
  std::map<std::string, Expr> reads;  // what `by_ranges` replaced
  // Of what is only read nobody needs to know which elements are apart: what data say of it is no row.
  bool is_written = false;
  visit_memlets(sdfg_.root, [&](const Memlet& m, bool write, const Box&) {
    is_written = is_written || (write && m.container == memory.container);
  });
  const std::map<std::string, Range> values =
      is_written ? without_divided(values_[memory.container], sdfg_.root) : std::map<std::string, Range>{};
  for (const auto* ranges : {&std::as_const(own_ranges_), &values})
    for (const auto& [own, range] : *ranges) {
      loops.insert(range.symbol);
      reads.emplace(range.symbol, Expr::read(own, {}));
    }
  const auto by_ranges = [&](const Expr& e, Box& box) { return ranged(ranged(e, own_ranges_, box), values, box); };
  auto varies = [&](const Atom& a) {
    if (a.kind == AtomKind::Symbol) return loops.contains(a.name);
    return a.kind == AtomKind::Read || std::ranges::any_of(a.args, [&](const Expr& x) {
             return std::ranges::any_of(x.symbols(), [&](const std::string& s) { return loops.contains(s); });
           });
  };
  std::vector<FlatAccess> accesses;
  bool divided = false;  // by what no number is, and written
  std::vector<Stride> of_terms, whole;
  visit_memlets(sdfg_.root, [&](const Memlet& m, bool, const Box& box) {
    if (m.container != memory.container) return;
    Box inside = box;
    const Expr at = by_ranges(m.subset[dimension], inside);
    const auto is_negative = [&](const Expr& factor) { return ranges_.nonneg(-factor, inside); };
    find_strides(at, varies, Factors::OfTerms, is_negative, of_terms);
    find_strides(at, varies, Factors::Whole, is_negative, whole);
    divided = divided || (is_written && has_remainder(at));
    accesses.emplace_back(at, std::move(inside));
  });
  if (divided) return {};
  const bool later = !planes && container->shape.size() == 1 && memory.record.empty() && is_pointer(memory);
  RowSearch search(accesses, sdfg_.root, is_written, later, ranges_);
  std::optional<Rows> rows = search.of(of_terms, whole);
  if (!rows && is_written && !planes) rows = search.loose(varies, outside_in);
  if (!rows && is_written) rows = search.of_some(of_terms);
  // Of elements that are written nothing is known without rows: loops that need others are nests of their own.
  if (!rows && is_written) {
    search.assume_anything();
    rows = search.of(of_terms, whole);
    if (!rows && !planes) rows = search.loose(varies, outside_in);
  }
  const auto count = rows && planes ? count_of(*rows, accesses, ranges_) : Expr(sdfg::unknown_extent);
  if (!rows || !count) {
    search.give_up();
    return {};
  }
  rewrite_subscripts(sdfg_.root, memory.container, [&](const std::vector<Expr>& s, const Box& box) {
    Box inside = box;
    const Expr at = by_ranges(s[dimension], inside) - search.origin();
    const auto result = decompose(at, *rows, inside, ranges_, is_written);
    SOUS_ASSERT(result);
    std::vector<Expr> subscript(s.begin(), s.begin() + static_cast<std::ptrdiff_t>(dimension));
    for (const Expr& e : *result) subscript.push_back(e.substitute(reads));
    subscript.insert(subscript.end(), s.begin() + static_cast<std::ptrdiff_t>(dimension) + 1,
                     s.end());  // of structures, or small arrays
    return subscript;
  });
  memory.declared.reset();  // in elements: of rows, the accesses tell
  if (!planted(Fault::rows_not_from_first)) memory.shift = memory.shift + search.origin();
  reshape(*sdfg_.find(memory.container), dimension, *count, *rows);
  return {};
}

}  // namespace sous::frontends::c
