// Operands that C evaluates only sometimes: &&, || and ?:.
#include "frontends/c/builder.h"
#include "sdfg/planted_fault.h"
#include "sdfg/unknown_extent.h"

namespace sous::frontends::c {

using sdfg::ElementType;
using sdfg::Expr;
using sdfg::Memlet;
using sdfg::ScalarExpr;
using sdfg::ScalarOp;

namespace {

std::vector<const clang::Expr*> operands_of(const clang::Expr* e, clang::BinaryOperatorKind kind) {
  const auto* both = llvm::dyn_cast<clang::BinaryOperator>(e->IgnoreParens());
  if (!both || both->getOpcode() != kind) return {e};
  std::vector<const clang::Expr*> all = operands_of(both->getLHS(), kind);
  for (const clang::Expr* operand : operands_of(both->getRHS(), kind)) all.push_back(operand);
  return all;
}

}  // namespace

std::vector<const clang::Expr*> asked_in(const clang::Expr* e, clang::BinaryOperatorKind kind,
                                         const clang::ASTContext& context) {
  auto all = operands_of(e, kind);
  if (all.size() < 2 || contains_call(e) || e->HasSideEffects(context, false)) all.clear();
  return all;
}

bool Builder::safe_to_read(const Memlet& memlet) const {
  const sdfg::Container* c = sdfg_.find(memlet.container);
  if (c->shape.empty() || planted(Fault::short_circuit_lost)) return true;
  for (std::size_t d = 0; d < memlet.subset.size(); ++d) {
    const Expr& at = memlet.subset[d];
    if (!at.reads().empty() || c->shape[d] == Expr(sdfg::unknown_extent)) return false;
    if (!ranges_.nonneg(at, box_) || !ranges_.nonneg(c->shape[d] - at - Expr(1), box_)) return false;
  }
  return true;
}

Lift<std::optional<ScalarExpr>> Builder::eager(const clang::Expr* e, bool as_condition) {
  const std::vector<Memlet> pool = pool_;
  const std::vector<Expr> assumptions = ranges_.assumptions;
  const int statements = statements_;
  std::optional<ScalarExpr> result;
  auto attempt = sometimes([&] {
    return region([&]() -> Lift<void> {
      TRY(result, as_condition ? condition(e) : value(e));
      return {};
    });
  });
  if (!attempt) return std::unexpected(attempt.error());
  // What was read before is read anyway. Statements that it needs first cannot be run always.
  bool safe = attempt->nodes.empty();
  for (std::size_t k = pool.size(); safe && k < pool_.size(); ++k) safe = safe_to_read(pool_[k]);
  if (safe) return result;
  pool_ = pool;
  ranges_.assumptions = assumptions;
  statements_ = statements;
  return std::optional<ScalarExpr>();
}

// What runs only sometimes: what it alone reads is not read always.
Lift<sdfg::Region> Builder::arm(const std::function<Lift<void>()>& statements) {
  const std::size_t pooled = pool_.size();
  auto result = sometimes([&] { return region(statements); });
  pool_.resize(pooled);
  return result;
}

Lift<void> Builder::emit_choice(const clang::ConditionalOperator* e, ScalarExpr test,
                                const std::function<Lift<void>(const clang::Expr*)>& set) {
  TRY(sdfg::Region yes, arm([&] { return set(e->getTrueExpr()); }));
  TRY(sdfg::Region no, arm([&] { return set(e->getFalseExpr()); }));
  std::vector<Memlet> inputs = compact(test);
  emit(sdfg::If{
      .condition = {std::move(test), std::move(inputs)}, .then_body = std::move(yes), .else_body = std::move(no)});
  return {};
}

// a && b: b is read eagerly where that is safe; otherwise t = a; if (t) t = b (and the mirror image for ||).
Lift<ScalarExpr> Builder::logical(const clang::BinaryOperator* e) {
  const bool is_and = e->getOpcode() == clang::BO_LAnd;
  TRY(ScalarExpr a, condition(e->getLHS()));
  if (const auto known = decided(a)) {
    if (*known != is_and) return ScalarExpr::integer(*known ? 1 : 0, ElementType::i32);
    TRY(ScalarExpr b, condition(e->getRHS()));
    return ScalarExpr::cast(std::move(b), ElementType::i32);
  }
  TRY(std::optional<ScalarExpr> b, eager(e->getRHS(), true));
  if (b)
    return ScalarExpr::cast(
        ScalarExpr::binary(is_and ? ScalarOp::logical_and : ScalarOp::logical_or, std::move(a), std::move(*b)),
        ElementType::i32);
  const Memlet t{temporary("t", ElementType::boolean), {}, std::nullopt};
  emit_assignment(t, a);
  TRY(sdfg::Region decide, arm([&]() -> Lift<void> {
        TRY(ScalarExpr right, condition(e->getRHS()));
        emit_assignment(t, right);
        return {};
      }));
  ScalarExpr test = ScalarExpr::make_input(0, ElementType::boolean);
  sdfg::If branch{.condition = {test, {t}}, .then_body = {}, .else_body = {}};
  (is_and ? branch.then_body : branch.else_body) = std::move(decide);
  emit(std::move(branch));
  return ScalarExpr::cast(input(t, ElementType::boolean), ElementType::i32);
}

// Done where all operands of an && hold (or none of an || does). Behind one that cannot be looked at always, the others
// get an if of their own, in which is known what was asked before.
Lift<void> Builder::one_by_one(std::span<const clang::Expr* const> operands, bool all,
                               const std::function<Lift<void>()>& then) {
  pool_.clear();
  TRY(ScalarExpr test, condition(operands[0]));
  std::size_t next = 1;
  for (; next < operands.size() && !decided(test); ++next) {
    TRY(std::optional<ScalarExpr> more, eager(operands[next], true));
    if (!more) break;
    test = ScalarExpr::binary(all ? ScalarOp::logical_and : ScalarOp::logical_or, std::move(test), std::move(*more));
  }
  const auto rest = [&] { return next == operands.size() ? then() : one_by_one(operands.subspan(next), all, then); };
  const auto nothing = [] { return Lift<void>(); };
  if (const auto known = decided(test)) return *known == all ? rest() : nothing();
  return all ? branch(std::move(test), rest, nothing) : branch(std::move(test), nothing, rest);
}

Lift<ScalarExpr> Builder::conditional(const clang::ConditionalOperator* e) {
  auto type = element_type(e->getType(), context_);
  if (!type) return refuse("c.type", "a conditional value of type " + e->getType().getAsString(), e->getExprLoc());
  TRY(ScalarExpr test, condition(e->getCond()));
  if (const auto known = decided(test)) return value(*known ? e->getTrueExpr() : e->getFalseExpr());
  TRY(std::optional<ScalarExpr> yes, eager(e->getTrueExpr(), false));
  TRY(std::optional<ScalarExpr> no,
      yes ? eager(e->getFalseExpr(), false) : Lift<std::optional<ScalarExpr>>(std::optional<ScalarExpr>()));
  if (yes && no) {
    if (yes->type != no->type) return refuse("c.type", "arms of different types", e->getExprLoc());
    return ScalarExpr::select(std::move(test), std::move(*yes), std::move(*no));
  }
  const Memlet t{temporary("t", *type), {}, std::nullopt};
  TRY_VOID(emit_choice(e, test, [&](const clang::Expr* side) -> Lift<void> {
    TRY(ScalarExpr v, value(side));
    emit_assignment(t, v);
    return {};
  }));
  return input(t, *type);
}
}  // namespace sous::frontends::c
