// C to SDFG. Finds, in every function of a translation unit, every maximal stretch of statements that it understands
// and that contains a loop; everything else stays in the C file. The only module with Clang headers (in its .cc files).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sdfg/sdfg.h"

namespace sous::frontends::c {

// Why a stretch ends (or a loop is not lifted). Codes: c.goto, c.call.unknown-effects, c.volatile, …: docs/errors.md.
struct Reason {
  std::string code;
  std::string why;
  std::string function;
  int line = 0, column = 0;  // presumed (#line markers respected)
};

// How the rewritten C passes one argument of the Sdfg, in the order of Sdfg::arguments.
struct Argument {
  enum class Kind { Symbol, ScalarIn, ScalarInOut, Array };
  Kind kind = Kind::Symbol;
  std::string name;    // in the Sdfg
  std::string c_type;  // "long long" for a symbol; the element type of a scalar or an array in C: "double"
  std::string c_expr;  // an expression without side effects: "n", "g->n", "A" (arrays: converts to a pointer to its
                       // first element by a cast to c_type*)
  // Passed by value (or a pointer), and perhaps without a value yet where the nest does not use it.
  bool unset = false;
};

struct LiftedNest {
  std::string function;      // the C function it is in
  int line = 0, column = 0;  // presumed location of the first statement
  int end_line = 0;
  std::string file;  // presumed file
  // The stretch in the text given to `lift`: bytes [begin, end), whole statements at one level of one block.
  std::size_t begin = 0, end = 0;
  sdfg::Sdfg sdfg;  // checked; name: function_line
  std::vector<Argument> arguments;
  // A C expression: where it is zero, the stretch does nothing that its arguments could be read for, and reading them
  // may fault (members of a struct that a loop without iterations never looks at). Empty: always fine.
  std::string guard;
  // C statements that give variables assigned in the stretch and used after it their final value where the generated
  // code ran and they are not arguments (induction variables): "i = n > 0 ? n : 0;". May be empty.
  std::string epilogue;
  // Values that symbols surely have: constants, and parameters of static functions to which every call passes the same
  // one.
  std::map<std::string, std::int64_t> known;
  // Presumed lines of the `for`s, by the symbols of the loops that they became.
  std::map<std::string, int> loop_lines;
  bool reassociate = false;  // by a pragma of its own (omp simd reduction …); flags are the caller's business
};

struct TranslationUnit {
  std::vector<LiftedNest> nests;  // in order of `begin`, disjoint
  std::vector<Reason> reasons;    // for every loop that is in no nest, and every end of a stretch
  int functions_with_loops = 0;
};

// Parses `text` as the C file `path`. `arguments`: the compiler options that matter for parsing (-I, -D, -std=, -f…,
// -m…, -x …), without input and output. Diagnostics of the parser are not printed.
// Errors: c.parse (with the first diagnostic), c.internal.
Result<TranslationUnit> lift(const std::string& text, const std::string& path,
                             const std::vector<std::string>& arguments);

}  // namespace sous::frontends::c
