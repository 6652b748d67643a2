// Which arrays nobody looks at after a stretch of statements has run, and which ones only a function's own mentions
// change, decided over the whole translation unit.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "clang/AST/ASTContext.h"
#include "clang/AST/Decl.h"
#include "clang/AST/Stmt.h"
#include "frontends/c/mentions.h"

namespace sous::frontends::c {

class Liveness {
 public:
  explicit Liveness(clang::ASTContext& context);
  ~Liveness();

  // Whether what the elements of the array (or of what the pointer points to) hold after the stretch, consecutive
  // statements of `function`, is surely never read. `covered`: whether each run of the stretch reads of it only what
  // that run has written before; asked only where the stretch may run again.
  bool dead_after(const clang::FunctionDecl* function, const std::vector<const clang::Stmt*>& stretch,
                  const clang::VarDecl* array, const std::function<bool()>& covered);

  const MentionedBody& body(const clang::FunctionDecl* function);

  // Whether, while a call of `function` runs, the array (or what the pointer points to, always the same) is changed
  // through its mentions in that function alone, and in what they pass it to. OneOfItsElements: of what is accessed
  // through them; others may be about what lies between.
  enum class Names { Others, OneUnlessCalledBack, OneOfItsElements, One };
  Names names(const clang::FunctionDecl* function, const clang::VarDecl* array);
  // Whether it may be changed through this mention, in what it is passed to as well.
  bool changes(const Mention& mention);

 private:
  class Facts;
  Facts& facts();
  clang::ASTContext& context_;
  std::unique_ptr<Facts> facts_;  // gathered when first asked
};

}  // namespace sous::frontends::c
