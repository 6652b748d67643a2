// What becomes of the addresses of a function's arrays and pointers.
#pragma once

#include <set>

#include "clang/AST/Decl.h"
#include "clang/AST/Stmt.h"

namespace sous::frontends::c {

// The variable that the object is a part of: v of v, v.m, v[i], (*v)[i].m[j]. Null where a pointer leads to it.
const clang::VarDecl* object_of(const clang::Expr* lvalue);

// Variables of whose objects an address is used otherwise than to access them at once: passed to a call, assigned to a
// pointer.
void escaping_addresses(const clang::Stmt* s, std::set<const clang::VarDecl*>& found);

// Parameters that are pointers and of which every mention is followed at once, by a subscript or a dereference.
std::set<const clang::VarDecl*> followed_parameters(const clang::FunctionDecl* function);

}  // namespace sous::frontends::c
