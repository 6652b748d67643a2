// Exact dependences and the one legality check (isl).
//
// Of a scop: iteration domains, access relations (exact where subscripts are affine; otherwise the dimension
// is unconstrained: a may-access), and the memory-based flow, anti and output dependences: all pairs of statement
// instances that touch the same element in this order, at least one writing. A schedule is legal exactly if every pair
// keeps its order (Feautrier 1992; Bacon, Graham, Sharp 1994, section 5). Value-based flow (who wrote what is read;
// Feautrier 1991) is computed besides, for privatization.
//
// Budget: every query stops after Budget::operations isl operations with the error isl.budget: reproducible, unlike
// time.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "sdfg/schedule_tree.h"

namespace sous::sdfg {

struct Budget {
  unsigned long operations = 500'000;
};

enum class DependenceKind : std::uint8_t { Flow, Anti, Output };

// Between instances of two statements (indices into Scop::statements), on one container (or two of one alias class).
struct Dependence {
  DependenceKind kind;
  int source = 0, target = 0;
  std::string container;
  // Distance target - source per common loop, where it is constant: printed in reports; nullopt: it varies.
  std::vector<std::optional<std::int64_t>> distance;
  // In how many of the outermost common loops some pair of instances agrees: below that many loops the dependence still
  // orders statements, deeper the outer loops keep it (what loop distribution asks).
  std::size_t equal_loops = 0;
  std::string to_string(const Scop& scop) const;
};

class Dependences {
 public:
  // Errors: isl.budget.
  static Result<Dependences> compute(const Scop& scop, const Budget& budget = {});
  // Only those between two of these statements (indices into Scop::statements), for a nest of many of which a step
  // concerns a few. What other questions than theirs need is refused by the functions below: isl.scope.
  static Result<Dependences> compute_among(const Scop& scop, const std::set<int>& statements,
                                           const Budget& budget = {});
  // Whether they are known for these statements.
  bool cover(const std::set<int>& statements) const;

  const std::vector<Dependence>& all() const;
  // For reports: the relation of all()[k] in isl notation.
  std::string relation(std::size_t k) const;

  struct Data;
  const Data& data() const { return *data_; }

 private:
  std::shared_ptr<const Data> data_;
};

// The one check: `tree` runs every instance of every statement of `scop` exactly once, and in an order that keeps
// every dependence, but for those that privates and reductions of the tree's loops remove. Parallel, Simd and GPU loops
// must moreover carry none (Simd: none that lockstep execution would break).
// Errors: legality.dependence (which pair, on what), legality.instances (an instance lost, doubled or added),
// isl.budget, isl.scope.
Result<void> respects(const Dependences& dependences, const Scop& scop, const ScheduleTree& tree);

// The same answer, for less: `legal` is a tree that was proven already, or its own, and only pairs of instances
// that both are in what differs between the two, in one iteration of the loops around that, are looked at; all others
// are ordered as in `legal`. The dependences among the statements in what differs are enough.
Result<void> respects_as(const Dependences& dependences, const Scop& scop, const ScheduleTree& legal,
                         const ScheduleTree& tree);

// Only that: the tree, which may leave instances out where it differs from the legal one, runs none there that a
// statement does not have (legality.instances).
Result<void> adds_no_instances(const Dependences& dependences, const Scop& scop, const ScheduleTree& legal,
                               const ScheduleTree& tree);

// The dependences that the loop with this symbol carries in `tree` (equal in all outer loops, different in this one).
// Dependences of the loop's own reductions and of privates (those of loops around it as well) are left out.
struct Carried {
  int dependence = 0;        // index into Dependences::all()
  bool self_update = false;  // a statement x = x op e with itself, on x: a reduction, if reassociation is allowed
  std::optional<std::int64_t> distance;  // constant distance along the loop, in iterations of it
};
Result<std::vector<Carried>> carried_by(const Dependences& dependences, const Scop& scop, const ScheduleTree& tree,
                                        const std::string& symbol);

// Whether each iteration of the loop could have its own copy of `container`: it is transient, and no iteration reads a
// value of it from another iteration or from before the loop, and nothing after the loop reads what the loop wrote.
Result<bool> privatizable(const Dependences& dependences, const Scop& scop, const ScheduleTree& tree,
                          const std::string& symbol, const std::string& container);

// Whether each iteration of the loop reads of `container` only what it has written itself before. Unlike above, code
// outside the loop may touch it, too. Containers that may overlap it are not looked at.
Result<bool> reads_own_values(const Dependences& dependences, const Scop& scop, const ScheduleTree& tree,
                              const std::string& symbol, const std::string& container);

// Whether each element of `container` that an iteration of the loop reads is read by it at least once before it may
// have written it: the value is an older one, so that there is one.
Result<bool> reads_older_values(const Dependences& dependences, const Scop& scop, const ScheduleTree& tree,
                                const std::string& symbol, const std::string& container);

// By how many of its iterations `inner`, the only thing directly inside of `outer`, has to be delayed at least in each
// iteration of that (skewed), so that within an iteration of what is around both no dependence goes backwards in it: 0
// where that is so of the loops as they stand. The steps of both are 1. Nullopt: by more than `most`. Tiles of loops
// that were skewed by less would wait for each other, but where a tile holds all of a loop.
Result<std::optional<int>> least_skew(const Dependences& dependences, const Scop& scop, const ScheduleTree& tree,
                                      const std::string& outer, const std::string& inner, int most);

// The operator if the statement is a State that does x = x op e (op associative and commutative, x not in e).
std::optional<Reduction> self_update(const Statement& statement);

}  // namespace sous::sdfg
