// Index-set splitting and loop peeling (Allen and Kennedy 2001, section 5.7; Griebl, Feautrier, Lengauer 2000): one
// loop becomes two, of the iterations before a point and of those from it on.
#include "transforms/simplify.h"
#include "transforms/step.h"

namespace sous::transforms {

namespace {

using sdfg::Expr;

struct Split {
  static constexpr std::string_view name = "split";
  static constexpr std::string_view summary =
      "Cuts a loop's iterations in two at a point: an outer loop's variable (such as a tile's start) or the loop's own "
      "begin or end, plus an offset. Conditions and bounds that this decides are simplified.";
  static constexpr std::string_view before = "for i: for j in [0, n): S(i, j)";
  static constexpr std::string_view after =
      "for i:\n"
      "  for j in [0, min(i + offset, n)): S(i, j)\n"
      "  for j_s in [max(i + offset, 0), n): S(i, j_s)";
  static constexpr std::string_view names =
      "The first part keeps its names; the loops of the second that the first has, too, are j_s and so on (j_s2 if "
      "that "
      "is taken). A part of a single iteration is no loop any more: then the other keeps the name.";
  static constexpr std::int64_t offset_values[] = {1, 0, -1, 4, 8, 32, 2};

  LoopRef loop, at;
  std::int64_t offset;
  static constexpr auto params = std::tuple{
      param(&Split::loop, {.name = "loop", .doc = "the loop that is cut"}),
      param(&Split::at, {.name = "at",
                         .doc = "the loop whose variable is the point; not given: the loop's begin (offset 0 and "
                                "more) or its end (below 0), which peels iterations off",
                         .required = false,
                         .relation = Relation::Around,
                         .to = "loop",
                         .refusal = "split.not-around"}),
      param(&Split::offset, {.name = "offset",
                             .doc = "added to the point",
                             .low = -(1 << 20),
                             .high = 1 << 20,
                             .values = offset_values,
                             .default_value = 0}),
  };
  static constexpr RefusalInfo refusals[] = {
      {"split.no-loop", "the loop does not exist"},
      {"split.not-around", "at is not a loop around the loop"},
      {"split.step", "the loop does not have step 1, or is not sequential any more"},
      {"split.nothing", "one of the parts would never run"},
      {"split.illegal", "the loop has a private container, which would be one of two loops"},
  };

  Result<Plan> plan(const Nest& nest, const StepContext&) const {
    const sdfg::ScheduleLoop* old = &loop_of(nest, loop);
    if (old->step != 1 || !is_sequential(*old))
      return fail("split.step", "the loop " + loop.name + " has a step or a schedule", loop.name);
    const Expr start = !at.name.empty() ? Expr::symbol(at.name) : offset < 0 ? old->end : old->begin;
    const Expr point = start + offset;

    const sdfg::Surroundings context(nest.lifted, sdfg::around(nest.tree, loop.name));
    const auto part = [&](const sdfg::ScheduleLoop& one) {
      return without_unused_privates(nest.lifted, simplified(without_single_iteration(one, context), context));
    };
    sdfg::ScheduleLoop low = *old;
    low.end = Expr::min(old->end, point);
    const sdfg::ScheduleTree first = part(low);
    sdfg::ScheduleLoop high = second_copy(nest.lifted, nest.tree, first, *old, "_s");
    high.begin = Expr::max(old->begin, point);
    const sdfg::ScheduleTree second = part(high);
    if (first.empty() || second.empty())
      return fail("split.nothing", "all iterations of " + loop.name + " are on one side of the point", loop.name);
    sdfg::ScheduleTree tree = nest.tree;
    auto [sequence, position] = sdfg::owner_of(tree, loop.name);
    const auto here = sequence->erase(sequence->begin() + static_cast<std::ptrdiff_t>(position));
    sequence->insert(sequence->insert(here, second.begin(), second.end()), first.begin(), first.end());
    return prove(nest, std::move(tree), "split.illegal", loop.name);
  }
};

}  // namespace

constinit const StepInfo split_step = declare<Split>();

}  // namespace sous::transforms
