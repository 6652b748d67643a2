#include "sdfg/carried_columns.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "sdfg/place.h"

namespace sous::sdfg {

namespace {

// How often the region writes the container whenever it runs; nullopt: not always as often.
std::optional<int> times_written(const Region& region, const std::string& container) {
  int times = 0;
  for (const Node& node : region.nodes) {
    std::optional<int> more;
    if (const auto* state = std::get_if<State>(&node.value)) {
      more = 0;
      for (const TaskletView& tasklet : tasklets(*state))
        *more += static_cast<int>(
            std::ranges::count_if(tasklet.outputs, [&](const Memlet* m) { return m->container == container; }));
    } else if (const auto* branch = std::get_if<If>(&node.value)) {
      const auto then = times_written(branch->then_body, container);
      if (then == times_written(branch->else_body, container)) more = then;
    }
    if (!more) return std::nullopt;
    times += *more;
  }
  return times;
}

// Nothing but statements, under conditions perhaps.
bool is_flat(const Region& region) {
  return std::ranges::all_of(region.nodes, [](const Node& node) {
    if (const auto* branch = std::get_if<If>(&node.value))
      return is_flat(branch->then_body) && is_flat(branch->else_body);
    return std::holds_alternative<State>(node.value);
  });
}

// No two iterations of the loops over these symbols have the same element, however far they go.
bool is_injective(const Memlet& place, const std::string& a, const std::string& b) {
  std::vector<std::pair<std::int64_t, std::int64_t>> rows;
  for (const Expr& e : place.subset) {
    const auto x = coefficient_of(e, a), y = coefficient_of(e, b);
    if (!x || !y || !x->constant() || !y->constant()) return false;
    rows.emplace_back(*x->constant(), *y->constant());
  }
  return std::ranges::any_of(rows, [&](const auto& p) {
    return std::ranges::any_of(rows, [&](const auto& q) { return p.first * q.second != q.first * p.second; });
  });
}

// Whether the element written so many rows and columns before is the one that is read.
bool is_of(const Memlet& written, const Memlet& read, const std::string& row, int rows, const std::string& column,
           int columns) {
  const std::map<std::string, Expr> then = {{row, Expr::symbol(row) - rows}, {column, Expr::symbol(column) - columns}};
  return std::ranges::equal(written.subset, read.subset,
                            [&](const Expr& w, const Expr& r) { return w.substitute(then) == r; });
}

// Whether what the read meets is written by the same iteration, which reads first, or by one of a later column.
bool is_ahead(const Memlet& written, const Memlet& read, const std::string& row, const std::string& column) {
  if (is_of(written, read, row, 0, column, 0)) return true;
  for (int rows = -most_columns_kept; rows <= most_columns_kept; ++rows)
    for (int columns = 1; columns <= most_columns_kept; ++columns)
      if (is_of(written, read, row, rows, column, -columns)) return true;
  return false;
}

bool reads_something(const Memlet& memlet) {
  return std::ranges::any_of(memlet.subset, [](const Expr& e) { return !e.reads().empty(); });
}

// An access of the body, in the order in which it runs.
struct Touch {
  const Memlet* memlet;
  bool written, always;  // not under a condition
};
void collect(const Region& region, std::vector<Touch>& out, bool always = true) {
  for (const Node& node : region.nodes) {
    if (const auto* branch = std::get_if<If>(&node.value)) {
      for (const Memlet& m : branch->condition.inputs) out.push_back({&m, false, always});
      collect(branch->then_body, out, false);
      collect(branch->else_body, out, false);
      continue;
    }
    for (const TaskletView& tasklet : tasklets(std::get<State>(node.value))) {
      for (const Memlet* m : tasklet.inputs) out.push_back({m, false, always});
      for (const Memlet* m : tasklet.outputs) out.push_back({m, true, always});
    }
  }
}

// Whether partial results of the reduction may be kept over all columns: one element, and an order that no result
// depends on.
bool is_kept(const Sdfg& sdfg, const Reduction& reduction, const std::vector<Touch>& touched, const std::string& row,
             const std::string& column) {
  const bool free = !is_float(sdfg.find(reduction.container)->type) || reduction.op == ReductionOp::min ||
                    reduction.op == ReductionOp::max;
  return free && std::ranges::all_of(touched, [&](const Touch& t) {
           if (t.memlet->container != reduction.container) return true;
           return !reads_something(*t.memlet) &&
                  std::ranges::none_of(t.memlet->subset, [&](const Expr& e) { return e.uses(row) || e.uses(column); });
         });
}

// How often each element is written again by other iterations, going on from one to the next, if it is by the row
// behind some columns later, or in each column; nullopt: none of these.
struct Again {
  CarriedElement::Kind kind;
  int columns;
};
std::optional<Again> written_again(const Memlet& place, const std::string& row, const std::string& column) {
  std::optional<std::int64_t> later;  // columns; 0: in each
  for (const Expr& e : place.subset) {
    const auto x = coefficient_of(e, row), y = coefficient_of(e, column);
    if (!x || !y || !x->constant() || !y->constant()) return std::nullopt;
    const std::int64_t by_row = *x->constant(), by_column = *y->constant();
    if (by_row == 0 && by_column == 0) continue;
    if (by_row == 0 || (by_column != 0 && by_row % by_column != 0)) return std::nullopt;
    const std::int64_t one = by_column == 0 ? 0 : -(by_row / by_column);
    if (later && *later != one) return std::nullopt;
    later = one;
  }
  if (!later || *later < 0 || *later > most_columns_kept) return std::nullopt;
  return *later == 0 ? Again{CarriedElement::Kind::Row, 1}
                     : Again{CarriedElement::Kind::Passed, static_cast<int>(*later)};
}

// The iteration that wrote last, up to this one's column, what is read; nullopt: none not long before has.
std::optional<Behind> last_before(const Memlet& written, const Memlet& read, const std::string& row,
                                  const std::string& column) {
  for (int columns = 0; columns <= most_columns_kept; ++columns)
    for (int rows = -most_columns_kept; rows <= most_columns_kept; ++rows)
      if (is_of(written, read, row, rows, column, columns)) return Behind{rows, columns};
  return std::nullopt;
}

// Of an element that is written again and again: whether what is read is the iteration's own, as it is by then, or was
// written by another one since memory had it.
bool is_handed_on(const CarriedElement& carried, const Memlet& read, const std::string& row,
                  const std::string& column) {
  if (read.subset == carried.place.subset) return true;
  const auto from = last_before(carried.place, read, row, column);
  const bool in_column = from && from->columns == 0;  // by another row: before this one reads it, or behind that
  return from && !in_column && (from->rows == 0 || from->rows == 1) && from->columns <= carried.columns;
}

// Whether what is written there lies in rows that run along the columns.
bool is_square(const Sdfg& sdfg, const Memlet& place, const std::string& row, const std::string& column) {
  const Container& c = *sdfg.find(place.container);
  const Expr at = place_of(c, place.subset);
  const auto along = coefficient_of(at, column);
  return !place.combine && info(c.type).bytes >= 4 && !reads_something(place) &&
         (along == Expr(1) || along == Expr(-1)) && coefficient_of(at, row).has_value() &&
         is_injective(place, row, column);
}

// What each iteration has of the container that it writes there; nullopt: it is written in other ways.
std::optional<CarriedElement> carried_at(const Sdfg& sdfg, const Region& body, const std::vector<Touch>& touched,
                                         const Memlet& place, const std::string& row, const std::string& column) {
  CarriedElement carried{.place = place};
  carried.always = times_written(body, place.container) == 1;
  if (is_square(sdfg, place, row, column)) return carried.always ? std::optional(carried) : std::nullopt;
  const auto again = written_again(place, row, column);
  const bool plain = !place.combine && info(sdfg.find(place.container)->type).bytes >= 4 && !reads_something(place);
  const bool there = carried.always || std::ranges::any_of(touched, [&](const Touch& t) {
                       return t.always && t.memlet->container == place.container && t.memlet->subset == place.subset;
                     });
  if (!again || !plain || !there) return std::nullopt;
  carried.kind = again->kind;
  carried.columns = again->columns;
  return carried;
}

}  // namespace

bool may_overlap(const Sdfg& sdfg, const Container& a, const Container& b) {
  if (a.name == b.name) return true;
  if (a.alias_class == 0 || a.alias_class != b.alias_class) return false;
  return std::ranges::none_of(sdfg.disjoint, [&](const auto& pair) {
    return pair == std::pair(a.name, b.name) || pair == std::pair(b.name, a.name);
  });
}

std::optional<Behind> behind(const Memlet& written, const Memlet& read, const std::string& row,
                             const std::string& column) {
  for (int columns = 1; columns <= most_columns_kept; ++columns)
    for (int rows = 0; rows <= 1; ++rows)
      if (is_of(written, read, row, rows, column, columns)) return Behind{rows, columns};
  return std::nullopt;
}

const Loop* lanes_in(const Loop& columns) {
  if (columns.body.nodes.size() != 1) return nullptr;
  const auto* rows = std::get_if<Loop>(&columns.body.nodes[0].value);
  return rows != nullptr && std::holds_alternative<Simd>(rows->schedule) ? rows : nullptr;
}

std::optional<std::map<std::string, CarriedElement>> carried_columns(const Sdfg& sdfg, const Loop& columns) {
  const Loop& rows = *lanes_in(columns);
  const std::string &row = rows.symbol, &column = columns.symbol;
  const auto is_same_for_all = [&](const Expr& bound) { return !bound.uses(column) && bound.reads().empty(); };
  if (rows.step != 1 || columns.step != 1 || !columns.privates.empty() || !is_flat(rows.body) ||
      !is_same_for_all(rows.begin) || !is_same_for_all(rows.end))
    return std::nullopt;
  std::vector<Touch> touched;
  collect(rows.body, touched);
  for (const Reduction& r : rows.reductions)
    if (!is_kept(sdfg, r, touched, row, column)) return std::nullopt;
  std::erase_if(touched, [&](const Touch& t) {
    return std::ranges::count(rows.privates, t.memlet->container) > 0 ||
           std::ranges::any_of(rows.reductions, [&](const Reduction& r) { return r.container == t.memlet->container; });
  });
  std::map<std::string, CarriedElement> carried;
  for (const Touch& t : touched) {
    if (!t.written) continue;
    const Memlet& place = *t.memlet;
    if (const auto known = carried.find(place.container); known != carried.end()) {
      if (known->second.place != place) return std::nullopt;
      continue;
    }
    const auto one = carried_at(sdfg, rows.body, touched, place, row, column);
    if (!one) return std::nullopt;
    carried.emplace(place.container, *one);
  }
  const auto overlap = [&](const std::string& a, const std::string& b) {
    return a != b && may_overlap(sdfg, *sdfg.find(a), *sdfg.find(b));
  };
  for (const auto& [container, _] : carried)
    for (const Touch& t : touched)
      if (overlap(container, t.memlet->container)) return std::nullopt;
  for (const Reduction& r : rows.reductions)
    for (const Touch& t : touched)
      if (overlap(r.container, t.memlet->container)) return std::nullopt;
  bool waits = false;
  std::map<std::string, bool> written;  // whether for all lanes
  for (const Touch& t : touched) {
    const Memlet& memlet = *t.memlet;
    for (const Expr& e : memlet.subset)
      if (std::ranges::any_of(e.reads(), [&](const std::string& read) {
            return carried.contains(read) ||
                   std::ranges::any_of(carried, [&](const auto& one) { return overlap(read, one.first); });
          }))
        return std::nullopt;
    const auto of = carried.find(memlet.container);
    if (t.written) {
      written[memlet.container] = t.always;
    } else if (of == carried.end()) {
      continue;
    } else if (of->second.kind != CarriedElement::Kind::Own) {
      if (!is_handed_on(of->second, memlet, row, column)) return std::nullopt;
      waits = true;
    } else if (const auto from = behind(of->second.place, memlet, row, column)) {
      of->second.columns = std::max(of->second.columns, from->columns);
      waits = true;
    } else if (const auto now = written.find(memlet.container); now != written.end()) {
      // Behind a condition all lanes have it; between its branches some have.
      if (memlet.subset != of->second.place.subset || !(now->second || t.always)) return std::nullopt;
    } else if (!is_ahead(of->second.place, memlet, row, column)) {
      return std::nullopt;
    }
  }
  // Rows that do not wait for each other are ordinary vectors.
  const bool by_rows =
      std::ranges::any_of(carried, [](const auto& one) { return one.second.kind != CarriedElement::Kind::Row; });
  return waits && by_rows ? std::optional(std::move(carried)) : std::nullopt;
}

// What the region reads whenever it runs: in both arms of a branch is always, too.
static std::vector<Memlet> always_read(const Region& region) {
  std::vector<Memlet> result;
  const auto add = [&](const Memlet& m) {
    if (std::ranges::find(result, m) == result.end()) result.push_back(m);
  };
  for (const Node& node : region.nodes) {
    if (const auto* branch = std::get_if<If>(&node.value)) {
      std::ranges::for_each(branch->condition.inputs, add);
      const std::vector<Memlet> then = always_read(branch->then_body), otherwise = always_read(branch->else_body);
      for (const Memlet& m : then)
        if (std::ranges::find(otherwise, m) != otherwise.end()) add(m);
    } else if (const auto* state = std::get_if<State>(&node.value)) {
      for (const TaskletView& tasklet : tasklets(*state))
        for (const Memlet* m : tasklet.inputs) add(*m);
    }
  }
  return result;
}

std::vector<CarriedElement> passed_reads(const Sdfg& sdfg, const Loop& columns) {
  const Loop& rows = *lanes_in(columns);
  const std::set<std::string> written = touched(rows.body).written;
  std::vector<CarriedElement> result;
  for (const Memlet& read : always_read(rows.body)) {
    const auto again = written_again(read, rows.symbol, columns.symbol);
    if (again && !written.contains(read.container) && !sdfg.find(read.container)->transient && !reads_something(read))
      result.push_back({.kind = again->kind, .place = read, .columns = again->columns, .always = true});
  }
  return result;
}

}  // namespace sous::sdfg
