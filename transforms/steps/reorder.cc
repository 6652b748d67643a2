// Statement reordering (Bacon, Graham and Sharp 1994), of a loop and what stands before it: so that loops that are to
// be fused become neighbours.
#include <utility>

#include "transforms/step.h"

namespace sous::transforms {

namespace {

struct Reorder {
  static constexpr std::string_view name = "reorder";
  static constexpr bool drafted = true;
  static constexpr std::string_view summary = "Exchanges a loop with what stands directly before or behind it.";
  static constexpr std::string_view before = "for i: S(i)\nfor j: T(j)";
  static constexpr std::string_view after = "for j: T(j)\nfor i: S(i)";
  static constexpr std::string_view names = "All loops keep their names.";

  static constexpr std::string_view sides[] = {"before", "behind"};

  LoopRef loop;
  std::string to;
  static constexpr auto params = std::tuple{
      param(&Reorder::loop, {.name = "loop", .doc = "the loop that moves"}),
      param(&Reorder::to, {.name = "to",
                           .doc = "whether it goes before what precedes it, or behind what follows",
                           .choices = sides,
                           .default_value = sides[0]}),
  };
  static constexpr RefusalInfo refusals[] = {
      {"reorder.no-loop", "the loop does not exist"},
      {"reorder.nothing", "nothing stands there at the same level"},
      {"reorder.illegal", "a dependence would be reversed"},
  };

  Result<Plan> plan(const Nest& nest, const StepContext&) const {
    sdfg::ScheduleTree tree = nest.tree;
    const auto [sequence, at] = sdfg::owner_of(tree, loop.name);
    const std::size_t last = to == "before" ? at : at + 1;  // of the two
    if (last == 0 || last == sequence->size())
      return fail("reorder.nothing", "nothing stands " + to + " it at the same level", loop.name);
    std::swap((*sequence)[last - 1], (*sequence)[last]);
    return prove(nest, std::move(tree), "reorder.illegal", loop.name);
  }
};

}  // namespace

constinit const StepInfo reorder_step = declare<Reorder>();

}  // namespace sous::transforms
