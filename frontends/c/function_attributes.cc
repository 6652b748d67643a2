#include "frontends/c/function_attributes.h"

#include <algorithm>
#include <array>
#include <vector>

#include "clang/AST/Attr.h"
#include "clang/AST/Decl.h"
#include "clang/AST/Expr.h"
#include "frontends/c/ast.h"

namespace sous::frontends::c {
namespace {

// What compilers make of loops that fill, copy, compare and count: in a function of that name they make no call of it.
bool stands_for_loops(std::string_view name) {
  static constexpr std::array<std::string_view, 10> names{"memset", "memcpy", "memmove", "mempcpy", "memcmp",
                                                          "bcmp",   "strlen", "wcslen",  "bzero",   "rawmemchr"};
  return std::ranges::find(names, name) != names.end();
}

std::string symbol(const clang::FunctionDecl* f) {
  const auto* label = f->getAttr<clang::AsmLabelAttr>();
  return label != nullptr ? label->getLabel().str() : f->getNameAsString();
}

bool has_own_target(const clang::FunctionDecl* f) {
  return f->hasAttr<clang::TargetAttr>() || f->hasAttr<clang::TargetClonesAttr>() ||
         f->hasAttr<clang::TargetVersionAttr>() || f->hasAttr<clang::CPUSpecificAttr>() ||
         f->hasAttr<clang::CPUDispatchAttr>();
}

}  // namespace

bool has_own_options(const clang::FunctionDecl* f) {
  return has_own_target(f) || f->hasAttr<clang::OptimizeNoneAttr>();
}

Functions of_own_targets(const clang::TranslationUnitDecl* file) {
  Functions found;
  std::vector<const clang::FunctionDecl*> met;
  const auto meet = [&](const clang::FunctionDecl* f) {
    const clang::FunctionDecl* definition = f->getDefinition();
    if (definition != nullptr && found.insert(definition).second) met.push_back(definition);
  };
  for (const clang::Decl* d : file->decls())
    if (const auto* f = llvm::dyn_cast<clang::FunctionDecl>(d); f != nullptr && has_own_target(f)) meet(f);
  for (std::size_t k = 0; k < met.size(); ++k) {
    if (nests_too_deeply(met[k]->getBody())) continue;
    for_each_statement(met[k]->getBody(), [&](const clang::Stmt* s) {
      const auto* ref = llvm::dyn_cast<clang::DeclRefExpr>(s);
      if (const auto* f = ref != nullptr ? llvm::dyn_cast<clang::FunctionDecl>(ref->getDecl()) : nullptr) meet(f);
    });
  }
  return found;
}

Functions resolvers(const clang::TranslationUnitDecl* file) {
  std::set<std::string> names;
  for (const clang::Decl* d : file->decls())
    if (const auto* named = d->getAttr<clang::IFuncAttr>()) names.insert(named->getResolver().str());
  Functions found;
  if (names.empty()) return found;
  for (const clang::Decl* d : file->decls()) {
    const auto* f = llvm::dyn_cast<clang::FunctionDecl>(d);
    if (f != nullptr && f->doesThisDeclarationHaveABody() && names.contains(symbol(f))) found.insert(f);
  }
  return found;
}

std::optional<LeftFunction> left_to_compiler(const clang::FunctionDecl* f, const Functions& own_targets,
                                             const Functions& resolvers) {
  const std::string name = symbol(f);
  if (has_own_options(f)) return LeftFunction{"c.function.options", "'" + name + "' has options of its own"};
  if (own_targets.contains(f))
    return LeftFunction{"c.function.options", "'" + name + "' is called where options for another target hold"};
  if (resolvers.contains(f))
    return LeftFunction{"c.function.options", "'" + name + "' runs before the program's functions can be called"};
  if (stands_for_loops(name) || f->hasAttr<clang::NoBuiltinAttr>())
    return LeftFunction{"c.function.library", "compilers call '" + name + "' for such loops, except in itself"};
  return std::nullopt;
}

}  // namespace sous::frontends::c
