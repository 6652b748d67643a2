// Loop reversal (Wolfe 1989): the last iteration first.
#include "transforms/step.h"

namespace sous::transforms {

namespace {

struct Reverse {
  static constexpr std::string_view name = "reverse";
  static constexpr bool drafted = true;
  static constexpr std::string_view summary = "Runs a loop's iterations from the last to the first.";
  static constexpr std::string_view before = "for i in [0, n): S(i)";
  static constexpr std::string_view after = "for i in [0, n): S(n - 1 - i)";
  static constexpr std::string_view names = "The loop keeps its name.";

  LoopRef loop;
  static constexpr auto params = std::tuple{
      param(&Reverse::loop, {.name = "loop", .doc = "the loop that is reversed"}),
  };
  static constexpr RefusalInfo refusals[] = {
      {"reverse.no-loop", "the loop does not exist"},
      {"reverse.step", "the loop does not have step 1"},
      {"reverse.illegal", "the loop carries a dependence"},
  };

  Result<Plan> plan(const Nest& nest, const StepContext&) const {
    const sdfg::ScheduleLoop* old = &loop_of(nest, loop);
    if (old->step != 1) return fail("reverse.step", "loop " + loop.name + " does not have step 1", loop.name);
    sdfg::ScheduleTree tree = nest.tree;
    sdfg::ScheduleLoop& l = *sdfg::find_loop(tree, loop.name);
    l.children = sdfg::substitute(l.children, {{l.symbol, l.begin + l.end - 1 - sdfg::Expr::symbol(l.symbol)}});
    return prove(nest, std::move(tree), "reverse.illegal", loop.name);
  }
};

}  // namespace

constinit const StepInfo reverse_step = declare<Reverse>();

}  // namespace sous::transforms
