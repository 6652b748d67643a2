// Statement reordering (Bacon, Graham and Sharp 1994), of whole loops: so that those to be fused become neighbours.
#include <utility>

#include "transforms/step.h"

namespace sous::transforms {

namespace {

struct Reorder {
  static constexpr std::string_view name = "reorder";
  static constexpr std::string_view summary = "Exchanges two neighbouring loops that do not depend on each other.";
  static constexpr std::string_view before = "for i: S(i)\nfor j: T(j)";
  static constexpr std::string_view after = "for j: T(j)\nfor i: S(i)";
  static constexpr std::string_view names = "All loops keep their names.";

  LoopRef first, second;
  static constexpr auto params = std::tuple{
      param(&Reorder::first, {.name = "first", .doc = "the loop that comes first"}),
      param(&Reorder::second, {.name = "second",
                               .doc = "the loop that goes before it",
                               .relation = Relation::Behind,
                               .to = "first",
                               .refusal = "reorder.not-neighbours"}),
  };
  static constexpr RefusalInfo refusals[] = {
      {"reorder.no-loop", "a loop does not exist"},
      {"reorder.not-neighbours", "second does not directly follow first at the same level"},
      {"reorder.illegal", "a dependence would be reversed"},
  };

  Result<Plan> plan(const Nest& nest, const StepContext&) const {
    sdfg::ScheduleTree tree = nest.tree;
    const auto [sequence, at] = sdfg::owner_of(tree, first.name);
    std::swap((*sequence)[at], (*sequence)[at + 1]);
    return prove(nest, std::move(tree), "reorder.illegal", first.name);
  }
};

}  // namespace

constinit const StepInfo reorder_step = declare<Reorder>();

}  // namespace sous::transforms
