// Software prefetching (Mowry, Lam and Gupta 1992): a loop asks for what its reads meet some iterations later. Hardware
// follows few streams at a time, and none across pages; blocks of rows that are read side by side are many streams,
// each as long as a row.
//
// Condition. None: a prefetch computes nothing and cannot fault.
#include "transforms/step.h"

namespace sous::transforms {

namespace {

struct Prefetch {
  static constexpr std::string_view name = "prefetch";
  static constexpr std::string_view summary =
      "Asks for what the reads of a loop meet some iterations later, where they move with this loop and with another "
      "one.";
  static constexpr std::string_view before = "for i: for j: s += A[i][j] * x[j]";
  static constexpr std::string_view after = "for i: for j: { prefetch A[i][j+64]; s += A[i][j] * x[j] }";
  static constexpr std::string_view names = "The loop keeps its name.";
  static constexpr bool needs_dependences = false;
  static constexpr std::int64_t distance_values[] = {128, 64, 256, 16};

  LoopRef loop;
  std::int64_t distance = 0;
  static constexpr auto params = std::tuple{
      param(&Prefetch::loop, {.name = "loop", .doc = "the loop"}),
      param(&Prefetch::distance, {.name = "distance",
                                  .doc = "how many iterations ahead",
                                  .low = 1,
                                  .high = sdfg::max_prefetch,
                                  .values = distance_values}),
  };
  static constexpr RefusalInfo refusals[] = {
      {"prefetch.no-loop", "the loop does not exist"},
  };

  Result<Plan> plan(const Nest& nest, const StepContext&) const {
    sdfg::ScheduleTree tree = nest.tree;
    sdfg::find_loop(tree, loop.name)->prefetch = distance;
    return annotated(nest, std::move(tree));
  }
};

}  // namespace

constinit const StepInfo prefetch_step = declare<Prefetch>();

}  // namespace sous::transforms
