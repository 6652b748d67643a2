// C to SDFG. Finds, in every function of a translation unit, every maximal stretch of statements that it understands
// and that contains a loop; everything else stays in the C file. The only module with Clang headers (in its .cc files).
#pragma once

#include <string>
#include <vector>

#include "frontends/lifted.h"

namespace sous::frontends::c {

// Parses `text` as the C file `path`. `arguments`: the compiler options that matter for parsing (-I, -D, -std=, -f…,
// -m…, -x …), without input and output. Diagnostics of the parser are not printed. Types and expressions of arguments
// are C: "long long" for a symbol, and an array's expression converts to a pointer to its first element by a cast to
// type*. Errors: c.parse (with the first diagnostic), c.internal.
Result<TranslationUnit> lift(const std::string& text, const std::string& path,
                             const std::vector<std::string>& arguments);

}  // namespace sous::frontends::c
