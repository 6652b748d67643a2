#include "frontends/c/whole_function.h"

#include <algorithm>

#include "clang/AST/Attr.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Lex/Lexer.h"
#include "frontends/c/ast.h"

namespace sous::frontends::c {
namespace {

// Attributes that both functions may have, or that only declarations elsewhere give.
bool may_stand_twice(const clang::Attr* attribute) {
  if (llvm::isa<clang::NoInlineAttr, clang::NoThrowAttr, clang::HotAttr, clang::ColdAttr, clang::UnusedAttr>(attribute))
    return true;
  return llvm::isa<clang::VisibilityAttr>(attribute) && (attribute->isInherited() || attribute->isImplicit());
}

bool stays_apart(const clang::FunctionDecl* function) {
  const auto fits = [](const clang::FunctionDecl* f) {
    return !f->isInlineSpecified() &&
           std::ranges::all_of(f->attrs(), [](const clang::Attr* a) { return may_stand_twice(a); });
  };
  const bool called =
      std::ranges::any_of(function->redecls(), [](const auto* f) { return f->isReferenced() || f->isUsed(false); });
  return !function->isMain() && function->getStorageClass() == clang::SC_None && function->hasPrototype() &&
         !function->isVariadic() && std::ranges::all_of(function->redecls(), fits) &&
         (!called || function->hasAttr<clang::NoInlineAttr>());
}

// Variables without a value, so that what is declared twice is computed once.
bool declares_alone(const clang::Stmt* s) {
  const auto* declaration = llvm::dyn_cast<clang::DeclStmt>(s);
  return declaration != nullptr && std::ranges::all_of(declaration->decls(), [](const clang::Decl* d) {
           const auto* variable = llvm::dyn_cast<clang::VarDecl>(d);
           return variable != nullptr && variable->hasLocalStorage() && !variable->hasInit() &&
                  !variable->getType()->isVariablyModifiedType();
         });
}

// Whether the type of a parameter has a size that does something where it is computed: the second function would do it
// again.
bool size_acts(clang::QualType type, const clang::ASTContext& context) {
  while (type->isVariablyModifiedType()) {
    if (const auto* array = context.getAsArrayType(type)) {
      const auto* sized = llvm::dyn_cast<clang::VariableArrayType>(array);
      if (sized != nullptr && sized->getSizeExpr() != nullptr && sized->getSizeExpr()->HasSideEffects(context))
        return true;
      type = array->getElementType();
    } else if (const auto* pointer = type->getAs<clang::PointerType>()) {
      type = pointer->getPointeeType();
    } else {
      return true;
    }
  }
  return false;
}

bool does_nothing(const clang::Stmt* s) {
  const auto* end = llvm::dyn_cast<clang::ReturnStmt>(s);
  return llvm::isa<clang::NullStmt>(s) || (end != nullptr && end->getRetValue() == nullptr);
}

bool is_all(const clang::CompoundStmt* body, std::span<const clang::Stmt* const> nest) {
  const auto begin = body->body_begin(), end = body->body_end();
  const auto first = std::find(begin, end, nest.front()), last = std::find(first, end, nest.back());
  return last != end && std::all_of(begin, first, declares_alone) && std::all_of(last + 1, end, does_nothing);
}

}  // namespace

std::optional<WholeFunction> whole_function(const clang::FunctionDecl* function,
                                            std::span<const clang::Stmt* const> nest,
                                            const clang::ASTContext& context) {
  const auto* body = llvm::dyn_cast_or_null<clang::CompoundStmt>(function->getBody());
  if (body == nullptr || !function->getReturnType()->isVoidType() || !stays_apart(function) || !is_all(body, nest))
    return std::nullopt;
  const clang::SourceManager& sources = context.getSourceManager();
  const auto in_text = [&](clang::SourceLocation at) {
    return at.isFileID() && sources.getFileID(at) == sources.getMainFileID();
  };
  const clang::SourceLocation begin = function->getBeginLoc(), name = function->getLocation();
  const auto stretch = text_range(nest.front(), context);
  if (!in_text(begin) || !in_text(name) || !in_text(body->getLBracLoc()) || !in_text(body->getRBracLoc()) || !stretch)
    return std::nullopt;
  WholeFunction whole{
      .begin = sources.getFileOffset(begin),
      .name_end = sources.getFileOffset(clang::Lexer::getLocForEndOfToken(name, 0, sources, context.getLangOpts())),
      .end = sources.getFileOffset(body->getRBracLoc()) + 1,
      .passed = {}};
  for (const clang::Stmt* s : body->body()) {
    const auto* declaration = llvm::dyn_cast<clang::DeclStmt>(s);
    if (s == nest.front() || declaration == nullptr) break;
    for (const clang::Decl* d : declaration->decls())
      whole.unused += "(void)" + llvm::cast<clang::VarDecl>(d)->getNameAsString() + "; ";
  }
  const llvm::StringRef text = sources.getBufferData(sources.getMainFileID());
  if (text.substr(whole.begin, stretch->begin - whole.begin).contains('#')) return std::nullopt;
  for (const clang::ParmVarDecl* parameter : function->parameters()) {
    if (parameter->getName().empty() || size_acts(parameter->getOriginalType(), context)) return std::nullopt;
    whole.passed += (whole.passed.empty() ? "" : ", ") + parameter->getNameAsString();
  }
  return whole;
}

}  // namespace sous::frontends::c
