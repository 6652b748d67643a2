// The passes of the normal form, in the order in which `normalize` runs them. Each is a function from one Sdfg to an
// equivalent one (bit for bit) and logs what it did. docs/normal-form.md tells the whole story.
#pragma once

#include <string>
#include <vector>

#include "sdfg/dependences.h"
#include "sdfg/sdfg.h"

namespace sous::transforms::normal {

using Log = std::vector<std::string>;

// One assignment per state: states with several tasklets become a sequence of states, combining memlets a read and a
// write, equal inputs of a tasklet one input. Schedules become Sequential and privates go (mark_privates finds them
// again): a normal form has no schedule. First of all: every other pass looks only at states that are one assignment.
sdfg::Sdfg expand_nodes(const sdfg::Sdfg& sdfg, Log& log);

// Loops count up by 1, and their begin is a sum of outer loop symbols only: 0 for most (i in [2, n) becomes [0, n-2)
// with i+2 for i below). A begin that depends on outer loops keeps that part: shifting a triangle to 0 would skew its
// accesses and with them the dependences; where all subscripts agree on a skew (A[i+j] everywhere), it is taken back.
// Loops with another step count their iterations; orient_loops turns those that ran down. Perfect nests are tightened:
// outer iterations with an empty inner loop go, where the new bound differs from the old one by a constant. Loops of
// one iteration become their body. After expand_nodes, and again after whatever changes bounds (minimize_strides).
sdfg::Sdfg canonical_loops(const sdfg::Sdfg& sdfg, Log& log);

// Guards that are bounds: a loop that is nothing but a body under a condition over symbols runs where that holds, as
// far as bounds can say it (i > 0; i != 0 where that is the first; i == 3), and what does not depend on the loop goes
// around it. `if (i == 0 || j == 0)` becomes one guard for each. Before canonical_loops.
sdfg::Sdfg narrow_loops(const sdfg::Sdfg& sdfg, Log& log);

// Exact folding of scalar expressions and of symbolic ones under the assumptions and the bounds of the loops around.
// Floating point: only what holds for every value (x*1, x-0, x/2^k = x*2^-k, -(-x)), never x+0 or x*0.
// Whenever new constants or bounds appear.
sdfg::Sdfg fold(const sdfg::Sdfg& sdfg, Log& log);

// Transient scalars: each definition with its own uses gets its own scalar; definitions are forwarded into their uses
// where no write to an operand lies between and no expensive work is multiplied; a scalar that accumulates what one
// array element receives in the end accumulates in that element (same type, element untouched in between), and a value
// that was stored in one is read from there; a store that the next statement reads and overwrites goes into it; writes
// to transients that nobody reads and empty loops, branches go. To a fixed point. After fold, before expand_scalars
// (fewer scalars to expand).
sdfg::Sdfg forward_scalars(const sdfg::Sdfg& sdfg, Log& log);

// A transient scalar that is defined in a loop body and used in or behind a loop of that body gets one element per
// iteration of all loops around (scalar expansion), so that the body can be distributed. Their names are returned:
// contract_scalars takes back the dimensions that distribution did not need.
// Between forward_scalars and distribute.
struct Expanded {
  sdfg::Sdfg sdfg;
  std::vector<std::string> arrays;
};
Expanded expand_scalars(const sdfg::Sdfg& sdfg, Log& log);
sdfg::Sdfg contract_scalars(const sdfg::Sdfg& sdfg, const std::vector<std::string>& arrays, Log& log);

// Transient scalars that every iteration defines before it reads them become privates of that loop.
// Before distribute: respects then knows that they carry nothing.
sdfg::Sdfg mark_privates(const sdfg::Sdfg& sdfg);

// An Sdfg as a scop, with its dependences and the tree under work.
struct Work {
  sdfg::Scop scop;
  sdfg::Dependences dependences;
  sdfg::ScheduleTree tree;
};

// Maximal loop distribution (Kennedy, Allen 2002, section 2.4.4): at each level the strongly connected components of
// the dependence graph of the statements become loops of their own, in topological order, program order among
// independent ones. Leaves `work.tree` as it was where `respects` does not approve.
void distribute(Work& work, Log& log);

// Runs loops forward whose accesses mostly run backward, where `respects` allows it.
// After distribute (a nest of its own is more often reversible), before minimize_strides.
void orient_loops(Work& work, Log& log);

// Per perfect band, the legal permutation with the smallest strides, innermost position first.
// After distribute (bands are perfect then).
void minimize_strides(Work& work, Log& log);

// What stands side by side in an order that does not depend on the program's: flat before deep, then by what it
// computes and by what depends on it, as far as dependences allow; inside of loops, too. Two loops are equal to this
// order where they differ in names, extents and types alone; such loops keep the program's order. After
// minimize_strides (loops have their final shape).
void order_siblings(Work& work, Log& log);

// Operands of commutative operations in an order that does not depend on names or spelling (a*b and b*a are one), and
// inputs of a tasklet in the order of their use. Last, when loops have their final places.
sdfg::Sdfg order_operands(const sdfg::Sdfg& sdfg);

}  // namespace sous::transforms::normal
