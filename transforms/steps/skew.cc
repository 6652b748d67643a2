// Loop skewing (Wolfe 1986): moves a loop's iterations along with those of an outer one. Alone it changes no order; it
// makes interchange, tiling and wavefronts legal.
#include <algorithm>

#include "transforms/step.h"

namespace sous::transforms {

namespace {

struct Skew {
  static constexpr std::string_view name = "skew";
  static constexpr bool drafted = true;
  static constexpr std::string_view summary = "Adds factor times an outer loop's variable to a loop's own.";
  static constexpr std::string_view before = "for i: for j in [0, n): S(i, j)";
  static constexpr std::string_view after = "for i: for j in [2*i, n + 2*i): S(i, j - 2*i)";
  static constexpr std::string_view names = "The loop keeps its name.";
  static constexpr std::int64_t factor_values[] = {1, 2, -1, 3};

  LoopRef loop, by;
  std::int64_t factor;
  static constexpr auto params = std::tuple{
      param(&Skew::by, {.name = "by",
                        .doc = "the loop whose variable is added",
                        .relation = Relation::Around,
                        .to = "loop",
                        .refusal = "skew.not-around"}),
      param(&Skew::loop, {.name = "loop", .doc = "the loop that is skewed"}),
      param(&Skew::factor, {.name = "factor",
                            .doc = "iterations per iteration of the outer loop",
                            .low = -64,
                            .high = 64,
                            .values = factor_values,
                            .default_value = 1}),
  };
  static constexpr RefusalInfo refusals[] = {
      {"skew.no-loop", "a loop does not exist"},
      {"skew.not-around", "by is not a loop around the loop"},
  };

  Result<Plan> plan(const Nest& nest, const StepContext&) const {
    sdfg::ScheduleTree tree = nest.tree;
    sdfg::ScheduleLoop& l = *sdfg::find_loop(tree, loop.name);
    sdfg::Expr shift = sdfg::Expr(factor) * sdfg::Expr::symbol(by.name);
    l.begin = l.begin + shift;
    l.end = l.end + shift;
    l.children = sdfg::substitute(l.children, {{l.symbol, sdfg::Expr::symbol(l.symbol) - shift}});
    // The order stays: nothing but an exhausted budget can refuse this.
    return prove(nest, std::move(tree), "legality.order", loop.name);
  }
};

}  // namespace

constinit const StepInfo skew_step = declare<Skew>();

}  // namespace sous::transforms
