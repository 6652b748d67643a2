// What a function of the file may write, beside its own variables.
#pragma once

#include "clang/AST/Decl.h"

namespace sous::frontends::c {

enum class Writes { OwnVariables, ThroughParameters, Anything };
Writes writes_of(const clang::FunctionDecl* f);

}  // namespace sous::frontends::c
