// What a function has read for sure when it comes to a statement.
#pragma once

#include <set>

#include "clang/AST/Decl.h"
#include "clang/AST/Stmt.h"
#include "frontends/c/mentions.h"

namespace sous::frontends::c {

// p of `*p` and `p[0]`; null: it is something else.
const clang::VarDecl* pointer_to(const clang::Expr* e);

// Pointers `p` of which the function has read or written `*p` or `p->m` whenever control comes to `s`, and behind which
// it has called nothing that might have given that memory back: what they point to may be read. Of conditions it knows
// the operands that were evaluated: behind `if (*m == 0 || *n == 0) return;` those of both. `written`: variables that
// the function changes, which are left out.
std::set<const clang::VarDecl*> read_before(const clang::Stmt* s, const MentionedBody& body,
                                            const std::set<const clang::VarDecl*>& written);

}  // namespace sous::frontends::c
