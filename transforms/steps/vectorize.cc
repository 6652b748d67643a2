// Vectorization (Allen and Kennedy 1987): groups of iterations run in lockstep, one per lane.
#include "transforms/step.h"

namespace sous::transforms {

namespace {

struct Vectorize {
  static constexpr std::string_view name = "vectorize";
  static constexpr bool drafted = true;
  static constexpr std::string_view summary =
      "Runs a loop's iterations in vector lanes, statement by statement; loops inside it stay loops.";
  static constexpr std::string_view before = "for i: S(i)";
  static constexpr std::string_view after = "simd for i: S(i)";
  static constexpr std::string_view names = "The loop keeps its name.";
  static constexpr bool reassociates = true;
  static constexpr std::int64_t lane_values[] = {0, 4, 8, 2, 16};

  LoopRef loop;
  std::int64_t lanes;
  static constexpr auto params = std::tuple{
      param(&Vectorize::loop, {.name = "loop", .doc = "the loop"}),
      param(&Vectorize::lanes, {.name = "lanes",
                                .doc = "at most so many lanes; 0: as many as the hardware has",
                                .low = 0,
                                .high = 64,
                                .values = lane_values,
                                .default_value = 0,
                                .effect = Effect::Cuts}),
  };
  static constexpr RefusalInfo refusals[] = {
      {"vectorize.no-loop", "the loop does not exist"},
      {"vectorize.scheduled", "the loop is not sequential any more"},
      {"vectorize.carried", "the loop carries a dependence that lockstep execution would break"},
  };

  Result<Plan> plan(const Nest& nest, const StepContext& context) const {
    const sdfg::ScheduleLoop* old = &loop_of(nest, loop);
    if (!is_sequential(*old)) return fail("vectorize.scheduled", "the loop has a schedule already", loop.name);
    sdfg::ScheduleTree tree = nest.tree;
    sdfg::ScheduleLoop& l = *sdfg::find_loop(tree, loop.name);
    l.schedule = sdfg::Simd{.lanes = static_cast<int>(lanes)};
    // Lockstep allows some carried dependences; only where it does not are temporaries and reductions looked for.
    auto plain = prove(nest, tree, "vectorize.carried", loop.name);
    if (plain || plain.error().code != "vectorize.carried") return plain;
    TRY(Independence independence, independent(nest, loop.name, context, "vectorize.carried"));
    // Lanes that stand beside each other do not combine in the order of the iterations.
    for (const sdfg::Reduction& r : independence.reductions)
      if (sdfg::is_float(nest.scop.frame.find(r.container)->type) && !context.reassociate)
        return fail("vectorize.carried",
                    r.container + " is a floating-point reduction, and reassociation is not allowed", loop.name);
    independence.add_to(l);
    return prove(nest, std::move(tree), "vectorize.carried", loop.name);
  }
};

}  // namespace

constinit const StepInfo vectorize_step = declare<Vectorize>();

}  // namespace sous::transforms
