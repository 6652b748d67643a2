// Array expansion (Feautrier 1988; for scalars Padua and Wolfe 1986): what each iteration of a loop computes anew in
// the same place gets a place for each iteration, so that the iterations, and parts of their bodies, no longer wait for
// each other's memory. Unlike a private copy it outlives its iteration: the loop can be distributed.
//
// Condition. Each iteration reads of the container only what it wrote before itself (sdfg::reads_own_values), and
// nothing else in the loop may be the same memory. What stands in the container afterwards is what the last iteration
// wrote, if it wrote every element that any did: so where others look at it, the loops that write it must do so for the
// same elements in each iteration. Updates need not be asked: what they read, and so write, was written before.
// An array that each iteration has a copy of meets the condition, too, as nobody else sees it. It becomes one place for
// each, so that the loop can be distributed, only where there is nothing else to expand: a copy stays in a cache, and
// places for all iterations do not. So do scalars that each iteration has a copy of, where these are asked for: they
// are in registers, unless loops inside change places with this one.
#include <algorithm>

#include "sdfg/points.h"
#include "transforms/renewed.h"
#include "transforms/tile_bounds.h"

namespace sous::transforms {

using sdfg::Expr;
using sdfg::Loop;
using sdfg::Node;

struct Expand {
  static constexpr std::string_view name = "expand";
  static constexpr std::string_view summary =
      "Gives each iteration of a loop a place of its own for what every iteration computes anew in the same one.";
  static constexpr std::string_view before =
      "for i:\n"
      "  for j: t(j) = f(i, j)\n"
      "  for j: A(i, j) = g(t(j))";
  static constexpr std::string_view after =
      "for i:\n"
      "  for j: T(i, j) = f(i, j)\n"
      "  for j: A(i, j) = g(T(i, j))\n"
      "for j: t(j) = T(n - 1, j)      (where others look at t)";
  static constexpr std::string_view names =
      "All loops keep their names; the expanded t is t_x, the loop that copies its last value out j_x.";

  static constexpr std::string_view of_choices[] = {"arrays", "scalars"};

  LoopRef loop;
  std::string of;
  static constexpr auto params = std::tuple{
      param(&Expand::loop, {.name = "loop", .doc = "the loop whose iterations get places of their own"}),
      param(&Expand::of, {.name = "of",
                          .doc = "what is shared, and copies of arrays where nothing is; or copies of scalars",
                          .choices = of_choices,
                          .default_value = "arrays"})};
  static constexpr RefusalInfo refusals[] = {
      {"expand.no-loop", "the loop does not exist"},
      {"expand.step", "the loop does not have step 1, or is not sequential any more"},
      {"expand.nothing",
       "there is nothing that each iteration writes before it reads it, in the same place, and whose last values are "
       "known"},
      {"expand.size", "the number of iterations is not known before the nest runs"},
  };

  Result<Plan> plan(const Nest& nest, const StepContext&) const {
    const sdfg::ScheduleLoop* old = &loop_of(nest, loop);
    if (old->step != 1 || !is_sequential(*old))
      return fail("expand.step", "the loop " + loop.name + " has a step or a schedule", loop.name);
    if (of == "arrays") {
      TRY(const std::set<std::string> shared, reused(nest, loop.name));
      TRY(const auto expanded, with_places(nest, shared));
      if (expanded) return restructure(unchanged(nest), Equivalent(*expanded));
    }
    std::set<std::string> copies;
    for (const std::string& own : old->privates)
      if (const sdfg::Container* c = nest.scop.frame.find(own);
          c != nullptr && (of == "scalars" ? c->shape.empty() : is_array_of_heap(*c)))
        copies.insert(own);
    TRY(const auto of_copies, with_places(nest, copies));
    if (of_copies) return restructure(unchanged(nest), Equivalent(*of_copies));
    return fail("expand.nothing", "there is nothing to expand whose last values are known", loop.name);
  }

 private:
  // The nest with a place for each iteration of those of the candidates that meet the condition; nullopt where none
  // does.
  Result<std::optional<sdfg::Sdfg>> with_places(const Nest& nest, const std::set<std::string>& candidates) const {
    const sdfg::ScheduleLoop* old = &loop_of(nest, loop);
    sdfg::Sdfg result = sdfg::lower(nest.scop, nest.tree);
    const auto place = sdfg::find_loop(result.root, loop.name);
    SOUS_ASSERT(place);
    const auto extent = bounded(old->end - old->begin, around_loop(nest, loop.name).loops);
    if (!extent) return fail("expand.size", "the iterations of " + loop.name + " have no bound", loop.name);

    normal::Names names(result, "");
    Loop& here = place->loop();
    std::vector<Node> last;  // values
    bool expanded = false;
    for (const std::string& container : candidates) {
      TRY(const bool own, sdfg::reads_own_values(nest.dependences, nest.scop, nest.tree, loop.name, container));
      const sdfg::Container* found = result.find(container);
      if (found == nullptr) continue;  // nothing is left that uses it
      const sdfg::Container narrow = *found;
      if (!own || !is_sized(narrow) || !is_alone(result, here, container)) continue;
      const std::string wide = names.fresh(container + "_x");
      const auto at = [](const Expr& iteration) {
        return [iteration](sdfg::Subset subset) {
          subset.insert(subset.begin(), iteration);
          return std::optional(subset);
        };
      };
      const bool is_copy = std::ranges::count(here.privates, container) > 0;  // others have copies of their own
      if (!is_copy && is_seen_outside(result, *place, container)) {
        auto copied =
            copies_of_last_values(here.body, here.symbol,
                                  {.container = container, .own = wide, .moved = at(here.end - here.begin - 1)}, names);
        if (!copied) continue;
        last.insert(last.end(), copied->nodes.begin(), copied->nodes.end());
      }
      std::vector<Expr> shape = narrow.shape;
      shape.insert(shape.begin(), *extent);
      // Each iteration of the loop around has its own: it may run in parallel.
      relocate(result, place->around.empty() ? nullptr : place->around.back(), here.body, container,
               sdfg::temporary(wide, narrow.type, std::move(shape), sdfg::Storage::heap),
               at(Expr::symbol(here.symbol) - here.begin));
      std::erase(here.privates, container);
      expanded = true;
    }
    if (!expanded) return std::nullopt;
    if (!last.empty())
      Copies{.in = {}, .out = where({sdfg::at_most(here.begin, here.end - 1)}, std::move(last))}.put(*place->owner,
                                                                                                     place->at, 1);
    return result;
  }

  bool is_array_of_heap(const sdfg::Container& c) const {
    return c.storage == sdfg::Storage::heap && !c.shape.empty() &&
           std::ranges::none_of(c.shape, [&](const Expr& e) { return e.uses(loop.name); });
  }
};

constinit const StepInfo expand_step = declare<Expand>();

}  // namespace sous::transforms
