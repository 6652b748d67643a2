// Calls that compute the same in each iteration of a loop, and write nothing.
#pragma once

#include <vector>

#include "clang/AST/ASTContext.h"
#include "clang/AST/Expr.h"

namespace sous::frontends::c {

// Whether the nearest loop around the call, among these statements of one function, computes nothing that the call
// could see the next time: a compiler makes such a call of a function with loops once, and what runs these loops in
// each iteration, however well, takes longer.
bool is_repeated(const clang::CallExpr* call, const std::vector<const clang::Stmt*>& statements);

}  // namespace sous::frontends::c
