// What the parts of the builder ask of statements and conditions.
#pragma once

#include <optional>
#include <vector>

#include "clang/AST/Expr.h"
#include "sdfg/sdfg.h"

namespace sous::frontends::c {

// A statement of a list, or the end of the switch that it is.
struct Item {
  const clang::Stmt* statement = nullptr;
  bool end = false;
};
std::vector<Item> items_of(const clang::Stmt* s);
// The first break or return in the loop's body that ends the loop; null: none.
const clang::Stmt* interruption(const clang::Stmt* loop_body);
// Of a function whose body may run before or after what stands beside the call.
bool contains_call(const clang::Stmt* s);
sdfg::ScalarExpr negate(sdfg::ScalarExpr e);
// What a && b && c (or a || b || c) asks, from left to right; empty: it is none, or something changes in it.
std::vector<const clang::Expr*> asked_in(const clang::Expr* e, clang::BinaryOperatorKind kind,
                                         const clang::ASTContext& context);
// What a condition always is; nullopt: that depends.
std::optional<bool> decided(const sdfg::ScalarExpr& test);
// Why a statement is not understood.
const char* reason_code(const clang::Stmt* s);

}  // namespace sous::frontends::c
