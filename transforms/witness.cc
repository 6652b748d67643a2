#include "transforms/witness.h"

#include "sdfg/polyhedral.h"
#include "transforms/tile_bounds.h"

namespace sous::transforms {

using sdfg::Expr;

namespace {

// Adds the variables that the element alone determines.
void determine(std::map<std::string, Expr>& value, const std::vector<sdfg::ScheduleLoop>& loops,
               const std::vector<Expr>& subscripts) {
  const std::vector<std::string> element = dimensions(subscripts.size());
  for (std::size_t d = 0; d < subscripts.size(); ++d) {
    std::vector<std::string> moving;
    for (const sdfg::ScheduleLoop& l : loops)
      if (subscripts[d].uses(l.symbol)) moving.push_back(l.symbol);
    if (moving.size() == 1 && sdfg::coefficient_of(subscripts[d], moving[0]) == Expr(1))
      value.emplace(moving[0], Expr::symbol(element[d]) - (subscripts[d] - Expr::symbol(moving[0])));
  }
}

Witness witness(const Around& around, const std::vector<Expr>& subscripts, std::map<std::string, Expr> value,
                bool first) {
  const std::vector<sdfg::ScheduleLoop>& loops = around.loops;
  // A loop over tiles, from the inside out: the one whose value begins a loop that has a value.
  std::map<std::string, std::string> points_of;
  for (std::size_t k = loops.size(); k-- > 0;) {
    if (value.contains(loops[k].symbol) || loops[k].step < 0) continue;
    for (std::size_t i = k + 1; i < loops.size() && !points_of.contains(loops[k].symbol); ++i)
      for (const Expr& piece : sdfg::max_pieces(loops[i].begin))
        if (piece == Expr::symbol(loops[k].symbol) &&
            (value.contains(loops[i].symbol) || points_of.contains(loops[i].symbol)))
          points_of.emplace(loops[k].symbol,
                            points_of.contains(loops[i].symbol) ? points_of[loops[i].symbol] : loops[i].symbol);
  }
  Witness w;
  for (const sdfg::ScheduleLoop& l : loops) {
    const Expr begin = l.begin.substitute(value), end = l.end.substitute(value);
    if (const auto inner = points_of.find(l.symbol); inner != points_of.end()) {
      value[l.symbol] = begin + Expr::floor_div(value.at(inner->second) - begin, l.step) * Expr(l.step);
    } else if (!value.contains(l.symbol)) {
      value[l.symbol] = first || l.step < 0 ? begin : begin + Expr::floor_div(end - 1 - begin, l.step) * Expr(l.step);
      sdfg::append(w.not_empty, l.step < 0 ? needed_at_most(end + 1, begin) : needed_at_most(begin + 1, end));
    }
    sdfg::append(w.elements.conditions, sdfg::runs(begin, end, l.step, value[l.symbol]));
  }
  for (const sdfg::ScalarExpr& g : around.guards) w.elements.conditions.push_back(g.substitute(value));
  std::vector<Expr> touched;
  for (const Expr& e : subscripts) touched.push_back(e.substitute(value));
  w.elements = at(w.elements, touched);
  return w;
}

}  // namespace

std::vector<Witness> witnesses(const Around& around, const std::vector<Expr>& subscripts,
                               std::map<std::string, Expr> value) {
  determine(value, around.loops, subscripts);
  return {witness(around, subscripts, value, true), witness(around, subscripts, value, false)};
}

}  // namespace sous::transforms
