// What the variables of a function are mentioned for: as an element that is read or written, as an address that is
// passed on, or in a way that nobody can follow.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "clang/AST/ASTContext.h"
#include "clang/AST/Decl.h"
#include "clang/AST/Expr.h"
#include "clang/AST/Stmt.h"
#include "clang/AST/StmtOpenMP.h"

namespace sous::frontends::c {

struct Mention {
  enum class Kind : std::uint8_t { Nothing, Read, Write, Passed, Escaped };
  const clang::DeclRefExpr* place = nullptr;
  Kind kind = Kind::Escaped;
  bool writes = false;                    // Read, Write: an element, or some
  const clang::CallExpr* call = nullptr;  // Passed: to this call, as this parameter of a function defined here
  const clang::VarDecl* parameter = nullptr;
};

// The one declaration that stands for all of a variable.
const clang::VarDecl* canonical(const clang::VarDecl* v);

// A function's statements, and what its variables are mentioned for.
struct MentionedBody {
  std::unordered_map<const clang::Stmt*, const clang::Stmt*> parent;
  std::unordered_set<const clang::Stmt*> shared;  // reached in two ways
  bool jumps = false;
  int deepest = 0;  // levels of statements and expressions
  std::map<const clang::VarDecl*, std::vector<Mention>> mentions;
  std::map<const clang::VarDecl*, const clang::Stmt*> declared;

  const clang::Stmt* above(const clang::Stmt* s) const {
    const auto it = parent.find(s);
    return it == parent.end() ? nullptr : it->second;
  }
  const clang::Stmt* above_parentheses(const clang::Stmt* s) const {
    s = above(s);
    while (s && llvm::isa<clang::ParenExpr>(s)) s = above(s);
    return s;
  }
  bool encloses(const clang::Stmt* outer, const clang::Stmt* inner) const {
    while (inner && inner != outer) inner = above(inner);
    return inner != nullptr;
  }
  // Whether the walk says when the statement runs: not in OpenMP's tasks and threads.
  bool has_a_place(const clang::Stmt* s) const {
    if (!parent.contains(s)) return false;
    for (; s; s = above(s))
      if (shared.contains(s) || llvm::isa<clang::OMPExecutableDirective>(s)) return false;
    return true;
  }
};

// `trusts_definitions`: no assembly or alias in the file says otherwise what a call runs.
MentionedBody mentions_in(const clang::FunctionDecl* f, clang::ASTContext& context, bool trusts_definitions);

}  // namespace sous::frontends::c
