// Finds the maximal stretches of a function that can be lifted.
//
// In every block, runs of consecutive statements that can each be lifted are candidates; of each run the longest parts
// that can be lifted together become nests, without the loop-free statements at their ends. What cannot be lifted is
// searched inside: the bodies of an if with a call, of a while, of a switch.
#pragma once

#include <map>
#include <set>

#include "clang/AST/ASTContext.h"
#include "clang/AST/Decl.h"
#include "frontends/c/lift.h"
#include "frontends/c/liveness.h"

namespace sous::frontends::c {

struct Options {
  bool strict_aliasing = true;
  const std::set<const clang::VarDecl*>* unaddressed = nullptr;  // objects that no pointer leads to
};

// Values of a function's parameters.
struct ParameterValues {
  std::map<const clang::VarDecl*, std::int64_t> known;     // for sure
  std::map<const clang::VarDecl*, std::int64_t> supposed;  // in all calls of the file, and perhaps not in others
};

// Appends to `unit`.
void find_stretches(clang::ASTContext& context, const clang::FunctionDecl* function, const ParameterValues& values,
                    const Options& options, Liveness& liveness, TranslationUnit& unit);

}  // namespace sous::frontends::c
