// How often a loop runs: the first iteration k in which its conditions, linear in k, do not hold.
#include <algorithm>

#include "frontends/c/builder.h"
#include "sdfg/planted_fault.h"

namespace sous::frontends::c {

using sdfg::Expr;

// Iterations of a loop that is shown, or assumed, to begin no farther than one step behind its bound.
std::optional<Expr> Builder::trip_count(const Bounds& limits, std::int64_t step) {
  if (!limits.begin.reads().empty() || !limits.end.reads().empty()) return std::nullopt;
  const Expr distance = step > 0 ? limits.end - limits.begin : limits.begin - limits.end;
  if (!ranges_.require_nonneg(distance, box_)) return std::nullopt;
  const std::int64_t by = step > 0 ? step : -step;
  return Expr::floor_div(distance + Expr(by - 1), Expr(by));
}

// The value of dividend / divisor on entry, where the divisor is positive.
Lift<Expr> Builder::quotient_on_entry(const Expr& dividend, const Expr& divisor, clang::SourceLocation where) {
  const bool maybe_unset = for_depth_ > 1 || sometimes_ > 0;  // C may never look at it
  for (const Expr& e : {dividend, divisor}) {
    if (!e.reads().empty()) return refuse("c.loop.form", "how often the loop runs depends on values in memory", where);
    for (const std::string& s : e.symbols()) {
      // Neither a loop around it, nor what may not be looked at before it is needed.
      const auto c = symbol_c_.find(s);
      if (c == symbol_c_.end() || (maybe_unset && unset_.contains(c->second)) ||
          c->second.find_first_of("->.*") != std::string::npos)
        return refuse("c.loop.form", "how often the loop runs is not known on entry", where);
    }
  }
  for (const Expr& e : {dividend, divisor}) text_symbols_.merge(e.symbols());
  const std::string by = c_text(divisor);
  return Expr::symbol(
      symbol_for("trips", "((" + by + ") > 0 ? (" + c_text(dividend) + ") / (" + by + ") : 0)", context_.LongLongTy));
}

// How far two pointers lie apart, in elements.
Lift<Expr> Builder::pointer_difference(const clang::Expr* left, const clang::Expr* right, clang::SourceLocation where) {
  TRY(Access a, pointer(left));
  TRY(Access b, pointer(right));
  if (a.subscript.empty() || b.subscript.empty()) return refuse("c.pointer", "a pointer to a variable", where);
  Expr difference = a.subscript.back() - b.subscript.back();
  a.subscript.back() = b.subscript.back() = Expr(0);
  if (a.container == b.container && a.subscript == b.subscript) return difference;
  const auto outer = [&](const Access& x) -> const Memory* {
    const auto m = std::ranges::find(memories_, x.container, &Memory::container);
    if (m == memories_.end() || !m->variable || x.subscript.size() != 1) return nullptr;
    if ((for_depth_ > 1 || sometimes_ > 0) && unset_.contains(m->c_expr)) return nullptr;  // C may never look at it
    return &*m;
  };
  const Memory *from = outer(a), *to = outer(b);
  if (!from || !to) return refuse("c.pointer", "pointers into different arrays are compared", where);
  const auto size = std::to_string(sdfg::info(sdfg_.find(a.container)->type).bytes);
  const std::string bytes = "(long long)((unsigned long)(" + from->c_expr + ") - (unsigned long)(" + to->c_expr + "))";
  const std::string whole = "(" + bytes + " % " + size + " == 0)";
  if (std::ranges::find(apart_, whole) == apart_.end()) apart_.push_back(whole);
  return difference + Expr::symbol(symbol_for("distance", "(" + bytes + " / " + size + ")", context_.LongLongTy));
}

// How often the test holds, from the first iteration on, before it does not: as long as c*k + rest OP 0.
Lift<Expr> Builder::trips_of(const clang::Expr* test, const std::string& symbol) {
  const clang::SourceLocation where = test->getExprLoc();
  const auto* comparison = llvm::dyn_cast<clang::BinaryOperator>(test->IgnoreParenImpCasts());
  clang::BinaryOperatorKind op = clang::BO_NE;
  Expr left, right, difference;
  if (comparison && comparison->isComparisonOp()) {
    op = comparison->getOpcode();
    if (comparison->getLHS()->getType()->isPointerType()) {
      TRY(difference, pointer_difference(comparison->getLHS(), comparison->getRHS(), where));
    } else {
      TRY(left, index(comparison->getLHS()));
      TRY(right, index(comparison->getRHS()));
      difference = left - right;
    }
  } else {
    TRY(difference, index(test));
  }
  const auto coefficient = sdfg::coefficient_of(difference, symbol);
  if (!coefficient || *coefficient == Expr(0) || !coefficient->reads().empty())
    return refuse("c.loop.form", "the condition is not linear in what the loop steps", where);
  // Up to zero from below: by * k < distance.
  const bool falls =
      op == clang::BO_GT || op == clang::BO_GE || (op == clang::BO_NE && coefficient->constant().value_or(1) < 0);
  const Expr by = falls ? -*coefficient : *coefficient;
  const Expr rest = difference - *coefficient * Expr::symbol(symbol);
  if (comparison && comparison->isComparisonOp() && !comparison->getLHS()->getType()->isPointerType()) {
    const std::map<std::string, Expr> first{{symbol, Expr(0)}};
    expect_distance({}, comparison, {left.substitute(first), right.substitute(first)}, !falls);
  }
  const bool inclusive = op == clang::BO_LE || op == clang::BO_GE;
  const Expr distance = (falls ? rest : -rest) + Expr(inclusive && !planted(Fault::bound_inclusive_lost) ? 1 : 0);
  if (op == clang::BO_EQ) return refuse("c.loop.form", "the loop ends where its condition first fails", where);
  if (!distance.is_valid() || !by.is_valid()) return refuse("c.loop.form", "a bound leaves 64 bits", where);
  if (!planted(Fault::step_sign_unchecked))
    TRY_VOID(nonneg(by - Expr(1), where, "c.loop.form", "the loop may count away from its bound"));
  // As in `step_of`: where a distance leaves 64 bits, nobody waits for the loop's end.
  constexpr std::int64_t longest_step = 1'000'000;
  TRY_VOID(nonneg(Expr(longest_step) - by, where, "c.loop.form", "the step is too long"));
  const auto constant = by.constant();
  if (op == clang::BO_NE) {
    if (!constant) return refuse("c.loop.form", "the step may jump over the bound", where);
    TRY_VOID(nonneg(distance, where, "c.loop.form", "the loop may start behind its bound"));
    if (*constant > 1 && !planted(Fault::bound_jumped_over))
      TRY_VOID(nonneg(-Expr::mod(distance, by), where, "c.loop.form", "the step may jump over the bound"));
  }
  if (constant) return Expr::ceil_div(distance, *constant);
  return quotient_on_entry(distance + by - Expr(1), by, where);
}

// All conditions have to hold.
Lift<Expr> Builder::trips_while(const clang::Expr* condition, const std::string& symbol) {
  const auto* both = llvm::dyn_cast<clang::BinaryOperator>(condition->IgnoreParenImpCasts());
  if (!both || both->getOpcode() != clang::BO_LAnd) return trips_of(condition, symbol);
  TRY(const Expr first, trips_while(both->getLHS(), symbol));
  TRY(const Expr second, sometimes([&] { return trips_while(both->getRHS(), symbol); }));
  // What is read may be larger than any index: then it is no minimum.
  if (!first.reads().empty() || !second.reads().empty())
    return refuse("c.loop.form", "one of several bounds is read from memory", condition->getExprLoc());
  return Expr::min(first, second);
}

}  // namespace sous::frontends::c
