// What the names of a stretch stand for while its Sdfg is built: expressions, elements, and the memory of the function
// that the containers are.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "clang/AST/Decl.h"
#include "clang/AST/Expr.h"
#include "clang/AST/Stmt.h"
#include "clang/AST/Type.h"
#include "clang/Basic/SourceLocation.h"
#include "frontends/c/ast.h"
#include "sdfg/sdfg.h"

namespace sous::frontends::c {

// What does not change between the stretches of one function.
struct FunctionFacts {
  clang::ASTContext* context = nullptr;
  const clang::FunctionDecl* function = nullptr;
  std::set<const clang::VarDecl*> address_taken;  // of any part of them
  std::set<const clang::VarDecl*> written;        // anywhere in the function
  std::map<const clang::VarDecl*, std::int64_t> known;
  std::map<const clang::VarDecl*, std::int64_t> supposed;  // what all calls in the file pass; others may pass more
  std::map<const clang::VarDecl*, std::int64_t> starts;    // values of local variables where the stretch begins
  std::set<const clang::VarDecl*> readable;                // pointers to what was read before the stretch
  // Pointers that are followed and nothing else: no other pointer of the function is based on them.
  std::set<const clang::VarDecl*> followed;
  // Objects with static storage that are named in this file alone, and whose address nobody takes.
  const std::set<const clang::VarDecl*>* unaddressed = nullptr;
  bool strict_aliasing = true;
};

// An element, or a pointer to one: the last subscript may still be added to.
struct Access {
  std::string container;
  std::vector<sdfg::Expr> subscript;
};

// Elements, or rows of them, one after the other: `extents` of them from the first one on.
struct Block {
  Access first;
  std::vector<sdfg::Expr> extents;
};

struct Binding {
  // Wrapped: an unsigned integer whose value is `index` modulo its type's range.
  // Null: a pointer to nothing, which a call passes.
  enum class Kind { Unknown, Expression, Wrapped, Scalar, Array, Pointer, Null } kind = Kind::Unknown;
  std::optional<sdfg::Expr> index;        // Expression: its value as an integer
  std::optional<sdfg::ScalarExpr> value;  // Expression: its value otherwise
  std::string container;                  // Scalar, Array, Pointer (the one it points into)
  std::vector<sdfg::Expr> subscript;      // Pointer: what it points at
};

// An lvalue inside of structures: which member, of which element. Subscripts are in bytes apart.
struct Place {
  std::string root;         // C name of the pointer or object that it starts from
  std::string path;         // members from there: ".position.x"
  std::int64_t offset = 0;  // of the members, in bytes
  std::vector<sdfg::Expr> subscript;
  std::vector<std::int64_t> strides;  // bytes
  std::vector<sdfg::Expr> extents;
};

// s.a.b, g->a.b: a member of a variable, or of what a variable points to, by names alone.
struct NamedMember {
  const clang::VarDecl* root = nullptr;
  bool through_pointer = false, in_union = false;
  std::string path, c_expr;  // "a.b", "g->a.b"
};
std::optional<NamedMember> named_member(const clang::MemberExpr* e);

// What a pointer to a structure, or a structure, parameter of a called function, is in the caller: g, &s, &g->inner.
struct RecordArgument {
  const clang::VarDecl* root = nullptr;
  bool through_pointer = false;
  std::string path;  // members from there: "inner"
  bool in_union = false;
};

// A structure of the function's own: temporaries, one for each member.
struct OwnRecord {
  Place place;
  clang::QualType type;
};

// One that is no structure, of a structure that is read or written whole.
struct Member {
  Place place;
  clang::QualType type;
};

// A complex number, or a real one beside such: without an imaginary part, which then takes no part in arithmetic.
struct Complex {
  sdfg::ScalarExpr real;
  std::optional<sdfg::ScalarExpr> imaginary;
};
struct ComplexAccess {
  Access real, imaginary;
};

// Bytes [first, last) behind what a pointer points to, all three C expressions.
struct Span {
  std::string pointer, first, last;
};

// How a container of the caller's may overlap another.
enum class Origin { Transient, PrivateObject, Object, Restrict, Pointer };

struct Memory {
  std::string container;
  Origin origin = Origin::Transient;
  bool parameter = false;              // a pointer that is a parameter and never changed: cannot point to a local
  bool followed = false;               // no other pointer is based on it
  bool local = false;                  // an object of this function's frame
  bool flat = false;                   // the outermost extent is to be computed from the accesses
  std::optional<sdfg::Expr> declared;  // the outermost extent that a parameter declares
  clang::QualType element;
  std::string c_expr;
  std::string root, field;                 // of a struct member: the base variable and the field's name
  bool through_pointer = false;            // of a struct member: root->field
  bool inside = false;                     // of a struct member: an array that lies in the structure
  std::string record;                      // of a member of an array of structures: what that is reached by
  std::int64_t alignment = 0;              // of what c_expr points to, where that is a structure
  std::int64_t offset = 0;                 // from where c_expr points, in bytes
  sdfg::Expr shift;                        // and in elements
  std::string table;                       // of rows that a table points to: that table, in C
  std::optional<std::int64_t> table_rows;  // and how many rows it has for sure
  Span entries;                            // and what of it the entry reads
  std::string stride;                      // of rows that a table points to: the symbol of their distance
  std::optional<std::pair<sdfg::Expr, sdfg::Expr>> reach;  // the elements that are accessed at most, where flat
  const clang::VarDecl* variable = nullptr;                // the array, or the pointer to it
  const clang::VarDecl* block = nullptr;                   // that got it from malloc, and never changes
  clang::SourceLocation where;
};

inline bool is_pointer(const Memory& memory) {
  return memory.origin != Origin::Object && memory.origin != Origin::PrivateObject;
}

// What names stood for where a function was called.
struct Caller {
  std::map<const clang::VarDecl*, Binding> bindings;
  std::map<const clang::VarDecl*, RecordArgument> records;
  std::map<const clang::VarDecl*, Place> places;
  std::map<const clang::VarDecl*, std::string> own_records;
};

// A symbol or value read straight from memory that someone might write under another name.
struct MemoryScalar {
  std::string name, root;
  clang::QualType type;
  clang::SourceLocation where;
  const clang::VarDecl* through = nullptr;  // the pointer that leads to it
};

struct Final {  // the value of an induction variable after its loop, where all `nonneg` are >= 0
  const clang::VarDecl* variable;
  std::vector<sdfg::Expr> nonneg;
  std::optional<sdfg::Expr> value;  // nullopt: not known
};

// A step of a tracked variable inside an expression.
struct Step {
  const clang::UnaryOperator* expression;
  const clang::VarDecl* variable;
  std::int64_t by;
};

// How often a pointer is named, and how often only to read what it points to (`*p`, `p[0]`).
struct Pointee {
  int mentions = 0, loads = 0;
};

// What the entry reads through a pointer, and where the stretch does so: in the first iterations of its
// loops, all of `nonneg` (>= 0) given; nullopt: under some other condition.
struct Load {
  std::string root, c_expr;
  bool read_before = false;  // the root, by the function
  std::optional<std::vector<sdfg::Expr>> nonneg;
  std::size_t assumptions = 0;  // so many were made when the loops around were understood
};

// What holds where a nest surely comes to a row.
struct RowWitness {
  std::vector<sdfg::Expr> nonneg, nonzero;
};

// What the entry checks of a table of rows, in C, where all of `nonneg` are >= 0 (they are checked first), and one
// witness of each of `ends` holds.
struct RowCheck {
  std::string table, condition;
  std::vector<sdfg::Expr> nonneg;
  std::vector<std::vector<RowWitness>> ends;
};

using Values = std::map<const clang::VarDecl*, Binding>;

// A tracked variable in a loop. `by`: per iteration; nullopt: its value is not known in the loop.
struct Stepping {
  const clang::VarDecl* variable;
  Binding before;
  std::optional<sdfg::Expr> by;
  sdfg::Expr iteration;        // how many are done, in the loop's symbol
  std::int64_t last_test = 0;  // what the test that ends the loop adds
};

struct Bounds {
  sdfg::Expr begin, end;
};

struct Comparison {
  sdfg::Expr left, right;
};

// A `for` that counts.
struct CountedLoop {
  const ForHeader& header;
  clang::SourceLocation where;
  std::string symbol;
  Bounds limits;
  sdfg::Region needed = {};                  // what computes its bounds
  std::optional<sdfg::Memlet> guarded = {};  // it runs where that is no more than the largest index
  std::optional<Binding> memory = {};        // where its variable keeps its value
  std::int64_t passes = 1;                   // iterations of the program's loop in one of it
  bool up() const { return header.step > 0; }
  sdfg::Expr nonempty() const;  // it has iterations where this is >= 0
  sdfg::Expr trips() const;     // how many, if any
  sdfg::Expr after() const;     // its variable's value then
  bool readable() const;        // nothing in the bounds is read from memory, where it may not be there after the nest
};

// What is known of a loop behind it, where nothing in its bounds is read from memory.
struct LoopRun {
  std::string symbol;
  bool up;
  std::optional<sdfg::Expr> last;  // the symbol in its last iteration, if it has any; nullopt: not known
  sdfg::Expr nonempty;             // it has iterations where this is >= 0
};

// A loop in any spelling: what is tested before each pass, or behind it.
struct LoopParts {
  const clang::Expr* condition;
  const clang::Stmt* body;
  const clang::Expr* increment;  // null: none
  bool test_first;
  clang::SourceLocation where;
};

// What the entry may read in C, and under which conditions.
struct Entry {
  std::vector<std::string> conditions;
  std::set<std::string> safe;     // roots that may be followed where the conditions so far hold
  bool needs_conditions = false;  // for any of them
};

struct OpenLoop {
  std::string symbol;
  sdfg::Expr begin, nonempty;  // it has iterations where nonempty >= 0
};

// Where jumps out of a list of statements go.
struct Exits {
  bool loop = false;                  // its end is that of a loop's body: continue
  std::string flag{};                 // of a While: false after a break
  bool function = false;              // return is one of a called function
  std::string result{};               // of it; empty: void
  std::string returned{};             // true after a return inside of a loop
  std::optional<OwnRecord> record{};  // instead of `result`, where it returns a structure
};

// Of the loop that comes next, in a called function.
struct Returning {
  std::string result, returned;
  std::optional<OwnRecord> record;
};

}  // namespace sous::frontends::c
