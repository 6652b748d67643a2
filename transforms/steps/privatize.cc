// Array privatization (Maydan, Amarasinghe and Lam 1993; Tu and Padua 1993): of memory that every iteration of a loop
// fills anew before it reads it (a workspace, a buffer for one row) each iteration gets a copy of its own, so that no
// iteration waits for another one's. Unlike an expanded array (`expand`) the copy ends with its iteration: there is one
// for each thread.
//
// Condition. That of `expand`: each iteration reads of the container only what it wrote before itself
// (sdfg::reads_own_values), and nothing else in the loop may be the same memory. Where others look at the container
// afterwards, it must hold what the last iteration wrote, which must be every element that any did: the last iteration
// copies them out, as the only one that writes there.
#include <algorithm>

#include "sdfg/points.h"
#include "transforms/renewed.h"

namespace sous::transforms {

using sdfg::Expr;
using sdfg::Loop;

struct Privatize {
  static constexpr std::string_view name = "privatize";
  static constexpr std::string_view summary =
      "Gives each iteration of a loop a copy of its own of what every iteration computes anew in the same place.";
  static constexpr std::string_view before =
      "for i:\n"
      "  for j: t(j) = f(i, j)\n"
      "  for j: A(i, j) = g(t(j))";
  static constexpr std::string_view after =
      "for i:\n"
      "  for j: p(j) = f(i, j)      (p: a private copy)\n"
      "  for j: A(i, j) = g(p(j))\n"
      "  if (i == n - 1) for j: t(j) = p(j)      (where others look at t)";
  static constexpr std::string_view names =
      "All loops keep their names; the copy of t is t_p, the loop that copies its last value out j_x.";

  static constexpr std::int64_t most_on_stack = 16384;  // bytes: half of a usual L1 cache

  LoopRef loop;
  static constexpr auto params =
      std::tuple{param(&Privatize::loop, {.name = "loop", .doc = "the loop whose iterations get copies of their own"})};
  static constexpr RefusalInfo refusals[] = {
      {"privatize.no-loop", "the loop does not exist"},
      {"privatize.step", "the loop does not have step 1, or is not sequential any more"},
      {"privatize.nothing",
       "there is nothing that each iteration writes before it reads it, in the same place, and whose last values are "
       "known"},
  };

  Result<Plan> plan(const Nest& nest, const StepContext&) const {
    const sdfg::ScheduleLoop* old = &loop_of(nest, loop);
    if (old->step != 1 || !is_sequential(*old))
      return fail("privatize.step", "the loop " + loop.name + " has a step or a schedule", loop.name);
    TRY(const std::set<std::string> shared, reused(nest, loop.name));
    sdfg::Sdfg result = sdfg::lower(nest.scop, nest.tree);
    const auto place = sdfg::find_loop(result.root, loop.name);
    SOUS_ASSERT(place);
    normal::Names names(result, "");
    bool done = false;
    for (const std::string& container : shared) {
      TRY(const bool own, sdfg::reads_own_values(nest.dependences, nest.scop, nest.tree, loop.name, container));
      // Temporaries are private to whichever loop is made parallel.
      TRY(const bool temporary, sdfg::privatizable(nest.dependences, nest.scop, nest.tree, loop.name, container));
      if (own && !temporary && with_copy(result, *place, container, names)) done = true;
    }
    if (!done) return fail("privatize.nothing", "there is nothing to copy whose last values are known", loop.name);
    return restructure(unchanged(nest), Equivalent(result));
  }

 private:
  // Gives the iterations their copies, if the condition holds besides that they read their own values.
  static bool with_copy(sdfg::Sdfg& result, const sdfg::LoopPlace& place, const std::string& container,
                        normal::Names& names) {
    const sdfg::Container* found = result.find(container);
    if (found == nullptr) return false;  // nothing is left that uses it
    const sdfg::Container old = *found;
    Loop& here = place.loop();
    if (!is_sized(old) || !is_alone(result, here, container)) return false;
    const std::string copy = names.fresh(container + "_p");
    const auto same = [](const sdfg::Subset& subset) { return std::optional(subset); };
    std::optional<sdfg::Region> last;
    if (is_seen_outside(result, place, container)) {
      last = copies_of_last_values(here.body, here.symbol, {.container = container, .own = copy, .moved = same}, names);
      if (!last) return false;
    }
    relocate(result, &here, here.body, container, sdfg::temporary(copy, old.type, old.shape, storage_of(old)), same);
    if (last)
      for (sdfg::Node& node : where({sdfg::equal(Expr::symbol(here.symbol), here.end - 1)}, std::move(last->nodes)))
        here.body.nodes.push_back(std::move(node));
    return true;
  }

  static sdfg::Storage storage_of(const sdfg::Container& c) {
    std::int64_t bytes = sdfg::info(c.type).bytes;
    for (const Expr& e : c.shape) {
      if (!e.constant() || *e.constant() > most_on_stack / bytes) return sdfg::Storage::heap;
      bytes *= std::max<std::int64_t>(1, *e.constant());
    }
    return sdfg::Storage::stack;
  }
};

constinit const StepInfo privatize_step = declare<Privatize>();

}  // namespace sous::transforms
