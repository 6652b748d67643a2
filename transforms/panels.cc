#include "transforms/panels.h"

#include <algorithm>

#include "sdfg/planted_fault.h"
#include "sdfg/polyhedral.h"
#include "transforms/step.h"
#include "transforms/tile_bounds.h"

namespace sous::transforms {

using sdfg::Expr;
using sdfg::Loop;
using sdfg::Points;
using sdfg::ScalarExpr;

namespace {

ScalarExpr equal(const Expr& a, const Expr& b) {
  auto leaf = [](const Expr& e) { return ScalarExpr::make_symbolic(e, sdfg::ElementType::i64); };
  return ScalarExpr::binary(sdfg::ScalarOp::eq, leaf(a), leaf(b));
}

void append(std::vector<ScalarExpr>& to, const std::vector<ScalarExpr>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

// The names of the dimensions in proofs: no identifiers, so that they meet no symbol.
struct Names {
  std::string panel = "#p";
  std::vector<std::string> element;
  std::vector<Expr> elements;
  explicit Names(std::size_t rank) {
    for (std::size_t d = 0; d < rank; ++d) {
      element.push_back("#" + std::to_string(d));
      elements.push_back(Expr::symbol(element.back()));
    }
  }
  Points points() const {
    Points p{.dims = {panel}, .exists = {}, .conditions = {}};
    p.dims.insert(p.dims.end(), element.begin(), element.end());
    return p;
  }
};

// All that the operand reads, by panel.
Points reads(const Paneled& p, const std::string& panel, const Names& names) {
  Points points = names.points();
  points.conditions = p.operand.guards;
  for (const Loop& l : p.operand.loops) {
    points.exists.push_back(l.symbol);
    append(points.conditions, sdfg::runs(l.begin, l.end, l.step, Expr::symbol(l.symbol)));
  }
  points.conditions.push_back(equal(Expr::symbol(names.panel), Expr::symbol(panel)));
  for (std::size_t d = 0; d < names.elements.size(); ++d)
    points.conditions.push_back(equal(names.elements[d], p.subscript(d)));
  return points;
}

// An iteration that reads a given element, if it exists: loops that the subscripts determine have the value that they
// say, loops over tiles that of the tile, all others their first or their last.
struct Witness {
  Points points;
  std::vector<ScalarExpr> not_empty;  // of the loops at their first or last iteration
};

Witness witness(const Paneled& p, const std::string& panel, const Names& names, bool first) {
  std::map<std::string, Expr> value = {{panel, Expr::symbol(names.panel)}};
  value[p.point] = names.elements[p.dim] - p.shift;
  if (p.point == panel) value[panel] = Expr::symbol(names.panel);
  const auto& loops = p.operand.loops;
  for (std::size_t d = 0; d < names.elements.size(); ++d) {
    std::vector<std::string> moving;
    for (const Loop& l : loops)
      if (p.subscript(d).uses(l.symbol)) moving.push_back(l.symbol);
    if (moving.size() == 1 && sdfg::coefficient_of(p.subscript(d), moving[0]) == Expr(1))
      value.emplace(moving[0], names.elements[d] - (p.subscript(d) - Expr::symbol(moving[0])));
  }
  // A loop over tiles, from the inside out: the one whose value begins a loop that has a value.
  std::map<std::string, std::string> points_of;
  for (std::size_t k = loops.size(); k-- > 0;) {
    if (value.contains(loops[k].symbol)) continue;
    for (std::size_t i = k + 1; i < loops.size() && !points_of.contains(loops[k].symbol); ++i)
      for (const Expr& piece : sdfg::max_pieces(loops[i].begin))
        if (piece == Expr::symbol(loops[k].symbol) &&
            (value.contains(loops[i].symbol) || points_of.contains(loops[i].symbol)))
          points_of.emplace(loops[k].symbol,
                            points_of.contains(loops[i].symbol) ? points_of[loops[i].symbol] : loops[i].symbol);
  }
  Witness w{.points = names.points(), .not_empty = {}};
  for (const Loop& l : loops) {
    Loop here = l;
    here.begin = l.begin.substitute(value);
    here.end = l.end.substitute(value);
    if (const auto inner = points_of.find(l.symbol); inner != points_of.end()) {
      value[l.symbol] = here.begin + Expr::floor_div(value.at(inner->second) - here.begin, l.step) * Expr(l.step);
    } else if (!value.contains(l.symbol)) {
      value[l.symbol] =
          first ? here.begin : here.begin + Expr::floor_div(here.end - 1 - here.begin, l.step) * Expr(l.step);
      append(w.not_empty, needed_at_most(here.begin + 1, here.end));
    }
    append(w.points.conditions, sdfg::runs(here.begin, here.end, here.step, value[l.symbol]));
  }
  for (const ScalarExpr& g : p.operand.guards) w.points.conditions.push_back(g.substitute(value));
  for (std::size_t d = 0; d < names.elements.size(); ++d)
    w.points.conditions.push_back(equal(names.elements[d], p.subscript(d).substitute(value)));
  return w;
}

std::optional<Box> box_of(const Paneled& p, const std::string& panel, std::int64_t width) {
  const Loop& tiles = *p.operand.loop(panel);
  const auto first = p.operand.least(tiles.begin), last = p.operand.greatest(tiles.end);
  if (!first || !last) return std::nullopt;
  Box box{.dim = p.dim,
          .shift = p.shift,
          .limit = p.limit,
          .first = *first,
          .last = *last,
          .width = width,
          .low = {},
          .high = {},
          .guard = {}};
  for (std::size_t d = 0; d < p.operand.element.subset.size(); ++d) {
    const auto low = p.operand.least(p.subscript(d)), high = p.operand.greatest(p.subscript(d));
    if (!low || !high) return std::nullopt;
    box.low.push_back(*low);
    box.high.push_back(simplest(*high));
  }
  const Names names(box.low.size());
  for (const ScalarExpr& c : witness(p, panel, names, true).not_empty) {
    bool outside = true;
    c.visit([&](const ScalarExpr& e) {
      for (const std::string& s : e.symbolic.symbols()) outside = outside && s[0] != '#';
    });
    if (outside && std::ranges::find(box.guard, c) == box.guard.end()) box.guard.push_back(c);
  }
  return box;
}

Result<bool> is_exact(const Box& box, const std::vector<Paneled>& group, const std::string& panel,
                      const Outside& outside) {
  const Names names(box.low.size());
  Points held = names.points();
  held.conditions = box.conditions(Expr::symbol(names.panel), names.elements);
  if (!sdfg::is_affine(held)) return false;
  std::vector<Points> witnesses;
  for (const Paneled& p : group) {
    Points read = reads(p, panel, names);
    append(read.conditions, outside.conditions);
    TRY(const bool is_held, sdfg::is_within(read, {held}));
    if (!is_held) return false;
    for (const bool first : {true, false}) witnesses.push_back(witness(p, panel, names, first).points);
  }
  append(held.conditions, outside.conditions);
  return sdfg::is_within(held, witnesses);
}

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

Result<bool> is_unwritten(const Paneled& p, const Loop& loop, const Outside& outside) {
  if (planted(Fault::packed_though_written)) return true;
  std::vector<Write> writes;
  if (!find_writes(loop.body, p.operand.element.container, {}, writes)) return false;
  const Names names(p.operand.element.subset.size());
  for (const Write& write : writes) {
    // The read, whose limit (a padded tile's) only narrows it, and the write, in another iteration of the loops inside.
    Points both{.dims = names.element, .exists = {}, .conditions = outside.conditions};
    append(both.conditions, p.operand.guards);
    for (const Loop& l : p.operand.loops) {
      both.exists.push_back(l.symbol);
      append(both.conditions, sdfg::runs(l.begin, l.end, l.step, Expr::symbol(l.symbol)));
    }
    std::map<std::string, Expr> there;
    for (const Loop& l : write.loops) {
      const std::string symbol = "#" + l.symbol;
      both.exists.push_back(symbol);
      const Expr begin = l.begin.substitute(there), end = l.end.substitute(there);
      there[l.symbol] = Expr::symbol(symbol);
      append(both.conditions, sdfg::runs(begin, end, l.step, there[l.symbol]));
    }
    for (const ScalarExpr& g : write.guards) both.conditions.push_back(g.substitute(there));
    for (std::size_t d = 0; d < names.elements.size(); ++d) {
      both.conditions.push_back(equal(names.elements[d], p.operand.element.subset[d].begin));
      both.conditions.push_back(equal(names.elements[d], write.element[d].substitute(there)));
    }
    if (!sdfg::is_affine(both)) return false;
    TRY(const bool apart, sdfg::is_within(both, {}));
    if (!apart) return false;
  }
  return true;
}

std::vector<ScalarExpr> Box::conditions(const Expr& panel, const std::vector<Expr>& element) const {
  std::vector<ScalarExpr> all = guard;
  append(all, sdfg::runs(first, last, width, panel));
  for (std::size_t d = 0; d < element.size(); ++d) {
    if (d == dim && limit) continue;
    all.push_back(sdfg::at_most(low[d], element[d]));
    all.push_back(sdfg::at_most(element[d], high[d]));
  }
  all.push_back(sdfg::at_most(panel + shift, element[dim]));
  all.push_back(sdfg::at_most(element[dim], panel + shift + width - 1));
  return all;
}

std::optional<Paneled> paneled(const Operand& o, const std::string& panel) {
  const Loop* tiles = o.loop(panel);
  if (tiles == nullptr) return std::nullopt;
  std::optional<Paneled> result;
  for (std::size_t d = 0; d < o.element.subset.size(); ++d) {
    const Expr e = o.element.subset[d].begin;
    for (const Loop* l = tiles; l != o.loops.data() + o.loops.size(); ++l) {
      if (!e.uses(l->symbol)) continue;
      if (l != tiles && !l->begin.uses(panel) && !l->end.uses(panel)) continue;
      // e itself, or the one of the expressions of which it is the least that moves.
      std::optional<Expr> shift, limit;
      bool one = !result.has_value();
      for (const Expr& piece : sdfg::min_pieces(e)) {
        const auto moves = [&](const Expr& x) {
          return std::ranges::any_of(o.loops, [&](const Loop& m) { return x.uses(m.symbol); });
        };
        if (!moves(piece)) {
          limit = limit ? Expr::min(*limit, piece) : piece;
          continue;
        }
        one = one && !shift && !moves(piece - Expr::symbol(l->symbol));
        shift = piece - Expr::symbol(l->symbol);
      }
      if (!one) return std::nullopt;
      result = Paneled{.operand = o, .dim = d, .point = l->symbol, .shift = *shift, .limit = limit};
    }
  }
  return result;
}

Result<Box> box_of_panels(const std::vector<Paneled>& group, const std::string& panel, std::int64_t width,
                          const Outside& outside) {
  const std::string& container = group[0].operand.element.container;
  // Partial tiles, which come last, know where the elements end; full ones are guarded.
  for (std::size_t k = group.size(); k-- > 0;) {
    const auto candidate = box_of(group[k], panel, width);
    if (!candidate) continue;
    TRY(const bool fits, is_exact(*candidate, group, panel, outside));
    if (fits) return *candidate;
  }
  return fail("pack.footprint", "what is read of " + container + " is not known to be a box of panels", panel);
}

std::optional<Expr> bounded(const Expr& extent, const std::vector<Loop>& loops) {
  const auto is_free = [&](const Expr& e) {
    return std::ranges::none_of(loops, [&](const Loop& l) { return e.uses(l.symbol); });
  };
  std::optional<Expr> best;
  for (const Expr& piece : sdfg::min_pieces(extent)) {
    if (piece.constant() && (!best || !best->constant() || *piece.constant() < *best->constant())) best = piece;
    if (!best && is_free(piece)) best = piece;
  }
  if (best) return best;
  Expr e = extent;
  for (std::size_t k = loops.size(); k-- > 0;) {
    const auto next = greatest(e, loops[k].symbol, loops[k].begin, loops[k].end - 1);
    if (!next || loops[k].step < 0) return std::nullopt;
    e = *next;
  }
  if (!is_free(e) || !e.reads().empty()) return std::nullopt;
  return e;
}

}  // namespace sous::transforms
