// Parallelization: iterations run on several threads.
#include "transforms/step.h"

namespace sous::transforms {

namespace {

struct Parallelize {
  static constexpr std::string_view name = "parallelize";
  static constexpr bool drafted = true;
  static constexpr std::string_view summary =
      "Runs a loop's iterations on several threads; temporaries become private, reductions are split where that is "
      "allowed. Of parallel loops in each other that are a perfect, rectangular band without reductions, the "
      "iterations "
      "are handed out together; inside of others a parallel loop runs in order.";
  static constexpr std::string_view before = "for i: S(i)";
  static constexpr std::string_view after = "parallel for i: S(i)";
  static constexpr std::string_view names = "The loop keeps its name.";
  static constexpr bool reassociates = true;
  static constexpr std::int64_t thread_values[] = {0, 2, 4};
  static constexpr std::int64_t chunk_values[] = {0, 1, 4, 16};
  static constexpr std::string_view kinds[] = {"static", "dynamic"};

  LoopRef loop;
  std::int64_t threads, chunk;
  std::string kind;
  static constexpr auto params = std::tuple{
      param(&Parallelize::loop, {.name = "loop", .doc = "the loop"}),
      param(&Parallelize::threads, {.name = "threads",
                                    .doc = "how many; 0: as many as there are",
                                    .low = 0,
                                    .high = 4096,
                                    .values = thread_values,
                                    .default_value = 0}),
      param(&Parallelize::chunk, {.name = "chunk",
                                  .doc = "iterations handed out at a time; 0: even shares",
                                  .low = 0,
                                  .high = 1 << 20,
                                  .values = chunk_values,
                                  .default_value = 0,
                                  .effect = Effect::Shares}),
      param(&Parallelize::kind,
            {.name = "kind", .doc = "how iterations are handed out", .choices = kinds, .default_value = "static"}),
  };
  static constexpr RefusalInfo refusals[] = {
      {"parallelize.no-loop", "the loop does not exist"},
      {"parallelize.scheduled", "the loop is not sequential any more"},
      {"parallelize.carried",
       "the loop carries a dependence that is neither a temporary's nor a reduction that may be split"},
  };

  Result<Plan> plan(const Nest& nest, const StepContext& context) const {
    const sdfg::ScheduleLoop* old = &loop_of(nest, loop);
    if (!is_sequential(*old)) return fail("parallelize.scheduled", "the loop has a schedule already", loop.name);
    TRY(Independence independence, independent(nest, loop.name, context, "parallelize.carried"));
    sdfg::ScheduleTree tree = nest.tree;
    sdfg::ScheduleLoop& l = *sdfg::find_loop(tree, loop.name);
    l.schedule = sdfg::Parallel{.threads = static_cast<int>(threads),
                                .chunk = static_cast<int>(chunk),
                                .kind = kind == "dynamic" ? sdfg::ParallelKind::Dynamic : sdfg::ParallelKind::Static};
    independence.add_to(l);
    return prove(nest, std::move(tree), "parallelize.carried", loop.name);
  }
};

}  // namespace

constinit const StepInfo parallelize_step = declare<Parallelize>();

}  // namespace sous::transforms
