// What is said of a whole function, and what code in another place would not keep.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace clang {
class FunctionDecl;
class TranslationUnitDecl;
}  // namespace clang

namespace sous::frontends::c {

struct LeftFunction {
  std::string_view code;
  std::string why;
};

using Functions = std::set<const clang::FunctionDecl*>;

// The definitions of those that attributes give a target of their own, and of those that they call, which may stand in
// them with that target.
Functions of_own_targets(const clang::TranslationUnitDecl* file);
// The definitions of those that an ifunc attribute names: the dynamic linker calls them when nothing else can be
// called.
Functions resolvers(const clang::TranslationUnitDecl* file);
// Why the function's nests are the compiler's own: options for it alone decide about its instructions (and so how it
// rounds), it runs ahead of the program (one of `resolvers`), or compilers put calls of it in the place of loops like
// its own. Its own target: one of these.
std::optional<LeftFunction> left_to_compiler(const clang::FunctionDecl* f, const Functions& own_targets,
                                             const Functions& resolvers);
// Whether attributes (target, target_clones, optnone, …) give the function options of its own.
bool has_own_options(const clang::FunctionDecl* f);

}  // namespace sous::frontends::c
