// What becomes of the addresses of a function's arrays and pointers.
#pragma once

#include <set>

#include "clang/AST/Decl.h"
#include "clang/AST/Stmt.h"

namespace sous::frontends::c {

// Arrays whose address is used otherwise than by subscripting: passed to a call, assigned to a pointer.
void escaping_arrays(const clang::Stmt* s, std::set<const clang::VarDecl*>& found);

// Parameters that are pointers and of which every mention is followed at once, by a subscript or a dereference.
std::set<const clang::VarDecl*> followed_parameters(const clang::FunctionDecl* function);

}  // namespace sous::frontends::c
