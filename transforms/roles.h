// A recipe names the loops, arrays and states of the nest it was found on. For a nest that is near but not equal, they
// are matched by role before it is applied: a loop's role is its depth, whether it is parallel, whether it carries a
// reduction, and how many accesses are contiguous in it; an array's is its type, rank and what is done to it.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sdfg/dependences.h"
#include "sdfg/sdfg.h"
#include "transforms/recipe.h"

namespace sous::transforms {

struct LoopRole {
  std::string symbol;
  int depth = 0;           // 0: outermost
  int height = 0;          // 0: innermost
  bool parallel = false;   // no dependence carried
  bool reduction = false;  // carries only updates x = x op e
  int contiguous = 0;      // accesses whose last subscript moves by one with it
  int writes_used = 0;     // writes whose subscripts use it
};
// In preorder.
std::vector<LoopRole> loop_roles(const sdfg::Sdfg& nest);
// The same, of what is known already: the scop of the nest, and its dependences; null: roles without them.
std::vector<LoopRole> loop_roles(const sdfg::Sdfg& nest, const sdfg::Scop& scop, const sdfg::Dependences* dependences);

// `recipe`, found on `from`, as a recipe for `to` (both in normal form with canonical names). Names that the recipe
// derives ("i0_t") keep their ending. Errors: roles.no-match (a loop, array or state that the recipe names has no
// counterpart).
// `matched_loops`: filled with the loops of `from` that the recipe names, and their counterparts.
Result<Recipe> match_roles(const Recipe& recipe, const sdfg::Sdfg& from, const sdfg::Sdfg& to,
                           std::map<std::string, std::string>* matched_loops = nullptr);

}  // namespace sous::transforms
