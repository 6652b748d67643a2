// Unrolling: several copies of the body per iteration of the loop; order and instances stay as they are.
#include "transforms/step.h"

namespace sous::transforms {

namespace {

struct UnrollStep {
  static constexpr std::string_view name = "unroll";
  static constexpr bool drafted = true;
  static constexpr std::string_view summary = "Writes a loop's body several times per iteration.";
  static constexpr std::string_view before = "for i: S(i)";
  static constexpr std::string_view after = "for i in steps of 4: { S(i); S(i+1); S(i+2); S(i+3) }";
  static constexpr std::string_view names = "The loop keeps its name.";
  static constexpr std::int64_t factor_values[] = {4, 2, 8};

  LoopRef loop;
  std::int64_t factor;
  static constexpr auto params = std::tuple{
      param(&UnrollStep::loop, {.name = "loop", .doc = "the loop"}),
      param(&UnrollStep::factor, {.name = "factor",
                                  .doc = "how many copies",
                                  .low = 2,
                                  .high = 64,
                                  .values = factor_values,
                                  .default_value = 4,
                                  .effect = Effect::Cuts}),
  };
  static constexpr RefusalInfo refusals[] = {
      {"unroll.no-loop", "the loop does not exist"},
      {"unroll.scheduled", "the loop is not sequential any more"},
  };

  Result<Plan> plan(const Nest& nest, const StepContext&) const {
    const sdfg::ScheduleLoop* old = &loop_of(nest, loop);
    if (!is_sequential(*old)) return fail("unroll.scheduled", "the loop has a schedule already", loop.name);
    sdfg::ScheduleTree tree = nest.tree;
    sdfg::find_loop(tree, loop.name)->schedule = sdfg::Unroll{.factor = static_cast<int>(factor)};
    // The order stays: nothing but an exhausted budget can refuse this.
    return prove(nest, std::move(tree), "legality.order", loop.name);
  }
};

}  // namespace

constinit const StepInfo unroll_step = declare<UnrollStep>();

}  // namespace sous::transforms
