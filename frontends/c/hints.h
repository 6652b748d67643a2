// Functions in the place of their calls, as if no call of generated code stood in them.
//
// A compiler judges a function by its size. A program's function that is called once, with sizes that are constants
// there, is compiled for these; with a call of generated code in front of its loops it may be a little too large for
// that, and the loops themselves, which run where the generated code declines, may take several times as long. clang
// allows what is declared inline to be larger. As `extern inline` its definition is what it was: one for all files.
#pragma once

#include "clang/AST/ASTContext.h"
#include "clang/AST/Decl.h"
#include "frontends/lifted.h"

namespace sous::frontends::c {

// Nothing for what is inline already or must not be, and for main.
Hint inline_hint(const clang::FunctionDecl* function, const clang::ASTContext& context);

}  // namespace sous::frontends::c
