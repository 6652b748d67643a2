// What the compiler's command line says about the meaning of the code, and how it is compiled.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "client/floating_point.h"
#include "client/options.h"
#include "client/result_cache.h"
#include "targets/target.h"
#include "tuning-db/hardware.h"

namespace sous::client {

struct Meaning {
  Contraction contraction = Contraction::InExpressions;
  bool reassociate = false, no_nans = false, approximate_math = false, math_errno = false;
  std::string compiler = "clang-19";             // for measuring on the spot
  std::vector<std::string> cpp_code = {};        // options for compiling what is generated
  bool user_lines = false;                       // generated code has the lines of the user's text, for debuggers
  std::optional<tuning_db::Isa> processor = {};  // that it asks for, beyond what the build is for
};

// With what Sous's own options add (--fp).
Meaning with_options(Meaning meaning, const Options& options);
// On x86-64, what is generated is compiled for all that the machine has (at most --isa), also where the build is for
// less, as builds without -march are, and runs where the processor has it. Its results stay the build's: where that has
// no multiplication and addition with one rounding, which the compiler is asked (client/compiler.h), nor has it.
Meaning beyond_the_build(Meaning meaning, const Options& options, const ResultCache* cache = nullptr);
Meaning beyond_the_build(Meaning meaning, const tuning_db::Hardware& machine, const ResultCache* cache = nullptr);
// What generated code may do; all else as targets have it.
targets::EmitOptions emit_options(const Meaning& meaning);

}  // namespace sous::client
