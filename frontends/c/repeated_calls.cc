#include "frontends/c/repeated_calls.h"

#include <algorithm>
#include <set>

#include "frontends/c/ast.h"
#include "frontends/c/call_effects.h"
#include "frontends/c/memory_functions.h"
#include "sdfg/planted_fault.h"

namespace sous::frontends::c {
namespace {

bool is_loop(const clang::Stmt* s) { return llvm::isa<clang::ForStmt, clang::WhileStmt, clang::DoStmt>(s); }

// The nearest loop around `what` in `s`, `s` itself among them; null: there is none.
const clang::Stmt* nearest_loop(const clang::Stmt* s, const clang::Stmt* what, const clang::Stmt* around) {
  if (s == nullptr) return nullptr;
  if (s == what) return around;
  const clang::Stmt* inner = is_loop(s) ? s : around;
  for (const clang::Stmt* child : s->children())
    if (const clang::Stmt* found = nearest_loop(child, what, inner)) return found;
  return nullptr;
}

// Whether it writes more than variables that it names, or calls what may do so.
bool writes_memory(const clang::Stmt* loop) {
  bool found = false;
  for_each_statement(loop, [&](const clang::Stmt* s) {
    if (const auto* b = llvm::dyn_cast<clang::BinaryOperator>(s); b && b->isAssignmentOp())
      found = found || named_variable(b->getLHS()) == nullptr;
    if (const auto* u = llvm::dyn_cast<clang::UnaryOperator>(s); u && u->isIncrementDecrementOp())
      found = found || named_variable(u->getSubExpr()) == nullptr;
    if (const auto* call = llvm::dyn_cast<clang::CallExpr>(s)) {
      const clang::FunctionDecl* callee = call->getDirectCallee();
      const clang::FunctionDecl* definition = nullptr;
      const bool reads = callee && !memory_function(call) &&
                         (callee->getBuiltinID() != 0 ||
                          (callee->hasBody(definition) && writes_of(definition) == Writes::OwnVariables));
      found = found || !reads;
    }
  });
  return found;
}

// Variables that have another value in the next iteration.
std::set<const clang::VarDecl*> changed_in(const clang::Stmt* loop) {
  std::set<const clang::VarDecl*> changed = written_variables(loop);
  for_each_statement(loop, [&](const clang::Stmt* s) {
    const auto* declaration = llvm::dyn_cast<clang::DeclStmt>(s);
    if (declaration == nullptr) return;
    for (const clang::Decl* d : declaration->decls())
      if (const auto* v = llvm::dyn_cast<clang::VarDecl>(d)) changed.insert(v);
  });
  return changed;
}

}  // namespace

bool is_repeated(const clang::CallExpr* call, const std::vector<const clang::Stmt*>& statements) {
  const clang::FunctionDecl* definition = nullptr;
  const clang::FunctionDecl* callee = call->getDirectCallee();
  if (!callee || !callee->hasBody(definition) || !contains_loop(definition->getBody()) ||
      writes_of(definition) != Writes::OwnVariables)
    return false;
  const clang::Stmt* loop = nullptr;
  for (const clang::Stmt* s : statements)
    if (loop == nullptr) loop = nearest_loop(s, call, nullptr);
  if (loop == nullptr || writes_memory(loop) || planted(Fault::repeated_call_taken)) return false;
  const std::set<const clang::VarDecl*> changed = changed_in(loop);
  // What other functions can name may be what this one reads.
  if (!std::ranges::all_of(changed, &clang::VarDecl::hasLocalStorage)) return false;
  return std::ranges::none_of(call->arguments(), [&](const clang::Expr* argument) {
    return std::ranges::any_of(named_variables(argument), [&](const clang::VarDecl* v) { return changed.contains(v); });
  });
}

}  // namespace sous::frontends::c
