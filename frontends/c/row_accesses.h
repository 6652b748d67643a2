// Which rows of a table a nest comes to, and under which conditions.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "frontends/c/bindings.h"
#include "sdfg/sdfg.h"

namespace sous::frontends::c {

struct RowLoop {
  std::string symbol;
  sdfg::Expr begin, end;
  std::int64_t step;
  bool operator==(const RowLoop&) const = default;
};

// Under which a statement runs: `value` >= 0, or not zero.
struct Condition {
  sdfg::Expr value;
  bool nonzero = false;
  bool operator==(const Condition&) const = default;
};

// An access to a row, the loops around it, outermost first, and the conditions in them over their symbols. `always`:
// each iteration of theirs where these hold comes to it.
struct RowAccess {
  sdfg::Expr row;
  std::vector<RowLoop> loops;
  std::vector<Condition> conditions;
  bool always;
};

std::vector<RowAccess> row_accesses(const sdfg::Sdfg& sdfg, const std::string& container);

// The largest (smallest) row of an access: it is the row of an iteration that runs where all of the witness hold.
struct Extreme {
  sdfg::Expr row;
  RowWitness witness;
  bool shifted = false;  // it is none of the first and last iterations of its loops
};

// Of an access whose row is affine in loops of known steps. `idle_last`: of loops that it does not depend on, the last
// iteration is taken, not the first. `shifts`: by how many iterations a loop is entered later (or left earlier).
std::optional<Extreme> extreme(const RowAccess& access, bool up, bool idle_last,
                               std::map<std::size_t, std::int64_t> shifts = {});

}  // namespace sous::frontends::c
