// Side effects inside of expressions: `(t = a + b) > limit`, `to[next[k]++] = i`.
//
// They become statements of their own, before the one that they stand in. What C does not order before or after them
// must not name the same object, and what it does order before them (a condition, the left of &&) has statements of its
// own as soon as the rest has. Of calls C does not say whether they come first: beside one, an effect stays where it
// is.
#include <algorithm>
#include <utility>

#include "frontends/c/builder.h"

namespace sous::frontends::c {

using sdfg::ElementType;
using sdfg::Memlet;
using sdfg::ScalarExpr;

bool contains_call(const clang::Stmt* s) {
  if (!s) return false;
  if (const auto* call = llvm::dyn_cast<clang::CallExpr>(s))
    if (!call->getDirectCallee() || call->getDirectCallee()->getBuiltinID() == 0) return true;
  return std::ranges::any_of(s->children(), contains_call);
}

// Whether building it twice would do something twice.
bool Builder::has_effect(const clang::Stmt* s) const {
  if (!s) return false;
  if (s == lone_call_) return true;
  const auto* u = llvm::dyn_cast<clang::UnaryOperator>(s);
  if (u && u->isIncrementDecrementOp() && !announced(u)) return true;
  return std::ranges::any_of(s->children(), [&](const clang::Stmt* child) { return has_effect(child); });
}

Lift<ScalarExpr> Builder::assigned_inside(const clang::BinaryOperator* e) {
  const clang::VarDecl* v = named_variable(e->getLHS());
  const bool own = v && v->hasLocalStorage() && !facts_.address_taken.contains(v);
  if ((v && tracked(v)) || e->getType()->isPointerType() || (!own && (!effects_ || has_effect(e->getLHS()))))
    return refuse("c.side-effect", "an assignment in a condition, beside a call or inside of another", e->getExprLoc());
  const std::vector<Memlet> pool = std::move(pool_);
  pool_.clear();
  if (!own) TRY_VOID(stays(e->getLHS()));
  pool_.clear();
  TRY_VOID(assign(e));
  pool_ = pool;
  return load(e->getLHS());
}

// The place of what is assigned is looked for once more, when its value is read: it must not be found in what the
// assignment may write.
Lift<void> Builder::stays(const clang::Expr* target) {
  TRY(const Access place, lvalue(target));
  for (const sdfg::Expr& subscript : place.subscript)
    for (const std::string& read : subscript.reads())
      if (sdfg_.find(read)->type == sdfg_.find(place.container)->type)
        return refuse("c.side-effect", "the value of an assignment that may change where it goes",
                      target->getExprLoc());
  return {};
}

Lift<ScalarExpr> Builder::stepped_inside(const clang::UnaryOperator* e) {
  const clang::SourceLocation where = e->getExprLoc();
  if (e->getType()->isPointerType()) return refuse("c.pointer.reassigned", "a pointer is changed", where);
  if (!effects_ || has_effect(e->getSubExpr()))
    return refuse("c.side-effect", "an increment in a condition, beside a call or inside of another", where);
  TRY_VOID(assignable(e->getSubExpr()));
  const std::vector<Memlet> pool = std::move(pool_);
  pool_.clear();
  TRY(const Access access, lvalue(e->getSubExpr()));
  const sdfg::Container& c = *sdfg_.find(access.container);
  if (c.shape.size() != access.subscript.size()) return refuse("c.lvalue", "a part of an array is changed", where);
  const ElementType type = c.type;
  const Memlet element{access.container, access.subscript, std::nullopt};
  const Memlet old{temporary("old", type), {}, std::nullopt}, next{temporary("next", type), {}, std::nullopt};
  emit_assignment(old, input(element, type));
  pool_.clear();
  TRY(const ScalarExpr stepped, one_more(input(old, type), e->isIncrementOp(), where));
  emit_assignment(next, stepped);
  pool_.clear();
  emit_assignment(element, input(next, type));
  pool_ = pool;
  return input(e->isPostfix() ? old : next, type);
}

// Or one less. Narrow types are promoted to int and converted back.
Lift<ScalarExpr> Builder::one_more(ScalarExpr old, bool up, clang::SourceLocation where) {
  const ElementType type = old.type;
  const ElementType computed = sdfg::is_float(type) || sdfg::info(type).bytes >= 4 ? type : ElementType::i32;
  const ScalarExpr one = sdfg::is_float(type) ? ScalarExpr::real(1, type) : ScalarExpr::integer(1, computed);
  TRY(ScalarExpr code,
      arithmetic(up ? clang::BO_Add : clang::BO_Sub, ScalarExpr::cast(std::move(old), computed), one, where));
  return ScalarExpr::cast(std::move(code), type);
}

}  // namespace sous::frontends::c
