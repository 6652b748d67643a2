// The functions of string.h that nests are full of, and that are loops over elements.
#pragma once

#include <cstdint>
#include <optional>

#include "clang/AST/Expr.h"

namespace sous::frontends::c {

enum class MemoryFunction : std::uint8_t { Set, Copy, Move };
// nullopt: it calls something else, or a definition of the file's own.
std::optional<MemoryFunction> memory_function(const clang::CallExpr* call);

}  // namespace sous::frontends::c
