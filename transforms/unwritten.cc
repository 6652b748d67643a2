#include "transforms/unwritten.h"

#include <map>

#include "sdfg/planted_fault.h"
#include "sdfg/polyhedral.h"

namespace sous::transforms {

namespace {

using sdfg::Expr;
using sdfg::Loop;
using sdfg::Points;
using sdfg::ScalarExpr;

// A write of a container, with the loops and guards around it.
struct Write {
  std::vector<Expr> element;
  std::vector<Loop> loops;
  std::vector<ScalarExpr> guards;
};

// All writes of the container below; false if the elements of one are not known.
bool find_writes(const sdfg::Region& region, const std::string& container, const Write& around,
                 std::vector<Write>& found) {
  const auto touches = [&](const sdfg::Node& n) { return sdfg::touched({{n}}).written.contains(container); };
  for (const sdfg::Node& n : region.nodes) {
    if (!touches(n)) continue;
    const bool known = match(
        n.value,
        [&](const sdfg::State& s) {
          const auto assignment = sdfg::as_assignment(s);
          if (!assignment) return false;
          Write write = around;
          for (const sdfg::Dim& d : assignment->out.subset) {
            if (d.end || !sdfg::is_quasi_affine(d.begin)) return false;
            write.element.push_back(d.begin);
          }
          found.push_back(std::move(write));
          return true;
        },
        [&](const Loop& l) {
          if (!sdfg::is_quasi_affine(l.begin) || !sdfg::is_quasi_affine(l.end)) return false;
          Write inside = around;
          inside.loops.push_back(l);
          inside.loops.back().body.nodes.clear();
          return find_writes(l.body, container, inside, found);
        },
        [&](const sdfg::If& i) {
          Write inside = around, otherwise = around;
          if (i.condition.inputs.empty() && sdfg::is_affine_condition(i.condition.code)) {
            inside.guards.push_back(i.condition.code);
            otherwise.guards.push_back(ScalarExpr::unary(sdfg::ScalarOp::logical_not, i.condition.code));
          }
          return find_writes(i.then_body, container, inside, found) &&
                 find_writes(i.else_body, container, otherwise, found);
        },
        [](const sdfg::While&) { return false; }, [](const sdfg::Return&) { return true; });
    if (!known) return false;
  }
  return true;
}

}  // namespace

Result<bool> is_unwritten(const Read& read, const sdfg::Region& region, const std::vector<ScalarExpr>& around) {
  if (planted(Fault::packed_though_written)) return true;
  std::vector<Write> writes;
  if (!find_writes(region, read.container, {}, writes)) return false;
  for (const Write& write : writes) {
    // The read, and the write in another iteration of its loops.
    Points both{.dims = {}, .exists = {}, .conditions = around};
    sdfg::append(both.conditions, read.conditions);
    for (const Loop& l : read.loops) {
      both.exists.push_back(l.symbol);
      sdfg::append(both.conditions, sdfg::runs(l.begin, l.end, l.step, Expr::symbol(l.symbol)));
    }
    std::map<std::string, Expr> there;
    for (const Loop& l : write.loops) {
      const std::string symbol = in_region(l.symbol);
      both.exists.push_back(symbol);
      const Expr begin = l.begin.substitute(there), end = l.end.substitute(there);
      there[l.symbol] = Expr::symbol(symbol);
      sdfg::append(both.conditions, sdfg::runs(begin, end, l.step, there[l.symbol]));
    }
    for (const ScalarExpr& g : write.guards) both.conditions.push_back(g.substitute(there));
    for (std::size_t d = 0; d < read.element.size(); ++d) {
      both.dims.push_back("#" + std::to_string(d));
      const Expr element = Expr::symbol(both.dims.back());
      both.conditions.push_back(sdfg::equal(element, read.element[d]));
      both.conditions.push_back(sdfg::equal(element, write.element[d].substitute(there)));
    }
    if (!sdfg::is_affine(both)) return false;
    TRY(const bool apart, sdfg::is_within(both, {}));
    if (!apart) return false;
  }
  return true;
}

}  // namespace sous::transforms
