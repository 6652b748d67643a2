// What the text of a C file says of the nests that may be lifted from it, where that costs a millisecond and parsing
// costs fifty. Most files of most programs have no nest as deep as any recipe's, and are the compiler's alone.
//
// Upper bounds, over all settings of the preprocessor's conditions: both branches of an #if count, a macro counts where
// its name stands, a function with loops where it is called. A loop counts where nothing in it calls what the front end
// cannot know: a function that is not in the text, one by a pointer. What text cannot tell (braces that a macro opens,
// an #include of a macro) gives no bound.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sous::frontends::c {

struct LoopBound {
  bool any_loop = false;
  int depth = 0;          // of loops in loops that may be lifted
  bool floating = false;  // a type of floating point is named, or may be by a header that is not looked into
  bool operator==(const LoopBound&) const = default;
};

// Where the compiler's command line lets the preprocessor look. What lies elsewhere is the system's: no loop is looked
// for there, as the front end looks for none.
struct IncludeSearch {
  std::vector<std::string> quoted = {};    // -iquote: for #include "…" alone
  std::vector<std::string> folders = {};   // -I, -isystem, -idirafter, in order
  std::vector<std::string> included = {};  // -include, -imacros: files before the first line
  std::vector<std::string> system = {};    // where the compiler looks by itself; empty: not known
  std::string macros = {};                 // -D, as lines of #define
};

// Of the file `path`. Nullopt: its text does not tell, or cannot be read.
std::optional<LoopBound> loop_bound(const std::string& path, const IncludeSearch& search);
// Of preprocessed text, without what line markers give to system headers.
std::optional<LoopBound> loop_bound(std::string_view preprocessed);

}  // namespace sous::frontends::c
