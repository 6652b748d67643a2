#include "transforms/panels.h"

#include <algorithm>

#include "sdfg/polyhedral.h"
#include "transforms/step.h"
#include "transforms/tile_bounds.h"
#include "transforms/unwritten.h"
#include "transforms/witness.h"

namespace sous::transforms {

using sdfg::Expr;
using sdfg::Loop;
using sdfg::Points;
using sdfg::ScalarExpr;

namespace {

// The names of the dimensions in proofs.
struct Names {
  std::string panel = Box::panel_name();
  std::vector<std::string> element;
  std::vector<Expr> elements;
  explicit Names(std::size_t rank) {
    for (std::size_t d = 0; d < rank; ++d) {
      element.push_back(Box::name(d));
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
    sdfg::append(points.conditions, sdfg::runs(l.begin, l.end, l.step, Expr::symbol(l.symbol)));
  }
  points.conditions.push_back(sdfg::equal(Expr::symbol(names.panel), Expr::symbol(panel)));
  for (std::size_t d = 0; d < names.elements.size(); ++d)
    points.conditions.push_back(sdfg::equal(names.elements[d], p.subscript(d)));
  return points;
}

std::vector<Expr> subscripts(const Paneled& p) {
  std::vector<Expr> result;
  for (std::size_t d = 0; d < p.operand.element.subset.size(); ++d) result.push_back(p.subscript(d));
  return result;
}

// An iteration that reads a given element, if one does.
Witness reader(const Paneled& p, const std::string& panel, const Names& names, bool first) {
  std::vector<Range> loops;
  for (const Loop& l : p.operand.loops) loops.push_back({l.symbol, l.begin, l.end, l.step});
  std::map<std::string, Expr> value = {{panel, Expr::symbol(names.panel)}};
  value.emplace(p.point, names.elements[p.dim] - p.shift);
  determine(value, loops, subscripts(p), names.elements);
  return witness(loops, std::move(value), first);
}

// The elements that it reads.
Points points(const Paneled& p, const Names& names, const Witness& reader) {
  Points points = names.points();
  points.conditions = reader.conditions;
  for (const ScalarExpr& g : p.operand.guards) points.conditions.push_back(g.substitute(reader.value));
  for (std::size_t d = 0; d < names.elements.size(); ++d)
    points.conditions.push_back(sdfg::equal(names.elements[d], p.subscript(d).substitute(reader.value)));
  return points;
}

// The bounds of the subscripts one after the other, each for given values of those before it.
bool find_shape(const Paneled& p, const std::string& panel, Box& box) {
  if (p.limit || (p.point == panel && box.width > 1)) return false;
  std::vector<std::size_t> order;
  for (std::size_t d = 0; d < box.low.size(); ++d)
    if (d != p.dim) order.push_back(d);
  order.push_back(p.dim);
  std::map<std::string, Expr> known = {{panel, Expr::symbol(Box::panel_name())}};
  box.from.resize(order.size());
  box.to.resize(order.size());
  for (const std::size_t d : order) {
    const auto low = p.operand.least(p.subscript(d), known), high = p.operand.greatest(p.subscript(d), known);
    if (!low || !high) return false;
    box.from[d] = *low;
    box.to[d] = simplest(*high);
    std::vector<std::string> moving;
    for (const Loop& l : p.operand.loops)
      if (p.subscript(d).uses(l.symbol) && !known.contains(l.symbol)) moving.push_back(l.symbol);
    if (moving.size() == 1 && sdfg::coefficient_of(p.subscript(d), moving[0]) == Expr(1))
      known.emplace(moving[0],
                    Expr::symbol(Box::name(d)) - (p.subscript(d) - Expr::symbol(moving[0])).substitute(known));
  }
  return box.from != box.low || box.to != box.high;
}

std::optional<Box> box_of(const Paneled& p, const std::string& panel, std::int64_t width, bool shaped) {
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
          .from = {},
          .to = {},
          .guard = {}};
  for (std::size_t d = 0; d < p.operand.element.subset.size(); ++d) {
    const auto low = p.operand.least(p.subscript(d)), high = p.operand.greatest(p.subscript(d));
    if (!low || !high) return std::nullopt;
    box.low.push_back(*low);
    box.high.push_back(simplest(*high));
  }
  if (shaped && !find_shape(p, panel, box)) return std::nullopt;
  const Names names(box.low.size());
  for (const ScalarExpr& c : reader(p, panel, names, true).not_empty) {
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
    sdfg::append(read.conditions, outside.conditions);
    if (!sdfg::is_affine(read)) return false;
    TRY(const bool is_held, sdfg::is_within(read, {held}));
    if (!is_held) return false;
    for (const bool first : {true, false}) witnesses.push_back(points(p, names, reader(p, panel, names, first)));
  }
  if (!std::ranges::all_of(witnesses, sdfg::is_affine)) return false;
  sdfg::append(held.conditions, outside.conditions);
  return sdfg::is_within(held, witnesses);
}

}  // namespace

Loop* find_with_outside(sdfg::Region& region, const std::string& symbol, Outside& outside) {
  for (sdfg::Node& n : region.nodes) {
    Loop* found = nullptr;
    const Outside before = outside;
    match(
        n.value, [](sdfg::State&) {},
        [&](Loop& l) {
          outside.loops.push_back(l);
          outside.loops.back().body.nodes.clear();
          if (sdfg::is_quasi_affine(l.begin) && sdfg::is_quasi_affine(l.end))
            for (const ScalarExpr& c : sdfg::runs(l.begin, l.end, l.step, Expr::symbol(l.symbol)))
              outside.conditions.push_back(c);
          found = l.symbol == symbol ? &l : find_with_outside(l.body, symbol, outside);
        },
        [&](sdfg::If& i) {
          if (!i.condition.inputs.empty() || !sdfg::is_affine_condition(i.condition.code)) return;
          outside.conditions.push_back(i.condition.code);
          found = find_with_outside(i.then_body, symbol, outside);
          if (found) return;
          outside.conditions.back() = ScalarExpr::unary(sdfg::ScalarOp::logical_not, i.condition.code);
          found = find_with_outside(i.else_body, symbol, outside);
        },
        [](sdfg::While&) {}, [](sdfg::Return&) {});
    if (found) return found;
    outside = before;
  }
  return nullptr;
}

Result<bool> is_unwritten(const Paneled& p, const Loop& loop, const Outside& outside) {
  // A limit (a padded tile's) only narrows what is read.
  return is_unwritten({.container = p.operand.element.container,
                       .element = sdfg::subscripts(p.operand.element.subset),
                       .loops = p.operand.loops,
                       .conditions = p.operand.guards},
                      loop.body, outside.conditions);
}

std::vector<ScalarExpr> Box::conditions(const Expr& panel, const std::vector<Expr>& element) const {
  std::vector<ScalarExpr> all = guard;
  sdfg::append(all, sdfg::runs(first, last, width, panel));
  for (std::size_t d = 0; d < element.size(); ++d) {
    if (d == dim && limit) continue;
    const auto [least, greatest] = bounds(d, panel, element);
    all.push_back(sdfg::at_most(least, element[d]));
    all.push_back(sdfg::at_most(element[d], greatest));
  }
  all.push_back(sdfg::at_most(panel + shift, element[dim]));
  all.push_back(sdfg::at_most(element[dim], panel + shift + width - 1));
  return all;
}

std::pair<Expr, Expr> Box::bounds(std::size_t d, const Expr& panel, const std::vector<Expr>& element) const {
  if (from.empty()) return {low[d], high[d]};
  std::map<std::string, Expr> named = {{panel_name(), panel}};
  for (std::size_t k = 0; k < element.size(); ++k) named[name(k)] = element[k];
  return {from[d].substitute(named), to[d].substitute(named)};
}

std::optional<Paneled> paneled(const Operand& o, const std::string& panel) {
  const Loop* tiles = o.loop(panel);
  if (tiles == nullptr) return std::nullopt;
  // A subscript over the panel's own symbol says what moves; then loops whose bounds need it are sides of a triangle.
  const bool itself = std::ranges::any_of(o.element.subset, [&](const sdfg::Dim& d) { return d.begin.uses(panel); });
  std::optional<Paneled> result;
  for (std::size_t d = 0; d < o.element.subset.size(); ++d) {
    const Expr e = o.element.subset[d].begin;
    for (const Loop* l = tiles; l != o.loops.data() + o.loops.size(); ++l) {
      if (!e.uses(l->symbol)) continue;
      if (l != tiles && (itself || (!l->begin.uses(panel) && !l->end.uses(panel)))) continue;
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
  for (const bool shaped : {false, true})
    for (std::size_t k = group.size(); k-- > 0;) {
      const auto candidate = box_of(group[k], panel, width, shaped);
      if (!candidate) continue;
      TRY(const bool fits, is_exact(*candidate, group, panel, outside));
      if (fits) return *candidate;
    }
  return fail("pack.footprint", "what is read of " + container + " is not known to be a box or triangle of panels",
              panel);
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
