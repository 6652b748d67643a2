#include "targets/openmp/reductions.h"

#include <algorithm>
#include <set>
#include <utility>

#include "sdfg/planted_fault.h"

namespace sous::targets {
namespace {

// Elements of an array that every thread may hold a partial copy of.
constexpr std::int64_t max_section = 4096;
// Of all copies of a region together, which the caller's stack takes, too: threads may have little more than that.
constexpr std::int64_t max_stack_bytes_of_copies = std::int64_t{16} * 1024;

std::string_view omp_operator(sdfg::ReductionOp op) {
  switch (op) {
    case sdfg::ReductionOp::sum:
      return "+";
    case sdfg::ReductionOp::product:
      return "*";
    case sdfg::ReductionOp::min:
      return "min";
    case sdfg::ReductionOp::max:
      return "max";
    case sdfg::ReductionOp::bit_and:
      return "&";
    case sdfg::ReductionOp::bit_or:
      return "|";
    case sdfg::ReductionOp::bit_xor:
      return "^";
  }
  __builtin_unreachable();
}

// Of floats the first of equal values stays, in whatever order the threads end (sdfg::keeps_first_extremum).
bool keeps_first(const Printer& printer, const sdfg::Container& container, sdfg::ReductionOp op) {
  return sdfg::is_float(container.type) && (op == sdfg::ReductionOp::min || op == sdfg::ReductionOp::max) &&
         !printer.options().reassociate;
}

std::string_view neutral(sdfg::ReductionOp op) {
  switch (op) {
    case sdfg::ReductionOp::sum:
      return "neutral_sum";
    case sdfg::ReductionOp::product:
      return "neutral_product";
    case sdfg::ReductionOp::min:
      return "neutral_min";
    case sdfg::ReductionOp::max:
      return "neutral_max";
    case sdfg::ReductionOp::bit_and:
      return "neutral_and";
    case sdfg::ReductionOp::bit_or:
    case sdfg::ReductionOp::bit_xor:
      return "neutral_or";
  }
  __builtin_unreachable();
}

}  // namespace

std::string neutral_element(sdfg::ReductionOp op, sdfg::ElementType type) {
  return "sous::" + std::string(neutral(op)) + "<" + std::string(sdfg::info(type).cpp) + ">";
}

std::string changes(sdfg::ReductionOp op, sdfg::ElementType type, const std::string& value) {
  if (op == sdfg::ReductionOp::sum) return value + " != 0";
  return "sous::differs(" + value + ", " + neutral_element(op, type) + ")";
}

bool always_writes(const sdfg::Region& region, const std::string& container) {
  const auto writes = [&](const sdfg::Node& node) {
    return match(
        node.value,
        [&](const sdfg::State& s) {
          return std::ranges::any_of(sdfg::tasklets(s), [&](const sdfg::TaskletView& tasklet) {
            return std::ranges::any_of(tasklet.outputs,
                                       [&](const sdfg::Memlet* out) { return out->container == container; });
          });
        },
        [&](const sdfg::Loop& l) {
          const auto trips = (l.step > 0 ? l.end - l.begin : l.begin - l.end).constant();
          return trips.value_or(0) > 0 && always_writes(l.body, container);
        },
        [&](const sdfg::If& i) {
          return always_writes(i.then_body, container) && always_writes(i.else_body, container);
        },
        [&](const sdfg::While& w) { return !w.test_first && always_writes(w.body, container); });
  };
  return std::ranges::any_of(region.nodes, writes);
}

namespace {

OwnCopy own_copy(const Printer& printer, const std::string& name, sdfg::ElementType type, sdfg::ReductionOp op,
                 std::int64_t elements, bool ordered) {
  const std::string of(sdfg::info(type).cpp);
  const bool max = op == sdfg::ReductionOp::max;
  if (ordered) {
    return {name, "sous::First<" + of + ">", "{" + neutral_element(op, type) + ", sous::thread()}", elements,
            [max](const std::string& all, const std::string& own) {
              return std::string(max ? "sous::first_max(" : "sous::first_min(") + all + ", " + own + ")";
            }};
  }
  return {name,
          of,
          neutral_element(op, type),
          elements,
          [&printer, op, type](const std::string& all, const std::string& own) {
            return printer.expressions.combined(op, type, {all}, {own}).text;
          },
          [op, type](const std::string& own) { return changes(op, type, own); }};
}

}  // namespace

std::optional<Reductions> plan_reductions(Printer& printer, const sdfg::Loop& loop, bool shared) {
  Reductions result;
  Names& names = printer.expressions.names();
  std::int64_t stack_bytes = 0;
  for (const sdfg::Reduction& r : loop.reductions) {
    const sdfg::Container& c = printer.expressions.container(r.container);
    const bool first = shared && keeps_first(printer, c, r.op);
    std::string item;
    std::int64_t elements = 0;
    if (const auto place = single_place(loop, r.container)) {
      item = names.fresh(names.of(r.container) + "_local");
      // What is a local variable around the loop may be touched in any case.
      const bool perhaps = !printer.expressions.locals.contains(r.container) && !always_writes(loop.body, r.container);
      result.locals.push_back({*place, item, r.op, first, perhaps});
      result.ordered = result.ordered || first;
    } else if (shared && !first && !printer.expressions.locals.contains(r.container)) {
      sdfg::Expr last = c.offset;
      for (std::size_t d = 0; d < c.shape.size(); ++d) {
        last = last + (c.shape[d] - sdfg::Expr(1)) * c.strides[d];
        if (c.strides[d].constant().value_or(-1) < 0) return std::nullopt;
      }
      elements = last.constant().value_or(-1) + 1;
      if (elements < 1 || elements > max_section) return std::nullopt;
      item = printer.expressions.use(r.container);
    } else {
      return std::nullopt;
    }
    if (planted(Fault::reduction_clause_lost)) continue;
    if (!shared) {
      result.clauses += " reduction(" + std::string(omp_operator(r.op)) + " : " + item + ")";
      continue;
    }
    result.copies.push_back(own_copy(printer, item, c.type, r.op, elements, first));
    const std::int64_t bytes = elements * sdfg::info(c.type).bytes;
    result.copies.back().heap = stack_bytes + bytes > max_stack_bytes_of_copies;
    if (!result.copies.back().heap) stack_bytes += bytes;
  }
  return result;
}

std::optional<sdfg::Memlet> single_place(const sdfg::Loop& loop, const std::string& container) {
  std::set<std::string> bound = {loop.symbol};
  std::vector<const sdfg::Memlet*> memlets;
  std::vector<sdfg::Expr> exprs;
  sdfg::visit(loop.body, [&](const sdfg::Node& node) {
    match(
        node.value,
        [&](const sdfg::State& s) {
          for (const sdfg::Edge& edge : s.edges) memlets.push_back(&edge.memlet);
        },
        [&](const sdfg::Loop& l) {
          bound.insert(l.symbol);
          exprs.insert(exprs.end(), {l.begin, l.end});
        },
        [&](const sdfg::If& i) {
          for (const sdfg::Memlet& m : i.condition.inputs) memlets.push_back(&m);
        },
        [&](const sdfg::While& w) {
          for (const sdfg::Memlet& m : w.condition.inputs) memlets.push_back(&m);
        });
  });
  const sdfg::Memlet* place = nullptr;
  for (const sdfg::Memlet* m : memlets) {
    exprs.insert(exprs.end(), m->subset.begin(), m->subset.end());
    if (m->container != container) continue;
    if (place != nullptr && place->subset != m->subset) return std::nullopt;
    place = m;
  }
  if (place == nullptr) return std::nullopt;
  for (const sdfg::Expr& e : exprs) {
    if (e.reads().contains(container)) return std::nullopt;
  }
  for (const sdfg::Expr& e : place->subset) {
    if (!e.reads().empty()) return std::nullopt;
    for (const std::string& symbol : e.symbols()) {
      if (bound.contains(symbol)) return std::nullopt;
    }
  }
  return sdfg::Memlet{place->container, place->subset, std::nullopt};
}

}  // namespace sous::targets
