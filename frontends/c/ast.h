// Reading the AST: types, loop headers, which variables are written, source ranges. Facts only; nothing is built here.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "clang/AST/ASTContext.h"
#include "clang/AST/Expr.h"
#include "clang/AST/Stmt.h"
#include "sdfg/types.h"

namespace sous::frontends::c {

// The element type of a C scalar type; nullopt for long double, complex, pointers, structs, volatile and atomic types.
std::optional<sdfg::ElementType> element_type(clang::QualType type, const clang::ASTContext& context);
// Complex numbers of float and double: as a structure of two members, and as an element of an array, an array of two.
bool is_complex(clang::QualType type, const clang::ASTContext& context);
// The type of either part.
clang::QualType part_type(clang::QualType complex);
// Structures, and what is taken for one.
bool is_record(clang::QualType type, const clang::ASTContext& context);
// How the rewritten C spells it: "double", "unsigned long".
std::string c_type(clang::QualType type, const clang::ASTContext& context);

// __attribute__((may_alias)), on the structure or on any of the typedefs that the type is named by.
bool is_blind(clang::QualType type);

// The variable that an expression names, parentheses aside (lvalue); null if it is none.
const clang::VarDecl* named_variable(const clang::Expr* e);
// The value of an integer constant expression.
std::optional<std::int64_t> constant_value(const clang::Expr* e, const clang::ASTContext& context);

// Whether the pointer's first value is a new block of memory that nobody else knows.
bool starts_as_block(const clang::VarDecl* v);

// The same of a floating-point expression, as a double that holds it exactly; not where the rounding mode is open.
std::optional<double> real_constant(const clang::Expr* e, const clang::ASTContext& context);

// A `for` with one induction variable: for (v = begin; v OP bound; v += step), in any spelling.
struct ForHeader {
  const clang::VarDecl* variable = nullptr;
  const clang::Expr* begin = nullptr;                    // null: no initialisation, the variable's current value
  bool declared = false;                                 // the variable lives in the loop only
  std::vector<const clang::BinaryOperator*> conditions;  // comparisons that all have to hold
  std::int64_t step = 0;
  // `for (p = a, i = 0; …; i++, p++)`: what else the header does, once and after each iteration, in order.
  std::vector<const clang::Expr*> before, also;
};
// The header by its form alone; whether the body writes the variable is another question.
std::optional<ForHeader> for_header(const clang::ForStmt* loop, const clang::ASTContext& context);
// Whether no iteration assigns to a variable that the condition names, the step of the loop's own aside: only then is
// the bound before the loop that of every test. (Writes through pointers are found where the bound's memory is known.)
bool keeps_bound(const clang::ForStmt* loop, const ForHeader& header);

// Variables that assignments, increments and assembly below `s` name as their target.
std::set<const clang::VarDecl*> assigned_variables(const clang::Stmt* s);
// Variables written by assignments, increments or through & below `s` (calls of inlinable functions included: they
// cannot write a caller's variable unless its address is taken).
std::set<const clang::VarDecl*> written_variables(const clang::Stmt* s);
std::set<const clang::VarDecl*> named_variables(const clang::Stmt* s);
std::set<const clang::VarDecl*> address_taken(const clang::Stmt* s);
// Variables that the extents of variable-length arrays in the type name, behind pointers too.
std::set<const clang::VarDecl*> size_variables(clang::QualType type, const clang::ASTContext& context);
// Calls f on `s` and everything below, the bodies of OpenMP constructs included.
void for_each_statement(const clang::Stmt* s, const std::function<void(const clang::Stmt*)>& f);
// Values that the statements before list[at] surely give to local integers. Where no label lets anything jump in.
std::map<const clang::VarDecl*, std::int64_t> constants_before(const std::vector<const clang::Stmt*>& list,
                                                               std::size_t at, const clang::ASTContext& context);
// What a block gives its caller, as one expression, where it is nothing but `if (c) return a;` and a return at its end:
// c ? a : …, made in the context. Null: it is more than that.
const clang::Expr* returned_value(const clang::Stmt* body, const clang::ASTContext& context);
bool contains_loop(const clang::Stmt* s);
// Whether statements and expressions lie in each other in more levels than functions that call themselves may follow
// (tables of thousands of else-ifs, sums of thousands of terms); found without such a call.
bool nests_too_deeply(const clang::Stmt* s);
// A loop that may count: any `for`, and one whose condition names a variable that it steps.
bool contains_counting(const clang::Stmt* s);

// How a run of statements uses the value that a variable has before it.
enum class Use {
  None,     // not at all, so far
  Written,  // overwritten on every path before any read
  Exposed,  // may be read
};
Use use_of(const clang::Stmt* s, const clang::VarDecl* variable, const clang::ASTContext& context);

// A block on the way to a run of statements.
struct Frame {
  const clang::Stmt* parent;  // what the list belongs to: a block, or the statement whose body it is
  std::vector<const clang::Stmt*> list;
  std::size_t next = 0;  // the first statement behind the one being looked at
};
// Whether the value that a local variable, to which no pointer leads, has behind the statements up to `next` of the
// innermost frame may be read. Where the function has no labels.
bool live_after(const std::vector<Frame>& frames, std::size_t next, const clang::VarDecl* v,
                const clang::ASTContext& context);

// [begin, end) of a statement in the main file, its semicolon included; nullopt if a macro does not let it.
struct TextRange {
  unsigned begin = 0, end = 0;
};
std::optional<TextRange> text_range(const clang::Stmt* s, const clang::ASTContext& context);

}  // namespace sous::frontends::c
