// Tables of pointers to rows: `double **a`, `float *row[n]`, `image->rows[y][x]`.
//
// The entry checks that the rows which the nest uses lie evenly spaced, as rows of one block do, and nearly always
// those that malloc gave one after the other: at ascending addresses, and at descending ones where each is a mapping of
// its own. Then they are one array with the rows' distance as its stride, and the table is not looked at again.
// Otherwise the original nest runs.
//
// What the entry reads of the table must be there. The first and the last row are subscripts that the nest surely comes
// to when its loops have iterations (checked before): all between them is a part of the same array of pointers. Where
// the nest comes to the first row under conditions only (`if (i == k) continue;`), one of these is asked that leads
// there: a row is used for sure if the condition holds in the iteration that uses it. A table of the file has all of
// its rows. Rows may overlap where distances are small; they are longer apart than subscripts reach, or the original
// runs.
#include <algorithm>
#include <set>
#include <utility>

#include "frontends/c/builder.h"
#include "frontends/c/memlets.h"
#include "frontends/c/row_accesses.h"
#include "sdfg/planted_fault.h"

namespace sous::frontends::c {

using sdfg::Expr;
using sdfg::Memlet;

namespace {

// Which rows are used, and which elements of them: [begin, end).
struct UsedRows {
  Expr least, most;
  Expr begin, end;
};

std::size_t loops_of(const Box& box) {
  std::set<std::string> symbols;
  for (const Range& r : box) symbols.insert(r.symbol);
  return symbols.size();
}

// The largest of several, each with whether it is one of many rows that a loop comes to. A single row (`a[k]` beside
// `a[i]`) is assumed to be one of them, where nothing is known: all other forms are harder to prove anything of.
class Largest {
 public:
  explicit Largest(Ranges& ranges) : ranges_(ranges) {}
  void add(const Expr& e, bool varies, const Box& box) {
    around_ = value_ ? common(around_, box) : box;
    const Expr larger = value_ ? ranges_.larger(*value_, e, around_) : e;
    const bool open = value_ && larger != *value_ && larger != e && varies != varies_;
    const Expr many = open && !varies ? *value_ : e, single = open && varies ? *value_ : e;
    value_ = open && ranges_.require_nonneg(many - single, {}) ? many : larger;
    varies_ = varies_ || varies;
  }
  const std::optional<Expr>& value() const { return value_; }

 private:
  Ranges& ranges_;
  std::optional<Expr> value_;
  bool varies_ = false;
  Box around_;  // the loops around all of them
};

std::optional<UsedRows> used_rows(const sdfg::Sdfg& sdfg, const std::string& container,
                                  const std::vector<RowAccess>& accesses, Ranges& ranges) {
  Largest most(ranges), least(ranges), end(ranges), begin(ranges);  // `least` and `begin` negated
  bool known = true;
  visit_memlets(sdfg.root, [&](const Memlet& m, bool, const Box& box) {
    if (m.container != container || m.subset.size() < 2) return;
    const Expr &row = m.subset[0], &column = m.subset[1];
    auto top = ranges.upper(row, box, true), bottom = ranges.lower(row, box, true);
    auto right = ranges.upper(column, box, true), left = ranges.lower(column, box, true);
    for (const auto* e : {&top, &bottom, &right, &left}) known = known && *e && (*e)->reads().empty();
    if (!known) return;
    // A loop in larger steps may not come to the end of its range, and one around a loop without iterations to none.
    for (const RowAccess& a : accesses) {
      if (a.row != row || a.loops.size() != loops_of(box)) continue;
      const bool steps = std::ranges::any_of(a.loops, [](const RowLoop& l) { return l.step * l.step != 1; });
      const auto same_loop = [&](const RowLoop& l) {
        return std::ranges::any_of(box, [&](const Range& r) { return r.symbol == l.symbol; });
      };
      if (!std::ranges::all_of(a.loops, same_loop)) continue;
      if (const auto e = extreme(a, true, false); e && (steps || e->shifted)) top = e->row;
      if (const auto e = extreme(a, false, false); e && (steps || e->shifted)) bottom = e->row;
    }
    const auto varies = [&](const Expr& e) {
      return std::ranges::any_of(box, [&](const Range& r) { return e.uses(r.symbol); });
    };
    most.add(*top, varies(row), box);
    least.add(-*bottom, varies(row), box);
    end.add(*right + Expr(1), true, box);
    begin.add(-*left, true, box);
  });
  if (!known || !most.value()) return std::nullopt;
  return UsedRows{-*least.value(), *most.value(), -*begin.value(), *end.value()};
}

// How it is known that the nest comes to the first (last) row: where `nonneg` hold, in any case; or where one of the
// witnesses holds.
struct End {
  Expr row;
  std::vector<Expr> nonneg;
  std::vector<RowWitness> witnesses;
};

std::optional<End> row_end(const std::vector<RowAccess>& accesses, const Expr& row, bool up, const Ranges& ranges) {
  std::optional<Extreme> certain;
  End end{row, {}, {}};
  for (const RowAccess& a : accesses)
    for (const bool idle_last : {false, true}) {
      auto e = a.always ? extreme(a, up, idle_last) : std::nullopt;
      if (!e) continue;
      const Expr beyond = up ? e->row - row : row - e->row;  // not negative: no row is used beyond that of the witness
      const bool reaches = ranges.larger(beyond, Expr(0)) == beyond;
      if (reaches && e->witness.nonzero.empty() && a.conditions.empty()) {
        if (!certain || e->witness.nonneg.size() < certain->witness.nonneg.size()) certain = std::move(e);
        continue;
      }
      if (!reaches) e->witness.nonneg.push_back(beyond);
      end.witnesses.push_back(std::move(e->witness));
    }
  if (certain) return End{certain->row, std::move(certain->witness.nonneg), {}};
  return end.witnesses.empty() ? std::nullopt : std::optional(std::move(end));
}

}  // namespace

Lift<void> Builder::resolve_rows(Memory& memory) {
  const std::string container = memory.container, table = memory.c_expr;
  const auto vague = [&](const std::string& why) {
    return refuse("c.pointer.to-pointer", "the rows of '" + table + "': " + why, memory.where);
  };
  const std::vector<RowAccess> accesses = row_accesses(sdfg_, container);
  if (accesses.empty()) return {};
  const std::optional<UsedRows> used = used_rows(sdfg_, container, accesses, ranges_);
  if (!used) return vague("which are used, or how much of them, depends on values in memory");
  std::optional<End> first, last;
  RowCheck check{.table = table, .condition = "1", .nonneg = {}, .ends = {}};
  sdfg::Container* c = sdfg_.find(container);
  if (memory.table_rows) {
    // All of a static table can be read, whatever the nest reads of it.
    const Expr top(*memory.table_rows - 1);
    first = End{used->least, {used->least, top - used->least}, {}};
    last = End{used->most, {top - used->most}, {}};
  } else {
    first = row_end(accesses, used->least, false, ranges_);
    last = row_end(accesses, used->most, true, ranges_);
  }
  if (!first || !last) return vague("the first or the last is used under a condition only");

  const Expr shift = first->row, count = last->row - shift + Expr(1);
  rewrite_subscripts(sdfg_.root, container, [&](const std::vector<Expr>& s, const Box&) {
    std::vector<Expr> moved = s;
    moved[0] = moved[0] - shift;
    moved[1] = moved[1] - used->begin;
    return moved;
  });
  c->shape[0] = count;
  c->shape[1] = used->end - used->begin;
  c->strides = sdfg::row_major(c->shape);
  const Expr row = c->strides[0];  // were there nothing between the rows
  c->strides[0] = Expr::symbol(memory.stride);
  memory.shift = used->begin * c->strides[1];
  memory.flat = false;

  const std::string from = "(" + c_text(first->row) + ")", to = "(" + c_text(last->row) + ")";
  const std::int64_t size = sdfg::info(c->type).bytes;
  const auto at = [&](const std::string& k) { return "(unsigned long)(" + table + ")[" + k + "]"; };
  const std::string distance = "(" + at(from + " + 1") + " - " + at(from) + ")";
  sdfg_.symbols.push_back(memory.stride);
  ranges_.parameters[memory.stride] = {INT64_MIN, INT64_MAX};
  // One row alone has none: any will do that is long enough.
  symbol_c_[memory.stride] = "(" + from + " < " + to + " ? (long long)" + distance + " / " + std::to_string(size) +
                             " : (long long)(" + c_text(row) + "))";
  const Expr stride = Expr::symbol(memory.stride), apart = Expr::max(stride, -stride);
  if (!planted(Fault::rows_may_overlap)) ranges_.assumptions.push_back(apart - row);
  memory.c_expr = "(" + table + ")[" + from + "]";
  memory.table = table;

  for (const End* e : {&*first, &*last}) {
    if (planted(Fault::table_read_early)) continue;
    for (const Expr& n : e->nonneg)
      if (!n.constant() || *n.constant() < 0) check.nonneg.push_back(n);
    if (!e->witnesses.empty() && !planted(Fault::row_unwitnessed)) check.ends.push_back(e->witnesses);
  }
  if (!planted(Fault::rows_unevenly_spaced))
    check.condition = "(" + from + " >= " + to + " || __extension__({ long long sous_k = " + from +
                      "; const unsigned long sous_d = " + distance + "; while (sous_k < " + to + " && " +
                      at("sous_k + 1") + " - " + at("sous_k") + " == sous_d) ++sous_k; sous_k == " + to +
                      " && (long long)sous_d % " + std::to_string(size) + " == 0; }))";
  memory.entries = {"(const void *)&(" + table + ")[" + from + "]", "0UL",
                    "((unsigned long)(" + to + ") - (unsigned long)(" + from + ") + 1) * sizeof *(" + table + ")"};
  row_checks_.push_back(std::move(check));
  return {};
}

}  // namespace sous::frontends::c
