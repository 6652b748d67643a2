#include "transforms/normal_form.h"

#include <algorithm>

#include "sdfg/check.h"
#include "sdfg/data_ends.h"
#include "transforms/normal/passes.h"
#include "transforms/normal/units.h"
#include "transforms/normal/util.h"

namespace sous::transforms {

using namespace sdfg;

namespace {

// A nest for a GPU has its schedule in its meaning (shared memory, transfers): it is no input for a normal form.
bool is_for_gpu(const Sdfg& sdfg) {
  return !std::ranges::all_of(sdfg.containers, normal::on_host) || normal::has_gpu_loops(sdfg.root);
}

// The passes that need no dependences, until nothing changes.
Sdfg simplify(Sdfg sdfg, normal::Log& log) {
  for (int round = 0; round < 8; ++round) {
    Sdfg next =
        normal::forward_scalars(normal::fold(normal::canonical_loops(normal::narrow_loops(sdfg, log), log), log), log);
    if (next == sdfg) break;
    sdfg = std::move(next);
  }
  return open_ends(std::move(sdfg));
}

// With leave to reassociate: each loop gets the reductions that its body is made of, so that `respects` does not hold
// their order against a permutation. They are no part of the normal form.
void add_reductions(const Scop& scop, ScheduleTree& tree) {
  for (const std::string& symbol : loop_symbols(tree)) {
    ScheduleLoop& loop = *find_loop(tree, symbol);
    std::map<std::string, std::optional<ReductionOp>> updated;  // nullopt: also touched in another way
    for_each_leaf(loop.children, [&](const ScheduleLeaf& leaf) {
      const Statement& statement = scop.statements[static_cast<std::size_t>(leaf.statement)];
      const std::optional<Reduction> update = self_update(statement);
      for (const std::string& name : normal::containers_of(statement.node)) {
        const auto op = update && update->container == name ? std::optional(update->op) : std::nullopt;
        const auto [it, inserted] = updated.emplace(name, op);
        if (!inserted && it->second != op) it->second.reset();
      }
    });
    for (const auto& [name, op] : updated)
      if (op) loop.reductions.push_back({.container = name, .op = *op});
  }
}

void drop_reductions(ScheduleTree& tree) {
  for (const std::string& symbol : loop_symbols(tree)) find_loop(tree, symbol)->reductions.clear();
}

// Distribution, directions and order of loops, inside each other and side by side. On isl.budget the nest keeps its
// order.
Sdfg reschedule(const Sdfg& sdfg, const NormalFormOptions& options, normal::Log& log) {
  const normal::Expanded expanded = normal::expand_scalars(sdfg, log);
  const Sdfg marked = normal::mark_privates(expanded.sdfg);
  Scop scop = scop_of(marked);
  Result<Dependences> dependences = Dependences::compute(scop, options.budget);
  if (!dependences) {
    log.push_back("schedule: left as it is: " + dependences.error().to_string());
    return sdfg;
  }
  normal::Work work{.scop = scop, .dependences = std::move(*dependences), .tree = scop.tree};
  normal::distribute(work, log);
  normal::orient_loops(work, log);
  if (options.reassociate) add_reductions(work.scop, work.tree);
  normal::minimize_strides(work, log);
  drop_reductions(work.tree);
  normal::order_siblings(work, log);
  return normal::contract_scalars(lower(work.scop, work.tree), expanded.arrays, log);
}

}  // namespace

Result<NormalForm> normalize(const Sdfg& sdfg, const NormalFormOptions& options) {
  TRY_VOID(check(sdfg));
  NormalForm form;
  if (is_for_gpu(sdfg)) {
    form.sdfg = sdfg;
    form.log.push_back("left as it is: scheduled for a GPU");
    return form;
  }
  Sdfg current = simplify(normal::expand_nodes(sdfg, form.log), form.log);
  // A second round finds what the first one's new order allows; two rounds have been enough for all that tests hold.
  for (int round = 0; round < 3; ++round) {
    Sdfg next = normal::order_operands(simplify(reschedule(current, options, form.log), form.log));
    if (next == current) break;
    current = std::move(next);
  }
  form.sdfg = normal::mark_privates(current);
  form.units = normal::units_of(form.sdfg);
  return form;
}

Result<AsWritten> as_written(const Sdfg& sdfg) {
  TRY_VOID(check(sdfg));
  normal::Log log;
  AsWritten written;
  written.sdfg =
      normal::mark_privates(normal::fold(normal::canonical_loops(normal::expand_nodes(sdfg, log), log), log));
  written.unit = normal::cut_out(written.sdfg, 0, written.sdfg.root.nodes.size());
  return written;
}

}  // namespace sous::transforms
