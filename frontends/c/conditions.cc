// What comparisons of integers say about symbols.
#include <algorithm>

#include "frontends/c/ranges.h"

namespace sous::frontends::c {

using sdfg::Expr;
using sdfg::ScalarExpr;
using sdfg::ScalarOp;

namespace {

bool is_affine_comparison(ScalarOp op) {
  return op == ScalarOp::lt || op == ScalarOp::le || op == ScalarOp::gt || op == ScalarOp::ge || op == ScalarOp::eq;
}

}  // namespace

std::optional<Expr> as_symbolic(const ScalarExpr& e) {
  if (!sdfg::is_integer(e.type)) return std::nullopt;
  if (e.op == ScalarOp::symbolic) return e.symbolic;
  if (e.op == ScalarOp::constant) {
    if (sdfg::info(e.type).kind == sdfg::TypeKind::Unsigned && e.integer_value() < 0) return std::nullopt;
    return Expr(e.integer_value());
  }
  if (e.op == ScalarOp::cast && sdfg::is_integer(e.args[0].type) &&
      sdfg::info(e.args[0].type).kind == sdfg::TypeKind::Signed && sdfg::info(e.type).kind == sdfg::TypeKind::Signed &&
      sdfg::info(e.type).bytes >= sdfg::info(e.args[0].type).bytes)
    return as_symbolic(e.args[0]);
  return std::nullopt;
}

std::vector<AtMost> inequalities(const ScalarExpr& c, bool holds) {
  if (c.args.size() != 2 || sdfg::info(c.args[0].type).kind != sdfg::TypeKind::Signed) return {};
  const ScalarExpr *a = &c.args[0], *b = &c.args[1];
  switch (c.op) {
    case ScalarOp::lt:
      return {holds ? AtMost{a, b, -1} : AtMost{b, a, 0}};
    case ScalarOp::le:
      return {holds ? AtMost{a, b, 0} : AtMost{b, a, -1}};
    case ScalarOp::gt:
      return {holds ? AtMost{b, a, -1} : AtMost{a, b, 0}};
    case ScalarOp::ge:
      return {holds ? AtMost{b, a, 0} : AtMost{a, b, -1}};
    case ScalarOp::eq:
      return holds ? std::vector<AtMost>{{a, b, 0}, {b, a, 0}} : std::vector<AtMost>{};
    case ScalarOp::ne:
      return holds ? std::vector<AtMost>{} : std::vector<AtMost>{{a, b, 0}, {b, a, 0}};
    default:
      return {};
  }
}

std::optional<Expr> nonneg_where(const ScalarExpr& comparison) {
  if (comparison.op == ScalarOp::logical_not) {
    const auto inner = nonneg_where(comparison.args[0]);
    return inner ? std::optional(-*inner - Expr(1)) : std::nullopt;
  }
  if (!is_affine_comparison(comparison.op) || comparison.op == ScalarOp::eq) return std::nullopt;
  const auto a = as_symbolic(comparison.args[0]), b = as_symbolic(comparison.args[1]);
  if (!a || !b) return std::nullopt;
  switch (comparison.op) {
    case ScalarOp::lt:
      return *b - *a - Expr(1);
    case ScalarOp::le:
      return *b - *a;
    case ScalarOp::gt:
      return *a - *b - Expr(1);
    default:
      return *a - *b;
  }
}

namespace {

// Of a symbol that is not one of the ends of its range: the range without it.
std::vector<Range> without_end(const Expr& never_zero, const Box& around) {
  std::vector<Range> result;
  for (const std::string& symbol : never_zero.symbols()) {
    const auto k = sdfg::coefficient_of(never_zero, symbol);
    if (!k || (*k != Expr(1) && *k != Expr(-1))) continue;
    const auto known = std::ranges::find(around, symbol, &Range::symbol);
    if (known == around.end() || known->times != Expr(1)) continue;
    const auto is_zero_at = [&](const std::optional<Expr>& end) {
      return end && never_zero.substitute({{symbol, *end}}) == Expr(0);
    };
    if (is_zero_at(known->lo)) result.push_back({symbol, *known->lo + 1, std::nullopt});
    if (is_zero_at(known->hi)) result.push_back({symbol, std::nullopt, *known->hi - 1});
  }
  return result;
}

}  // namespace

std::vector<Range> refine(const ScalarExpr& condition, bool holds, const Box& around) {
  std::vector<Range> result;
  const ScalarExpr* c = &condition;
  while (c->op == ScalarOp::logical_not) {
    c = &c->args[0];
    holds = !holds;
  }
  if ((c->op == ScalarOp::logical_and && holds) || (c->op == ScalarOp::logical_or && !holds)) {
    result = refine(c->args[0], holds, around);
    for (Range& r : refine(c->args[1], holds, around)) result.push_back(std::move(r));
    return result;
  }
  std::vector<Expr> differences;
  if (c->op == ScalarOp::eq && holds) {
    const auto a = as_symbolic(c->args[0]), b = as_symbolic(c->args[1]);
    if (a && b) differences = {*a - *b, *b - *a};
  } else if (c->op == (holds ? ScalarOp::ne : ScalarOp::eq)) {
    const auto a = as_symbolic(c->args[0]), b = as_symbolic(c->args[1]);
    return a && b ? without_end(*a - *b, around) : result;
  } else if (const auto d = nonneg_where(*c)) {
    differences.push_back(holds ? *d : -*d - Expr(1));  // the negation of x >= 0 is -x - 1 >= 0
  }
  const auto is_one = [](const Expr& k) { return k == Expr(1) || k == Expr(-1); };
  // Symbols alone refine last, so that they count first.
  for (const bool alone : {false, true})
    for (const Expr& d : differences)
      for (const std::string& symbol : d.symbols()) {
        const auto k = sdfg::coefficient_of(d, symbol);
        if (!k || is_one(*k) != alone || k->terms().size() + (k->constant_term() != 0 ? 1 : 0) != 1) continue;
        const bool is_negative = k->terms().empty() ? k->constant_term() < 0 : k->terms()[0].coefficient < 0;
        const Expr rest = d - *k * Expr::symbol(symbol);
        if (is_negative)
          result.push_back({symbol, std::nullopt, rest, -*k});
        else
          result.push_back({symbol, -rest, std::nullopt, *k});
      }
  return result;
}

}  // namespace sous::frontends::c
