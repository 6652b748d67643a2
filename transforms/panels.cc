#include "transforms/panels.h"

#include <algorithm>

#include "sdfg/polyhedral.h"
#include "transforms/footprints.h"
#include "transforms/step.h"
#include "transforms/tile_bounds.h"
#include "transforms/witness.h"

namespace sous::transforms {

using sdfg::Expr;
using sdfg::Points;
using sdfg::ScalarExpr;
using sdfg::ScheduleLoop;

namespace {

// The elements, by panel.
Points by_panel(Points elements) {
  elements.dims.insert(elements.dims.begin(), PanelBox::panel_name());
  return elements;
}

// All that the operand reads, by panel.
Points reads(const Paneled& p, const std::string& panel) {
  Points points = at(p.operand.around.iterations(), p.subscripts());
  points.conditions.push_back(sdfg::equal(Expr::symbol(PanelBox::panel_name()), Expr::symbol(panel)));
  return by_panel(std::move(points));
}

// Iterations that read a given element, if some do.
std::vector<Witness> readers(const Paneled& p, const std::string& panel) {
  return witnesses(
      p.operand.around, p.subscripts(),
      {{panel, Expr::symbol(PanelBox::panel_name())}, {p.point, Expr::symbol(PanelBox::name(p.dim)) - p.shift}});
}

// The bounds of the subscripts one after the other, each for given values of those before it.
bool find_shape(const Paneled& p, const std::string& panel, PanelBox& box) {
  if (p.limit || (p.point == panel && box.width > 1)) return false;
  std::vector<std::size_t> order;
  for (std::size_t d = 0; d < box.low.size(); ++d)
    if (d != p.dim) order.push_back(d);
  order.push_back(p.dim);
  std::map<std::string, Expr> known = {{panel, Expr::symbol(PanelBox::panel_name())}};
  box.from.resize(order.size());
  box.to.resize(order.size());
  for (const std::size_t d : order) {
    const auto low = p.operand.least(p.subscript(d), known), high = p.operand.greatest(p.subscript(d), known);
    if (!low || !high) return false;
    box.from[d] = *low;
    box.to[d] = simplest(*high);
    std::vector<std::string> moving;
    for (const ScheduleLoop& l : p.operand.around.loops)
      if (p.subscript(d).uses(l.symbol) && !known.contains(l.symbol)) moving.push_back(l.symbol);
    if (moving.size() == 1 && sdfg::coefficient_of(p.subscript(d), moving[0]) == Expr(1))
      known.emplace(moving[0],
                    Expr::symbol(PanelBox::name(d)) - (p.subscript(d) - Expr::symbol(moving[0])).substitute(known));
  }
  return box.from != box.low || box.to != box.high;
}

std::optional<PanelBox> box_of(const Paneled& p, const std::string& panel, std::int64_t width, bool shaped) {
  const ScheduleLoop& tiles = *p.operand.loop(panel);
  const auto first = p.operand.least(tiles.begin), last = p.operand.greatest(tiles.end);
  if (!first || !last) return std::nullopt;
  PanelBox box{.dim = p.dim,
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
  const std::vector<Witness> found = readers(p, panel);
  for (const ScalarExpr& c : found[0].not_empty) {
    bool outside = true;
    c.visit([&](const ScalarExpr& e) {
      for (const std::string& s : e.symbolic.symbols()) outside = outside && s[0] != '#';
    });
    if (outside && std::ranges::find(box.guard, c) == box.guard.end()) box.guard.push_back(c);
  }
  return box;
}

Result<bool> is_exact(const PanelBox& box, const std::vector<Paneled>& group, const std::string& panel,
                      const std::vector<ScalarExpr>& around) {
  const std::vector<std::string> names = dimensions(box.low.size());
  std::vector<Expr> element;
  for (const std::string& name : names) element.push_back(Expr::symbol(name));
  const Expr panels = Expr::symbol(PanelBox::panel_name());
  Points held = by_panel({.dims = names, .exists = {}, .conditions = box.conditions(panels, element)});
  if (!sdfg::is_affine(held)) return false;
  std::vector<Points> read_for_sure;
  for (const Paneled& p : group) {
    Points read = reads(p, panel);
    sdfg::append(read.conditions, around);
    if (!sdfg::is_affine(read)) return false;
    TRY(const bool is_held, sdfg::is_within(read, {held}));
    if (!is_held) return false;
    for (const Witness& reader : readers(p, panel)) read_for_sure.push_back(by_panel(reader.elements));
  }
  if (!std::ranges::all_of(read_for_sure, sdfg::is_affine)) return false;
  sdfg::append(held.conditions, around);
  return sdfg::is_within(held, read_for_sure);
}

}  // namespace

std::vector<Expr> Paneled::subscripts() const {
  std::vector<Expr> result;
  for (std::size_t d = 0; d < operand.element.subset.size(); ++d) result.push_back(subscript(d));
  return result;
}

std::vector<ScalarExpr> PanelBox::conditions(const Expr& panel, const std::vector<Expr>& element) const {
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

std::pair<Expr, Expr> PanelBox::bounds(std::size_t d, const Expr& panel, const std::vector<Expr>& element) const {
  if (from.empty()) return {low[d], high[d]};
  std::map<std::string, Expr> named = {{panel_name(), panel}};
  for (std::size_t k = 0; k < element.size(); ++k) named[name(k)] = element[k];
  return {from[d].substitute(named), to[d].substitute(named)};
}

std::optional<Paneled> paneled(const Operand& o, const std::string& panel) {
  const ScheduleLoop* tiles = o.loop(panel);
  if (tiles == nullptr) return std::nullopt;
  // A subscript over the panel's own symbol says what moves; then loops whose bounds need it are sides of a triangle.
  const bool itself = std::ranges::any_of(o.element.subset, [&](const sdfg::Expr& d) { return d.uses(panel); });
  std::optional<Paneled> result;
  for (std::size_t d = 0; d < o.element.subset.size(); ++d) {
    const Expr e = o.element.subset[d];
    for (const ScheduleLoop* l = tiles; l != o.around.loops.data() + o.around.loops.size(); ++l) {
      if (!e.uses(l->symbol)) continue;
      if (l != tiles && (itself || (!l->begin.uses(panel) && !l->end.uses(panel)))) continue;
      // e itself, or the one of the expressions of which it is the least that moves.
      std::optional<Expr> shift, limit;
      bool one = !result.has_value();
      for (const Expr& piece : sdfg::min_pieces(e)) {
        const auto moves = [&](const Expr& x) {
          return std::ranges::any_of(o.around.loops, [&](const ScheduleLoop& m) { return x.uses(m.symbol); });
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

Result<PanelBox> box_of_panels(const std::vector<Paneled>& group, const std::string& panel, std::int64_t width,
                               const std::vector<ScalarExpr>& around) {
  const std::string& container = group[0].operand.element.container;
  // Partial tiles, which come last, know where the elements end; full ones are guarded.
  for (const bool shaped : {false, true})
    for (std::size_t k = group.size(); k-- > 0;) {
      const auto candidate = box_of(group[k], panel, width, shaped);
      if (!candidate) continue;
      TRY(const bool fits, is_exact(*candidate, group, panel, around));
      if (fits) return *candidate;
    }
  return fail("pack.footprint", "what is read of " + container + " is not known to be a box or triangle of panels",
              panel);
}

}  // namespace sous::transforms
