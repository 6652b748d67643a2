// Loop interchange (Allen and Kennedy 1984; Wolfe 1986): two directly nested loops change places, triangles included.
#include "transforms/interchange_bounds.h"
#include "transforms/step.h"

namespace sous::transforms {

namespace {

struct Interchange {
  static constexpr std::string_view name = "interchange";
  static constexpr bool drafted = true;
  static constexpr std::string_view summary = "Exchanges two loops of which one is directly inside the other.";
  static constexpr std::string_view before = "for i: for j: S(i, j)";
  static constexpr std::string_view after = "for j: for i: S(i, j)";
  static constexpr std::string_view names = "Both loops keep their names.";

  LoopRef outer, inner;
  static constexpr auto params = std::tuple{
      param(&Interchange::outer, {.name = "outer", .doc = "the loop that goes inside"}),
      param(&Interchange::inner, {.name = "inner",
                                  .doc = "the loop that goes outside",
                                  .relation = Relation::OnlyInside,
                                  .to = "outer",
                                  .refusal = "interchange.not-nested"}),
  };
  static constexpr RefusalInfo refusals[] = {
      {"interchange.no-loop", "a loop does not exist"},
      {"interchange.not-nested", "inner is not the only thing directly inside outer"},
      {"interchange.bounds", "the exchanged bounds cannot be written down exactly"},
      {"interchange.illegal", "a dependence would be reversed"},
      {"interchange.scheduled", "one of the loops is not sequential any more"},
  };

  Result<Plan> plan(const Nest& nest, const StepContext&) const {
    const sdfg::ScheduleLoop &o = loop_of(nest, outer), &i = loop_of(nest, inner);
    if (!is_sequential(o) || !is_sequential(i))
      return fail("interchange.scheduled", "loops are interchanged before they are scheduled", outer.name);
    auto bounds = exchanged_bounds({o.symbol, o.begin, o.end, o.step}, {i.symbol, i.begin, i.end, i.step});
    if (!bounds)
      return fail("interchange.bounds",
                  "the bounds of " + i.symbol + " depend on " + o.symbol + " in a way that cannot be exchanged",
                  inner.name);
    sdfg::ScheduleLoop new_inner = o, new_outer = i;
    new_outer.begin = (*bounds)[0].first;
    new_outer.end = (*bounds)[0].second;
    new_inner.begin = (*bounds)[1].first;
    new_inner.end = (*bounds)[1].second;
    new_inner.children = i.children;
    // What was private to an iteration of either loop is private to an iteration of both.
    for (const std::string& p : new_outer.privates) new_inner.privates.push_back(p);
    new_outer.privates.clear();
    new_outer.children = {std::move(new_inner)};
    sdfg::ScheduleTree tree = nest.tree;
    auto [sequence, at] = sdfg::owner_of(tree, outer.name);
    (*sequence)[at] = std::move(new_outer);
    return prove(nest, std::move(tree), "interchange.illegal", outer.name);
  }
};

}  // namespace

constinit const StepInfo interchange_step = declare<Interchange>();

}  // namespace sous::transforms
