// The rules behind `check`, file by file: expressions and scalar expressions (check_expr.cc), dataflow
// (check_state.cc), declarations and control flow (check.cc).
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "sdfg/sdfg.h"

namespace sous::sdfg::rules {

// Where in the graph a rule is looked at.
struct Scope {
  std::string where;             // "loop i / state s0"; empty at the root
  std::vector<int> grid, block;  // dimensions of the GPU loops around
  bool ordered = true;           // no loop around runs its iterations in any order
  int depth = 0;

  Scope inside(const std::string& place) const;
};

// The declarations, indexed, and the errors so far.
class Context {
 public:
  Context(const Sdfg& sdfg, std::size_t limit);

  void report(const char* code, const std::string& why, const std::string& where);
  std::vector<Error> take_errors() && { return std::move(errors_); }

  const Sdfg& sdfg;
  std::map<std::string, const Container*> containers;  // the first of a name
  std::set<std::string> private_somewhere, private_to_grid;
  std::set<std::string> written;
  // What is in scope at the place that is looked at: parameters and the symbols of loops around, what these have
  // private. Kept here, not in scopes: a copy for each loop would be one of all parameters.
  std::multiset<std::string> symbols, privates;

  const Container* find(const std::string& name) const;

 private:
  std::vector<Error> errors_;
  std::size_t limit_;
};

// At most 128 characters, [A-Za-z_][A-Za-z0-9_]*.
void check_name(Context& context, const std::string& name, const char* what, const std::string& where);
// Bounds and subscripts: may read integer containers that are in scope here.
void check_expr(Context& context, const Expr& e, const Scope& scope);
// Shapes, strides, offsets, symbolic leaves: symbols only; `code` is the rule that a read breaks.
void check_symbolic(Context& context, const Expr& e, const Scope& scope, const char* code);
// Reads of `e`, those in subscripts of others included.
void for_each_read(const Expr& e, const std::function<void(const std::string&, const std::vector<Expr>&)>& f);

// A use of the container at this place: declared, private to a loop around if to any, on the right side of the GPU.
// Returns it, or null where it is unknown.
const Container* check_use(Context& context, const std::string& container, const Scope& scope);
// Returns the container, or null where the memlet is not usable.
const Container* check_memlet(Context& context, const Memlet& memlet, const Scope& scope);

// inputs[k]: the type of what input k reads; nullopt where that is broken already.
void check_scalar(Context& context, const ScalarExpr& code, const std::vector<std::optional<ElementType>>& inputs,
                  const Scope& scope);

void check_state(Context& context, const State& state, const Scope& scope);
// Everything below `loop` that touches the container combines into it with the operator.
void check_reduction(Context& context, const Loop& loop, const Reduction& reduction, const Scope& scope);

}  // namespace sous::sdfg::rules
