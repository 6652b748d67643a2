// Symbolic expressions as text.
#include "sdfg/expr.h"

namespace sous::sdfg {

namespace {

bool is_sum(const Expr& e) {  // needs parentheses as an operand of floordiv and mod
  return e.terms().size() + (e.constant_term() != 0) > 1 ||
         (e.terms().size() == 1 &&
          (e.terms()[0].coefficient != 1 || e.terms()[0].atoms.size() > 1 ||
           e.terms()[0].atoms[0].kind == AtomKind::FloorDiv || e.terms()[0].atoms[0].kind == AtomKind::Mod)) ||
         (e.terms().empty() && e.constant_term() < 0);
}

std::string operand(const Expr& e) { return is_sum(e) ? "(" + e.to_string() + ")" : e.to_string(); }

std::string list(const std::vector<Expr>& args) {
  std::string text;
  for (const Expr& e : args) text += (text.empty() ? "" : ", ") + e.to_string();
  return text;
}

std::string print_atom(const Atom& a, bool alone) {
  switch (a.kind) {
    case AtomKind::Symbol:
      return a.name;
    case AtomKind::FloorDiv:
    case AtomKind::Mod: {
      std::string text = operand(a.args[0]) + (a.kind == AtomKind::Mod ? " mod " : " floordiv ") + operand(a.args[1]);
      return alone ? text : "(" + text + ")";
    }
    case AtomKind::Min:
      return "min(" + list(a.args) + ")";
    case AtomKind::Max:
      return "max(" + list(a.args) + ")";
    case AtomKind::Read:
      return a.name + "[" + list(a.args) + "]";
  }
  __builtin_unreachable();
}

}  // namespace

std::string Expr::to_string() const {
  if (!is_valid()) return "invalid";
  std::string text;
  auto sign = [&](bool negative) { text += text.empty() ? (negative ? "-" : "") : (negative ? " - " : " + "); };
  auto magnitude = [](std::int64_t v) {
    return std::to_string(v < 0 ? 0 - static_cast<std::uint64_t>(v) : static_cast<std::uint64_t>(v));
  };
  for (const Term& t : terms()) {
    sign(t.coefficient < 0);
    bool one = t.coefficient == 1 || t.coefficient == -1;
    if (!one) text += magnitude(t.coefficient) + "*";
    bool alone = one && t.atoms.size() == 1 && t.coefficient == 1;
    for (std::size_t i = 0; i < t.atoms.size(); ++i) text += (i ? "*" : "") + print_atom(t.atoms[i], alone);
  }
  if (constant_term() != 0 || terms().empty()) {
    sign(constant_term() < 0);
    text += magnitude(constant_term());
  }
  return text;
}

}  // namespace sous::sdfg
