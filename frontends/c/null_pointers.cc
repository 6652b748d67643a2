// Pointers that a program may pass as null, and asks for: `bias ? bias[i] : 0`.
#include <algorithm>

#include "frontends/c/builder.h"
#include "sdfg/planted_fault.h"

namespace sous::frontends::c {

using sdfg::ElementType;
using sdfg::Expr;
using sdfg::ScalarExpr;

bool Builder::is_null(const clang::Expr* e) const {
  return e->isNullPointerConstant(context_, clang::Expr::NPC_ValueDependentIsNotNull) != clang::Expr::NPCK_NotNull;
}

// Whether it is not null. That is asked on entry: the nest does not change it, or it could not be followed.
Lift<ScalarExpr> Builder::is_there(const clang::Expr* e) {
  const clang::SourceLocation where = e->getExprLoc();
  const auto known = [](bool there) { return ScalarExpr::integer(there ? 1 : 0, ElementType::boolean); };
  if (const auto* load = llvm::dyn_cast<clang::CastExpr>(e->IgnoreParens()))
    if (const clang::VarDecl* v = named_variable(load->getSubExpr()))
      if (const auto found = bindings_.find(v); found != bindings_.end() && found->second.kind == Binding::Kind::Null)
        return known(false);
  if (planted(Fault::pointer_always_there)) return known(true);
  TRY(const Access access, pointer(e));
  if (sdfg_.find(access.container)->transient) return known(true);
  const auto memory = std::ranges::find(memories_, access.container, &Memory::container);
  // A place inside of something may be computed from null where it is the first.
  const bool first = std::ranges::all_of(access.subscript, [](const Expr& at) { return at == Expr(0); });
  if (memory == memories_.end() || !first || !memory->stride.empty() || !memory->record.empty() ||
      memory->through_pointer || unset_.contains(memory->c_expr))
    return refuse("c.pointer", "a pointer that is compared with null in the nest", where);
  if (!is_pointer(*memory)) return known(true);
  const std::string& text = memory->c_expr;
  const std::string symbol = symbol_for(access.container + "_there", "((" + text + ") != 0)", context_.IntTy);
  return ScalarExpr::binary(sdfg::ScalarOp::ne, ScalarExpr::make_symbolic(Expr::symbol(symbol), ElementType::i32),
                            ScalarExpr::integer(0, ElementType::i32));
}

}  // namespace sous::frontends::c
