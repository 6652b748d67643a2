#include "sdfg/polyhedral.h"

#include <algorithm>
#include <optional>

#include "sdfg/result.h"

namespace sous::sdfg {

bool is_quasi_affine(const Expr& e) {
  if (!e.is_valid()) return false;
  for (const Term& t : e.terms()) {
    if (t.atoms.size() != 1) return false;
    const Atom& a = t.atoms[0];
    switch (a.kind) {
      case AtomKind::Symbol:
        break;
      case AtomKind::FloorDiv:
      case AtomKind::Mod: {
        auto divisor = a.args[1].constant();
        if (!divisor || *divisor <= 0 || !is_quasi_affine(a.args[0])) return false;
        break;
      }
      case AtomKind::Min:
      case AtomKind::Max:
        for (const Expr& arg : a.args)
          if (!is_quasi_affine(arg)) return false;
        break;
      case AtomKind::Read:
        return false;
    }
  }
  return true;
}

namespace {

// The integer expression that a leaf or a sum of leaves stands for, where it has one in 64 bits: isl then sees the same
// mathematical integers as the interpreter. Narrower types wrap, so only leaves of type i64 (and constants) count, and
// i32 leaves: a front end writes those only where C's own int does not overflow.
std::optional<Expr> integer_expr(const ScalarExpr& e) {
  if (e.type != ElementType::i64 && e.type != ElementType::i32) return std::nullopt;
  if (e.op == ScalarOp::symbolic) return e.symbolic;
  if (e.op == ScalarOp::constant) return Expr(e.integer_value());
  if (e.op == ScalarOp::cast && e.type == ElementType::i64) return integer_expr(e.args[0]);
  return std::nullopt;
}

bool is_comparison(ScalarOp op) {
  return op == ScalarOp::lt || op == ScalarOp::le || op == ScalarOp::gt || op == ScalarOp::ge || op == ScalarOp::eq ||
         op == ScalarOp::ne;
}

}  // namespace

bool is_affine_condition(const ScalarExpr& c) {
  if (c.op == ScalarOp::logical_and || c.op == ScalarOp::logical_or || c.op == ScalarOp::logical_not)
    return std::all_of(c.args.begin(), c.args.end(), is_affine_condition);
  if (c.op == ScalarOp::constant && c.type == ElementType::boolean) return true;
  if (!is_comparison(c.op)) return false;
  return std::all_of(c.args.begin(), c.args.end(), [](const ScalarExpr& arg) {
    auto e = integer_expr(arg);
    return e && is_quasi_affine(*e);
  });
}

bool has_absolute_value(const Expr& e) {
  return std::ranges::any_of(e.terms(), [](const Term& t) {
    return std::ranges::any_of(t.atoms, [](const Atom& a) {
      return (a.kind == AtomKind::Max || a.kind == AtomKind::Min) && a.args[0] == -a.args[1];
    });
  });
}

bool names_known(const Expr& e, const IslNames& names) {
  for (const std::string& s : e.symbols())
    if (!names.contains(s)) return false;
  return true;
}

std::string isl_text(const Expr& e, const IslNames& names) {
  std::string text = std::to_string(e.constant_term());
  for (const Term& t : e.terms()) {
    const Atom& a = t.atoms[0];
    std::string atom;
    switch (a.kind) {
      case AtomKind::Symbol:
        atom = names.at(a.name);
        break;
      case AtomKind::FloorDiv:
        atom = "floor((" + isl_text(a.args[0], names) + ")/" + isl_text(a.args[1], names) + ")";
        break;
      case AtomKind::Mod:
        atom = "((" + isl_text(a.args[0], names) + ") mod " + isl_text(a.args[1], names) + ")";
        break;
      case AtomKind::Min:
        atom = "min(" + isl_text(a.args[0], names) + ", " + isl_text(a.args[1], names) + ")";
        break;
      case AtomKind::Max:
        atom = "max(" + isl_text(a.args[0], names) + ", " + isl_text(a.args[1], names) + ")";
        break;
      case AtomKind::Read:
        panic(__FILE__, __LINE__, "a read is not affine");
    }
    text += " + " + std::to_string(t.coefficient) + " * " + atom;
  }
  return text;
}

std::string isl_at_most(const Expr& low, const Expr& high, const IslNames& names) {
  std::string text;
  for (const Expr& l : max_pieces(low))
    for (const Expr& h : min_pieces(high))
      text += (text.empty() ? "" : " and ") + isl_text(l, names) + " <= " + isl_text(h, names);
  return text;
}

std::string isl_loop(const std::string& symbol, const Expr& begin, const Expr& end, std::int64_t step, IslNames outer,
                     const std::string& v) {
  const bool up = step > 0;
  outer[symbol] = v;
  const Expr at = Expr::symbol(symbol);
  std::string text = up ? isl_at_most(begin, at, outer) + " and " + isl_at_most(at, end - 1, outer)
                        : isl_at_most(at, begin, outer) + " and " + isl_at_most(end + 1, at, outer);
  const std::int64_t stride = up ? step : -step;
  if (stride != 1)
    text += " and ((" + isl_text(up ? at - begin : begin - at, outer) + ") mod " + std::to_string(stride) + ") = 0";
  return text;
}

std::string isl_text(const ScalarExpr& c, const IslNames& names) {
  auto side = [&](std::size_t k) { return "(" + isl_text(*integer_expr(c.args[k]), names) + ")"; };
  if (c.op == ScalarOp::logical_and)
    return "(" + isl_text(c.args[0], names) + " and " + isl_text(c.args[1], names) + ")";
  if (c.op == ScalarOp::logical_or) return "(" + isl_text(c.args[0], names) + " or " + isl_text(c.args[1], names) + ")";
  if (c.op == ScalarOp::logical_not) return "(not " + isl_text(c.args[0], names) + ")";
  if (c.op == ScalarOp::constant) return c.bits ? "(0 = 0)" : "(0 = 1)";
  // a < min(x, y) is a < x and a < y: conjunctions instead of the pieces that isl would make of the minimum.
  const bool less = c.op == ScalarOp::lt || c.op == ScalarOp::le,
             greater = c.op == ScalarOp::gt || c.op == ScalarOp::ge;
  if (less || greater) {
    const Expr low = *integer_expr(c.args[less ? 0 : 1]), high = *integer_expr(c.args[less ? 1 : 0]);
    const bool strict = c.op == ScalarOp::lt || c.op == ScalarOp::gt;
    return "(" + isl_at_most(low, high - Expr(strict ? 1 : 0), names) + ")";
  }
  if (c.op == ScalarOp::eq) return "(" + side(0) + " = " + side(1) + ")";
  return "(" + side(0) + " != " + side(1) + ")";
}

}  // namespace sous::sdfg
