// Tables of pointers to rows: `double **a`, `float *row[n]`, `image->rows[y][x]`.
//
// The entry checks that the rows which the nest uses lie evenly spaced, as rows of one block do, and nearly always
// those that malloc gave one after the other. Then they are one array with the rows' distance as its stride, and the
// table is not looked at again. Otherwise the original nest runs.
//
// What the entry reads of the table must be there. The first and the last row are subscripts that the nest surely comes
// to when its loops have iterations (checked before): all between them is a part of the same array of pointers. Rows
// may overlap where distances are small; they are longer apart than subscripts reach, or the original runs.
#include <algorithm>

#include "frontends/c/builder.h"
#include "frontends/c/memlets.h"
#include "sdfg/planted_fault.h"

namespace sous::frontends::c {

using sdfg::Expr;
using sdfg::Memlet;

namespace {

struct Around {
  std::string symbol;
  Expr begin, end;
  std::int64_t step;
};

// An access to a row, and the loops around it, outermost first. `always`: each of their iterations comes to it.
struct RowAccess {
  Expr row;
  std::vector<Around> loops;
  bool always;
};

void collect(const Expr& e, const std::string& table, const std::vector<Around>& loops, bool always,
             std::vector<RowAccess>& found) {
  if (e.reads().empty()) return;
  e.map_reads([&](const std::string& container, const std::vector<Expr>& subscript) {
    for (const Expr& s : subscript) collect(s, table, loops, always, found);
    if (container == table) found.push_back({subscript[0], loops, always});
    return Expr::read(container, subscript);
  });
}

void collect(const Memlet& m, const std::string& table, const std::vector<Around>& loops, bool always,
             std::vector<RowAccess>& found) {
  for (const sdfg::Dim& d : m.subset) collect(d.begin, table, loops, always, found);
  if (m.container == table) found.push_back({m.subset[0].begin, loops, always});
}

void collect(const sdfg::Region& region, const std::string& table, std::vector<Around>& loops, bool always,
             std::vector<RowAccess>& found) {
  const auto conditional = [&](const sdfg::Region& inner) { collect(inner, table, loops, false, found); };
  for (const sdfg::Node& node : region.nodes)
    match(
        node.value,
        [&](const sdfg::State& s) {
          for (const sdfg::Edge& e : s.edges) collect(e.memlet, table, loops, always, found);
        },
        [&](const sdfg::Loop& l) {
          collect(l.begin, table, loops, always, found);
          collect(l.end, table, loops, always, found);
          loops.push_back({l.symbol, l.begin, l.end, l.step});
          collect(l.body, table, loops, always, found);
          loops.pop_back();
        },
        [&](const sdfg::If& i) {
          for (const Memlet& m : i.condition.inputs) collect(m, table, loops, always, found);
          conditional(i.then_body);
          conditional(i.else_body);
        },
        [&](const sdfg::While& w) {
          for (const Memlet& m : w.condition.inputs) collect(m, table, loops, always && w.test_first, found);
          conditional(w.body);
        },
        [](const sdfg::Return&) {});
}

// The largest (smallest) row of an access over iterations that surely run where all of `nonneg` are >= 0.
struct Extreme {
  Expr row;
  std::vector<Expr> nonneg;
};

std::optional<Extreme> extreme(const RowAccess& access, bool up, bool idle_last) {
  if (!access.always) return std::nullopt;
  Expr row = access.row;
  std::vector<bool> last(access.loops.size());  // which iteration of each loop
  for (std::size_t k = access.loops.size(); k-- > 0;) {
    const Around& l = access.loops[k];
    if (l.step != 1 && l.step != -1) return std::nullopt;
    const auto coefficient = sdfg::coefficient_of(row, l.symbol);
    if (!coefficient || !coefficient->constant()) return std::nullopt;
    const bool to_high = *coefficient->constant() == 0 ? idle_last : (*coefficient->constant() > 0) == up;
    last[k] = to_high == (l.step > 0);
    const Expr final_value = l.end - Expr(l.step);
    row = row.substitute({{l.symbol, last[k] ? final_value : l.begin}});
  }
  Extreme result{row, {}};
  std::map<std::string, Expr> at;
  for (std::size_t k = 0; k < access.loops.size(); ++k) {
    const Around& l = access.loops[k];
    const Expr begin = l.begin.substitute(at), end = l.end.substitute(at);
    const Expr nonempty = (l.step > 0 ? end - begin : begin - end) - Expr(1);
    if (auto c = nonempty.constant(); c && *c < 0) return std::nullopt;
    if (!nonempty.constant()) result.nonneg.push_back(nonempty);
    at[l.symbol] = last[k] ? end - Expr(l.step) : begin;
  }
  result.row = access.row.substitute(at);
  for (const Expr& e : result.nonneg)
    if (!e.reads().empty()) return std::nullopt;
  return result.row.reads().empty() ? std::optional(result) : std::nullopt;
}

// Every access to a row.
std::vector<RowAccess> row_accesses(const sdfg::Sdfg& sdfg, const std::string& container) {
  std::vector<RowAccess> accesses;
  std::vector<Around> loops;
  bool returns = false;
  sdfg::visit(sdfg.root,
              [&](const sdfg::Node& n) { returns = returns || std::holds_alternative<sdfg::Return>(n.value); });
  collect(sdfg.root, container, loops, !returns, accesses);
  return accesses;
}

// Which rows are used, and which elements of them: [begin, end).
struct UsedRows {
  Expr least, most;
  Expr begin, end;
};

std::optional<UsedRows> used_rows(const sdfg::Sdfg& sdfg, const std::string& container, Ranges& ranges) {
  std::optional<Expr> most, least, end, begin;
  const auto smaller = [&](const std::optional<Expr>& a, const Expr& b) { return a ? -ranges.larger(-*a, -b) : b; };
  bool known = true;
  visit_memlets(sdfg.root, [&](const Memlet& m, bool, const Box& box) {
    if (m.container != container || m.subset.size() < 2) return;
    const Expr &row = m.subset[0].begin, &column = m.subset[1].begin;
    const auto top = ranges.upper(row, box, true), bottom = ranges.lower(row, box, true),
               right = ranges.upper(column, box, true), left = ranges.lower(column, box, true);
    for (const auto* e : {&top, &bottom, &right, &left}) known = known && *e && (*e)->reads().empty();
    if (!known) return;
    most = most ? ranges.larger(*most, *top) : *top;
    least = smaller(least, *bottom);
    end = end ? ranges.larger(*end, *right + Expr(1)) : *right + Expr(1);
    begin = smaller(begin, *left);
  });
  if (!known || !most) return std::nullopt;
  return UsedRows{*least, *most, *begin, *end};
}

// The first and the last row that the nest surely comes to.
struct Ends {
  Extreme first, last;
};

std::optional<Ends> row_ends(const std::vector<RowAccess>& accesses, const UsedRows& used, const Ranges& ranges) {
  std::optional<Extreme> first, last;
  for (const RowAccess& a : accesses)
    for (const bool idle_last : {false, true}) {
      if (auto e = extreme(a, true, idle_last); e && ranges.larger(e->row, used.most) == e->row)
        if (!last || e->nonneg.size() < last->nonneg.size()) last = std::move(e);
      if (auto e = extreme(a, false, idle_last); e && ranges.larger(-e->row, -used.least) == -e->row)
        if (!first || e->nonneg.size() < first->nonneg.size()) first = std::move(e);
    }
  if (!first || !last) return std::nullopt;
  return Ends{std::move(*first), std::move(*last)};
}

}  // namespace

Lift<void> Builder::resolve_rows(Memory& memory) {
  const std::string container = memory.container, table = memory.c_expr;
  const auto vague = [&](const std::string& why) {
    return refuse("c.pointer.to-pointer", "the rows of '" + table + "': " + why, memory.where);
  };
  const std::vector<RowAccess> accesses = row_accesses(sdfg_, container);
  if (accesses.empty()) return {};
  const std::optional<UsedRows> used = used_rows(sdfg_, container, ranges_);
  if (!used) return vague("which are used, or how much of them, depends on values in memory");
  const std::optional<Ends> ends = row_ends(accesses, *used, ranges_);
  if (!ends) return vague("the first or the last is used under a condition only");

  const Expr shift = ends->first.row, count = ends->last.row - shift + Expr(1);
  rewrite_subscripts(sdfg_.root, container, [&](const std::vector<Expr>& s, const Box&) {
    std::vector<Expr> moved = s;
    moved[0] = moved[0] - shift;
    moved[1] = moved[1] - used->begin;
    return moved;
  });
  sdfg::Container* c = sdfg_.find(container);
  c->shape[0] = count;
  c->shape[1] = used->end - used->begin;
  c->strides = sdfg::row_major(c->shape);
  const Expr row = c->strides[0];  // were there nothing between the rows
  c->strides[0] = Expr::symbol(memory.stride);
  memory.shift = used->begin * c->strides[1];
  memory.flat = false;

  const std::string from = "(" + c_text(ends->first.row) + ")", to = "(" + c_text(ends->last.row) + ")";
  const std::int64_t size = sdfg::info(c->type).bytes;
  const auto at = [&](const std::string& k) { return "(unsigned long)(" + table + ")[" + k + "]"; };
  const std::string distance = "(" + at(from + " + 1") + " - " + at(from) + ")";
  sdfg_.symbols.push_back(memory.stride);
  ranges_.parameters[memory.stride] = {INT64_MIN, INT64_MAX};
  // One row alone has none: any will do that is long enough.
  symbol_c_[memory.stride] = "(" + from + " < " + to + " ? (long long)" + distance + " / " + std::to_string(size) +
                             " : (long long)(" + c_text(row) + "))";
  if (!planted(Fault::rows_may_overlap)) ranges_.assumptions.push_back(Expr::symbol(memory.stride) - row);
  memory.c_expr = "(" + table + ")[" + from + "]";
  memory.table = table;

  RowCheck check{.table = table, .condition = "1", .nonneg = {}};
  for (const Extreme* e : {&ends->first, &ends->last})
    if (!planted(Fault::table_read_early)) check.nonneg.insert(check.nonneg.end(), e->nonneg.begin(), e->nonneg.end());
  if (!planted(Fault::rows_unevenly_spaced))
    check.condition = "(" + from + " >= " + to + " || __extension__({ long long sous_k = " + from +
                      "; const unsigned long sous_d = " + distance + "; while (sous_k < " + to + " && " +
                      at("sous_k + 1") + " - " + at("sous_k") + " == sous_d) ++sous_k; sous_k == " + to +
                      " && (long long)sous_d % " + std::to_string(size) + " == 0; }))";
  memory.entries = {"(unsigned long)&(" + table + ")[" + from + "]",
                    "(unsigned long)(&(" + table + ")[" + to + "] + 1)"};
  row_checks_.push_back(std::move(check));
  return {};
}

}  // namespace sous::frontends::c
