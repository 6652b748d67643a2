// What the compiler's command line says about the meaning of the code, and how it is compiled.
#pragma once

#include <string>
#include <vector>

#include "client/floating_point.h"
#include "client/options.h"
#include "targets/target.h"

namespace sous::client {

struct Meaning {
  Contraction contraction = Contraction::InExpressions;
  bool reassociate = false, no_nans = false, approximate_math = false, math_errno = false;
  std::string compiler = "clang-19";       // for measuring on the spot
  std::vector<std::string> cpp_code = {};  // options for compiling what is generated
  bool user_lines = false;                 // generated code has the lines of the user's text, for debuggers
};

// With what Sous's own options add (--fp).
Meaning with_options(Meaning meaning, const Options& options);
// What generated code may do; all else as targets have it.
targets::EmitOptions emit_options(const Meaning& meaning);

}  // namespace sous::client
