// Scalar expansion (Padua and Wolfe 1986) at one place of a loop's body: what the iterations compute before it, each in
// scalars of its own, and read behind it goes through a place for each iteration. On either side it stays a scalar, in
// a register, each side's own: they have nothing else in common, and the loop can be distributed there.
//
// Condition. The scalar is private to the loop, and a statement before the place assigns it in any case: so it has a
// value there, which the other side's scalar then has, too. Nobody looks at it behind the iteration.
#include <algorithm>

#include "sdfg/planted_fault.h"
#include "transforms/normal/util.h"
#include "transforms/relocation.h"
#include "transforms/tile_bounds.h"

namespace sous::transforms {

using sdfg::Expr;
using sdfg::Memlet;
using sdfg::Node;
using sdfg::ScalarExpr;

struct HandOver {
  static constexpr std::string_view name = "hand_over";
  static constexpr std::string_view summary =
      "Hands what the first part of a body computes in scalars over to the rest of it in memory, a place for each "
      "iteration.";
  static constexpr std::string_view before =
      "for i:\n"
      "  t = f(i)\n"
      "  s = g(s, t)";
  static constexpr std::string_view after =
      "for i:                     (at = 1)\n"
      "  t = f(i)\n"
      "  T(i) = t\n"
      "  u = T(i)\n"
      "  s = g(s, u)";
  static constexpr std::string_view names =
      "All loops keep their names. The places of t are t_x, the scalar behind them t_u; the loop can be distributed at "
      "`at` and one more for each scalar.";
  static constexpr bool needs_dependences = false;
  static constexpr std::int64_t at_values[] = {1, 2, 3, 4};

  LoopRef loop;
  std::int64_t at;
  static constexpr auto params = std::tuple{
      param(&HandOver::loop, {.name = "loop", .doc = "the loop whose body has two parts"}),
      param(&HandOver::at, {.name = "at",
                            .doc = "the child that starts the second part, from 1",
                            .low = 1,
                            .high = 1 << 16,
                            .values = at_values}),
  };
  static constexpr RefusalInfo refusals[] = {
      {"hand-over.no-loop", "the loop does not exist"},
      {"hand-over.step", "the loop does not have step 1, or is not sequential any more"},
      {"hand-over.nothing",
       "no scalar of the loop's own is assigned in any case before that child, and read there or behind it"},
      {"hand-over.size", "the number of iterations is not known before the nest runs"},
  };

  Result<Plan> plan(const Nest& nest, const StepContext&) const {
    const sdfg::ScheduleLoop* old = &loop_of(nest, loop);
    if (old->step != 1 || !is_sequential(*old))
      return fail("hand-over.step", "the loop " + loop.name + " has a step or a schedule", loop.name);
    sdfg::Sdfg result = sdfg::lower(nest.scop, nest.tree);
    const auto place = sdfg::find_loop(result.root, loop.name);
    SOUS_ASSERT(place);
    sdfg::Loop& here = place->loop();
    const std::vector<std::string> scalars = handed_over(result, here);
    if (scalars.empty())
      return fail("hand-over.nothing", "nothing is handed over at this place of " + loop.name, loop.name);
    const auto extent = bounded(old->end - old->begin, around_loop(nest, loop.name).loops);
    if (!extent) return fail("hand-over.size", "the iterations of " + loop.name + " have no bound", loop.name);

    normal::Names names(result, "");
    const auto cut = here.body.nodes.begin() + at;
    std::vector<Node> body(here.body.nodes.begin(), cut), in;
    sdfg::Sdfg behind;
    behind.root.nodes.assign(cut, here.body.nodes.end());
    sdfg::Renaming renaming;
    for (const std::string& scalar : scalars) {
      const sdfg::ElementType type = result.find(scalar)->type;
      const std::string wide = names.fresh(scalar + "_x"), other = names.fresh(scalar + "_u");
      renaming.containers[scalar] = other;
      // Each iteration of the loop around has its own: it may run in parallel.
      add_place(result, place->around.empty() ? nullptr : place->around.back(),
                sdfg::temporary(wide, type, {*extent}, sdfg::Storage::heap));
      add_place(result, &here, sdfg::temporary(other, type, {}, sdfg::Storage::stack));
      const Memlet there{.container = wide, .subset = {Expr::symbol(here.symbol) - here.begin}, .combine = {}};
      body.emplace_back(
          copied(names.fresh("put_" + scalar), there, {.container = scalar, .subset = {}, .combine = {}}, type));
      in.emplace_back(
          copied(names.fresh("get_" + scalar), {.container = other, .subset = {}, .combine = {}}, there, type));
    }
    body.insert(body.end(), in.begin(), in.end());
    const std::vector<Node> rest = sdfg::rename(behind, renaming).root.nodes;
    body.insert(body.end(), rest.begin(), rest.end());
    here.body.nodes = std::move(body);
    return restructure(unchanged(nest), Equivalent(result));
  }

 private:
  static sdfg::State copied(std::string name, const Memlet& to, const Memlet& from, sdfg::ElementType type) {
    return sdfg::assignment(std::move(name), to, ScalarExpr::make_input(0, type), {from});
  }

  std::vector<std::string> handed_over(const sdfg::Sdfg& graph, const sdfg::Loop& here) const {
    const std::vector<Node>& body = here.body.nodes;
    if (at >= static_cast<std::int64_t>(body.size())) return {};
    const sdfg::Touched behind = sdfg::touched(sdfg::Region{std::vector<Node>(body.begin() + at, body.end())});
    std::vector<std::string> found;
    for (const std::string& own : here.privates) {
      const sdfg::Container* container = graph.find(own);
      const auto assigns = [&](const Node& node) {
        const auto* state = std::get_if<sdfg::State>(&node.value);
        const auto assignment = state != nullptr ? sdfg::as_assignment(*state) : std::nullopt;
        return assignment && assignment->out.container == own;
      };
      if (container != nullptr && container->shape.empty() && behind.read.contains(own) &&
          (std::any_of(body.begin(), body.begin() + at, assigns) || planted(Fault::handed_over_unassigned)))
        found.push_back(own);
    }
    return found;
  }
};

constinit const StepInfo hand_over_step = declare<HandOver>();

}  // namespace sous::transforms
