// Loop distribution (fission; Kuck 1977): one loop becomes several, each with a part of the body.
#include "transforms/simplify.h"
#include "transforms/step.h"

namespace sous::transforms {

namespace {

struct Distribute {
  static constexpr std::string_view name = "distribute";
  static constexpr bool drafted = true;
  static constexpr std::string_view summary =
      "Cuts a loop's body before child `at` into two loops, or into all its children.";
  static constexpr std::string_view before = "for i: { S(i); T(i) }";
  static constexpr std::string_view after = "for i: S(i)\nfor i_d: T(i_d)";
  static constexpr std::string_view names =
      "The first loop keeps its name; the others are i_d, i_d2, … (loops inside keep theirs).";
  static constexpr std::int64_t at_values[] = {0, 1, 2, 3};

  LoopRef loop;
  std::int64_t at;
  static constexpr auto params = std::tuple{
      param(&Distribute::loop, {.name = "loop", .doc = "the loop that is cut"}),
      param(&Distribute::at, {.name = "at",
                              .doc = "the child that starts the second loop, from 1; 0: every child its own loop",
                              .low = 0,
                              .high = 1 << 16,
                              .values = at_values,
                              .default_value = 0}),
  };
  static constexpr RefusalInfo refusals[] = {
      {"distribute.no-loop", "the loop does not exist"},
      {"distribute.nothing", "the body has fewer than two parts, or no child with the number at"},
      {"distribute.scheduled", "the loop is not sequential any more"},
      {"distribute.illegal", "a dependence would be reversed"},
  };

  Result<Plan> plan(const Nest& nest, const StepContext&) const {
    const sdfg::ScheduleLoop* old = &loop_of(nest, loop);
    if (!is_sequential(*old))
      return fail("distribute.scheduled", "loops are distributed before they are scheduled", loop.name);
    const auto count = static_cast<std::int64_t>(old->children.size());
    if (count < 2 || at >= count)
      return fail("distribute.nothing", "loop " + loop.name + " has " + std::to_string(count) + " parts", loop.name);
    std::vector<sdfg::ScheduleTree> parts;
    for (std::int64_t k = 0; k < count; ++k) {
      if (k == 0 || at == 0 || k == at) parts.emplace_back();
      parts.back().push_back(old->children[static_cast<std::size_t>(k)]);
    }
    sdfg::ScheduleTree tree = nest.tree, loops;
    auto [sequence, position] = sdfg::owner_of(tree, loop.name);
    sdfg::ScheduleTree taken = nest.tree;  // with the loops made so far, so that names stay unique
    for (std::size_t k = 0; k < parts.size(); ++k) {
      sdfg::ScheduleLoop piece = *old;
      piece.children = std::move(parts[k]);
      piece = std::get<sdfg::ScheduleLoop>(without_unused_privates(nest.scop, {piece})[0].value);
      if (k > 0) {
        piece.symbol = sdfg::fresh_symbol(nest.scop, taken, loop.name + "_d");
        piece.children = sdfg::substitute(piece.children, {{loop.name, sdfg::Expr::symbol(piece.symbol)}});
      }
      loops.emplace_back(piece);
      taken.emplace_back(std::move(piece));
    }
    (*sequence)[position] = loops[0];
    sequence->insert(sequence->begin() + static_cast<std::ptrdiff_t>(position) + 1, loops.begin() + 1, loops.end());
    return prove(nest, std::move(tree), "distribute.illegal", loop.name);
  }
};

}  // namespace

constinit const StepInfo distribute_step = declare<Distribute>();

}  // namespace sous::transforms
