// Panels of operands: which of what a piece of a nest reads moves with a loop over tiles, and the box of elements that
// a buffer must hold of it.
//
// Two proofs, both over the elements alone: what is read is in the box, and what is in the box is read, so that a copy
// of it makes no access which the nest does not make.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "transforms/operands.h"

namespace sous::transforms {

// An operand one of whose subscripts moves within the panel: subscript `dim` is `point` + `shift`, where `point` is the
// panel's own symbol or that of a loop over its points; or the least of that and `limit`, past which a padded tile
// reads the last element again.
struct Paneled {
  Operand operand;
  std::size_t dim = 0;
  std::string point;
  sdfg::Expr shift;
  std::optional<sdfg::Expr> limit;

  // The subscript; that of `dim` without the limit.
  sdfg::Expr subscript(std::size_t d) const {
    return d == dim ? sdfg::Expr::symbol(point) + shift : operand.element.subset[d];
  }
  std::vector<sdfg::Expr> subscripts() const;
  bool same_values(const Paneled& o) const {
    return operand.element.container == o.operand.element.container && operand.code == o.operand.code &&
           operand.others == o.operand.others && dim == o.dim && shift == o.shift && limit == o.limit;
  }
};

// The box of elements that a buffer has room for, cut into panels along one dimension. Where there is a limit,
// subscripts of that dimension go on past it, to the end of the last panel.
struct PanelBox {
  std::size_t dim = 0;
  sdfg::Expr shift;
  std::optional<sdfg::Expr> limit;
  sdfg::Expr first, last;  // the panels begin at first, first + width, … < last
  std::int64_t width = 1;
  std::vector<sdfg::Expr> low, high;  // of each subscript, both inclusive
  // What of the box is held, a triangle perhaps: bounds of each subscript in the order of copying (panels, the other
  // dimensions, `dim`), over `names`; empty: the whole box.
  std::vector<sdfg::Expr> from, to;
  std::vector<sdfg::ScalarExpr> guard;

  // The names of the panel and of each subscript in `from` and `to`: no identifiers, so that they meet no symbol.
  static std::string panel_name() { return "#p"; }
  static std::string name(std::size_t d) { return "#" + std::to_string(d); }
  // Bounds of subscript `d`, both inclusive, where panel and elements are named by these expressions.
  std::pair<sdfg::Expr, sdfg::Expr> bounds(std::size_t d, const sdfg::Expr& panel,
                                           const std::vector<sdfg::Expr>& element) const;

  // Where panels and elements are named by these expressions; that of `dim` before the limit.
  std::vector<sdfg::ScalarExpr> conditions(const sdfg::Expr& panel, const std::vector<sdfg::Expr>& element) const;
};

// The operand by panels of the loop `panel`, if exactly one of its subscripts moves within them.
std::optional<Paneled> paneled(const Operand& operand, const std::string& panel);
// The box of operands that have the same values, proven; `around` holds. Errors: pack.footprint, isl.budget.
Result<PanelBox> box_of_panels(const std::vector<Paneled>& group, const std::string& panel, std::int64_t width,
                               const std::vector<sdfg::ScalarExpr>& around);

}  // namespace sous::transforms
