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

// Whether what is written there lies in rows that run along the columns.
bool is_square(const Sdfg& sdfg, const Memlet& place, const std::string& row, const std::string& column) {
  const Container& c = *sdfg.find(place.container);
  const Expr at = place_of(c, place.subset);
  const auto along = coefficient_of(at, column);
  return !place.combine && info(c.type).bytes >= 4 && !reads_something(place) &&
         (along == Expr(1) || along == Expr(-1)) && coefficient_of(at, row).has_value() &&
         is_injective(place, row, column);
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
  for (int rows = 0; rows <= 1; ++rows)
    for (int columns = 1; columns <= most_columns_kept; ++columns)
      if (is_of(written, read, row, rows, column, columns)) return Behind{rows, columns};
  return std::nullopt;
}

const Loop* lanes_in(const Loop& columns) {
  if (columns.body.nodes.size() != 1) return nullptr;
  const auto* rows = std::get_if<Loop>(&columns.body.nodes[0].value);
  return rows != nullptr && std::holds_alternative<Simd>(rows->schedule) ? rows : nullptr;
}

std::optional<std::map<std::string, Carried>> carried_columns(const Sdfg& sdfg, const Loop& columns) {
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
  std::map<std::string, Carried> carried;
  for (const Touch& t : touched) {
    if (!t.written) continue;
    const Memlet& place = *t.memlet;
    const auto known = carried.find(place.container);
    if (known != carried.end() ? known->second.place != place
                               : !is_square(sdfg, place, row, column) || times_written(rows.body, place.container) != 1)
      return std::nullopt;
    carried.try_emplace(place.container, Carried{place});
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
  return waits ? std::optional(std::move(carried)) : std::nullopt;
}

}  // namespace sous::sdfg
