#include "frontends/c/hints.h"

#include <algorithm>

#include "clang/AST/Attr.h"
#include "clang/Basic/SourceManager.h"

namespace sous::frontends::c {

Hint inline_hint(const clang::FunctionDecl* function, const clang::ASTContext& context) {
  const auto declared_otherwise = [](const clang::FunctionDecl* f) {
    return f->isInlineSpecified() || f->hasAttrs();  // weak, noinline, section, alias, …
  };
  if (function->isMain() || !function->hasPrototype() || std::ranges::any_of(function->redecls(), declared_otherwise))
    return {};
  const clang::SourceManager& sources = context.getSourceManager();
  const clang::SourceLocation begin = function->getBeginLoc();
  if (!begin.isFileID() || sources.getFileID(begin) != sources.getMainFileID()) return {};
  // With the meaning of inline that gcc had before C99, `extern inline` defines nothing for other files.
  const bool old = context.getLangOpts().GNUInline;
  const bool named = function->getStorageClass() != clang::SC_None;
  if (old && function->getStorageClass() == clang::SC_Extern) return {};
  return {.at = sources.getFileOffset(begin), .text = named || old ? "__inline__ " : "extern __inline__ "};
}

}  // namespace sous::frontends::c
