// What a front end gives of a program: its nests as graphs, how the program passes their arguments, and where and how a
// call of generated code goes in their place. What is text here is in the program's own language, which only its front
// end reads; a front end whose programs have no text leaves it empty (client/jit.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sdfg/sdfg.h"

namespace sous::frontends {

// Why a stretch ends (or a loop is not lifted). Codes: c.goto, c.call.unknown-effects, c.volatile, …: docs/errors.md.
struct Reason {
  std::string code;
  std::string why;
  std::string function;
  int line = 0, column = 0;      // presumed
  std::string_view advice = {};  // what the program's author may do about it; empty: nothing is known
};

// How the rewritten program passes one argument of the Sdfg, in the order of Sdfg::arguments.
struct Argument {
  enum class Kind { Symbol, ScalarIn, ScalarInOut, Array };
  Kind kind = Kind::Symbol;
  std::string name;        // in the Sdfg
  std::string type;        // the program's, of the symbol, the scalar or the array's elements: "double"
  std::string expression;  // the program's, without side effects: "n", "g->n", "A"
  // Passed by value (or a pointer), and perhaps without a value yet where the nest does not use it.
  bool unset = false;
  // What a symbol is passed as; generated code widens it. A program that widened it itself, ahead of its own loops, may
  // be compiled otherwise than without the call.
  sdfg::ElementType symbol_type = sdfg::ElementType::i64;
  bool own = false;  // of ScalarInOut: a variable of the function's own, to which no pointer leads
  bool operator==(const Argument&) const = default;
};

// What goes ahead of a function in which a call of generated code stands beside the original: the compiler is to put it
// in the place of its calls as it did the original alone, which was smaller.
struct Hint {
  std::size_t at = 0;  // byte of the text
  std::string text;    // empty: nothing
};

// A function that does nothing but run the nest, and that the compiler puts in the place of no call. There the original
// gets a function of its own, and is compiled as if no call of generated code stood beside it, with whose check and
// arguments it would share registers.
struct WholeFunction {
  std::size_t begin = 0, name_end = 0, end = 0;  // bytes of the text: its first one, those behind its name and itself
  std::string passed;                            // its parameters, as a call passes them: "n, A"
  // What it declares ahead of the nest, for which the second one has no use but perhaps in the call: "(void)i; ".
  std::string unused = {};
};

struct LiftedNest {
  std::string function;      // that it is in
  int line = 0, column = 0;  // presumed location of the first statement
  int end_line = 0;
  std::string file;  // presumed file
  // The stretch in the text given to the front end: bytes [begin, end), whole statements at one level of one block.
  std::size_t begin = 0, end = 0;
  bool is_text() const { return begin < end; }
  sdfg::Sdfg sdfg;  // checked; name: function_line
  std::vector<Argument> arguments;
  // An expression: where it is false, the stretch does nothing that its arguments could be read for, and reading them
  // may fault (members of a struct that a loop without iterations never looks at). Empty: always fine.
  std::string guard;
  // Statements that give variables assigned in the stretch and used after it their final value where the generated
  // code ran and they are not arguments (induction variables): "i = n > 0 ? n : 0;". May be empty.
  std::string epilogue;
  // Values that symbols surely have: constants, and parameters of static functions to which every call passes the same
  // one.
  std::map<std::string, std::int64_t> known;
  // Of arrays that are parameters: how many rows the program declares (`int bits[2][2]`), where that is a number, and
  // more than one, which is how any number of them is declared, too. C promises nothing of it: for estimates.
  std::map<std::string, std::int64_t> declared_rows = {};
  // Presumed lines of the loops in the text, by the symbols of the loops that they became.
  std::map<std::string, int> loop_lines;
  // Of arguments that are members in an array of structures: what that array is reached by, and the bytes from there to
  // where the argument points.
  std::map<std::string, std::pair<std::string, std::int64_t>> members = {};
  // Of arguments that are short tables of constants: the elements, row by row, as C and C++ write them, with a comma
  // behind each.
  std::map<std::string, std::string> tables = {};
  bool reassociate = false;  // by leave of the program's own; flags are the caller's business
  Hint hint;
  std::optional<WholeFunction> whole = {};
};

// A block of statements in which nothing but nests changes an array: what a device has of it after one of them is what
// the next one needs. A variable of the program's, 0 where the block begins, says which execution of the block it is.
struct Residence {
  struct Use {
    std::size_t nest = 0;       // LiftedNest::begin
    std::string argument;       // of that nest
    bool writes = false;        // the array
    bool repeated = false;      // a loop inside the block is around the nest
    std::size_t statement = 0;  // of the block, that the nest is in: ascending
  };
  std::size_t at = 0;  // byte of the text behind the brace that opens the block
  // What lies between the elements that the nests touch, others may write: of a pointer that is restrict, say.
  bool interleaved = false;
  std::vector<Use> uses;
};

struct TranslationUnit {
  std::vector<LiftedNest> nests;           // in order of `begin`, disjoint
  std::vector<Reason> reasons;             // for every loop that is in no nest, and every end of a stretch
  std::vector<Residence> residences = {};  // outer blocks first
  int functions_with_loops = 0;
};

// The variable of a Residence: what generated code gets the address of, and where the program declares it.
struct ResidenceVariable {
  std::string name;    // empty: the array is in none, and 0 is passed
  std::size_t at = 0;  // Residence::at
};

// A call of generated code in the place of a nest: what a front end needs to put it into the program.
struct Replacement {
  std::size_t begin = 0, end = 0;  // bytes of the text
  std::string function;            // generated
  std::vector<Argument> arguments;
  // It writes nothing, and hands `results` back as values. The compiler may then merge calls, and drop them, as it
  // would the original.
  bool pure = false;
  std::vector<Argument> results = {};
  std::string epilogue;
  std::string note;   // for people: one line about the recipe
  std::string guard;  // the arguments may be read where it holds; empty: always
  // Where it runs, in one of these no expression over symbols is negative: elsewhere it need not be called. Empty: not
  // known.
  std::vector<std::vector<sdfg::Expr>> shapes = {};
  // Asked where `function` declines, and the original runs only if this one does so, too; empty: there is none.
  std::string otherwise = {};
  std::vector<Argument> otherwise_arguments = {};
  // Passed behind the arguments of `function`. Where anything else runs instead, they become 0: what it writes, no
  // device has.
  std::vector<ResidenceVariable> residences = {};
  // Asked ahead of `function`, and changes nothing: where it says 0 the original runs, and memory is as it was. Else
  // what it says is passed behind the arguments of `function`, which returns nothing. Not with `pure` or `otherwise`.
  struct Asked {
    std::string function;
    std::vector<Argument> arguments;
    bool of_arguments_alone = false;  // the same arguments, the same answer
  };
  std::optional<Asked> asked = {};
  Hint hint = {};
  std::optional<WholeFunction> whole = {};
};

// What the nest's symbols are passed as that are not passed as i64.
std::map<std::string, sdfg::ElementType> symbol_types(const LiftedNest& lifted);
// How a call passes the arguments of `emitted`, made from the nest: generated code takes by value the scalars that
// nothing in it writes, and the normal form may have removed the last write.
std::vector<Argument> arguments_for(const LiftedNest& lifted, const sdfg::Sdfg& emitted);
// What the entry may take and hand back as values, so that it is pure: all that `emitted` writes, if these are
// variables of the function's own that fit into the registers of a result, and the nest surely ends and does nothing
// else that could be seen (`math_errno`: math.h sets errno). Larger ones first. Empty: it may not.
std::vector<std::string> values_of(const LiftedNest& lifted, const sdfg::Sdfg& emitted, bool math_errno);
// `function` runs `emitted`; what it writes of `values` comes back as values.
Replacement replacement(const LiftedNest& lifted, const std::string& function, const sdfg::Sdfg& emitted,
                        const std::string& note = {}, const std::vector<std::string>& values = {});

// Sets Replacement::asked: `function`, of some of the replacement's arguments, by their names.
void ask_first(Replacement& replacement, const std::string& function, const std::vector<std::string>& arguments,
               bool of_arguments_alone);

// A graph that comes from no text, as if it had been lifted. `sizes`: of its symbols, where they are known.
LiftedNest lifted_from(const sdfg::Sdfg& sdfg, const std::map<std::string, std::int64_t>& sizes = {});

}  // namespace sous::frontends
