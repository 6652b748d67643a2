// Functions that are nothing but a nest.
//
// Where generated code declines, the original runs beside a check and a call: it shares registers with the arguments
// that are kept for both, and its loops stand elsewhere. Short inner loops run at 0.88 to 0.93 of their speed by that
// (a symmetric update with k = 3, a product with one column). As a function of its own the original is the compiler's
// code for the function as it was written, to the byte. What the compiler puts in the place of a call it compiles for
// that call: there the original stays where it is (frontends/c/hints.h).
#pragma once

#include <optional>
#include <span>

#include "clang/AST/ASTContext.h"
#include "clang/AST/Decl.h"
#include "clang/AST/Stmt.h"
#include "frontends/lifted.h"

namespace sous::frontends::c {

// `nest`: statements of the function, in order. Nullopt: the function does more, or something speaks against a second
// one with its text: what it is declared to be, macros, directives within what is written twice.
std::optional<WholeFunction> whole_function(const clang::FunctionDecl* function,
                                            std::span<const clang::Stmt* const> nest, const clang::ASTContext& context);

}  // namespace sous::frontends::c
