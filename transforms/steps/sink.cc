// Code sinking: what stands before or behind a loop becomes an iteration of it, so that an imperfect nest becomes a
// perfect one (Wolfe 1996, section 9; the embedding of Kodukula, Ahmed, Pingali 1997).
#include "transforms/step.h"

namespace sous::transforms {

namespace {

using sdfg::Expr;
using sdfg::ScalarExpr;

struct Sink {
  static constexpr std::string_view name = "sink";
  static constexpr bool drafted = true;
  static constexpr std::string_view summary =
      "Moves what stands directly behind a loop, or before it, into the loop, as one more iteration at its end or "
      "begin.";
  static constexpr std::string_view before = "for i: { for k in [0, i): S(i, k); T(i) }";
  static constexpr std::string_view after =
      "for i: for k in [0, i + 1):\n"
      "  if k < i: S(i, k)\n"
      "  if k == i: T(i)";
  static constexpr std::string_view names = "The loop keeps its name.";
  static constexpr std::string_view what_choices[] = {"behind", "before"};
  static constexpr std::int64_t count_values[] = {1, 0, 2};

  LoopRef loop;
  std::string what;
  std::int64_t count;
  static constexpr auto params = std::tuple{
      param(&Sink::loop, {.name = "loop", .doc = "the loop"}),
      param(&Sink::what, {.name = "what",
                          .doc = "which neighbour moves: the one behind the loop or the one before",
                          .choices = what_choices,
                          .default_value = "behind"}),
      param(&Sink::count, {.name = "count",
                           .doc = "how many neighbours on that side move; 0: all of them",
                           .low = 0,
                           .high = 1 << 16,
                           .values = count_values,
                           .default_value = 1}),
  };
  static constexpr RefusalInfo refusals[] = {
      {"sink.no-loop", "the loop does not exist"},
      {"sink.nothing", "nothing stands on that side of the loop, or not so much"},
      {"sink.step", "the loop does not have step 1, or is not sequential any more"},
      {"sink.illegal", "the loop may end before it begins, or what moves uses a container private to the loop"},
  };

  Result<Plan> plan(const Nest& nest, const StepContext&) const {
    const sdfg::ScheduleLoop* old = &loop_of(nest, loop);
    if (old->step != 1 || !is_sequential(*old))
      return fail("sink.step", "the loop " + loop.name + " has a step or a schedule", loop.name);
    sdfg::ScheduleTree tree = nest.tree;
    auto [sequence, at] = sdfg::owner_of(tree, loop.name);
    const bool behind = what == "behind";
    const std::size_t there = behind ? sequence->size() - at - 1 : at;
    const std::size_t many = count == 0 ? there : static_cast<std::size_t>(count);
    if (there == 0 || many > there)
      return fail("sink.nothing", "there is not so much " + what + " the loop " + loop.name, loop.name);
    sdfg::ScheduleLoop grown = *old;
    (behind ? grown.end : grown.begin) = behind ? old->end + 1 : old->begin - 1;
    const auto leaf = [](const Expr& e) { return ScalarExpr::make_symbolic(e, sdfg::ElementType::i64); };
    const auto compare = [&](sdfg::ScalarOp op, const Expr& a, const Expr& b) {
      return ScalarExpr::binary(op, leaf(a), leaf(b));
    };
    const Expr k = Expr::symbol(loop.name);
    const sdfg::ScheduleGuard own{
        .condition = behind ? compare(sdfg::ScalarOp::lt, k, old->end) : compare(sdfg::ScalarOp::le, old->begin, k),
        .children = old->children};
    const auto from = sequence->begin() + static_cast<std::ptrdiff_t>(behind ? at + 1 : at - many);
    const auto to = from + static_cast<std::ptrdiff_t>(many);
    const sdfg::ScheduleGuard moved{.condition = compare(sdfg::ScalarOp::eq, k, behind ? old->end : grown.begin),
                                    .children = sdfg::ScheduleTree(from, to)};
    grown.children = behind ? sdfg::ScheduleTree{own, moved} : sdfg::ScheduleTree{moved, own};
    (*sequence)[at] = std::move(grown);
    sequence->erase(from, to);
    return prove(nest, std::move(tree), "sink.illegal", loop.name);
  }
};

}  // namespace

constinit const StepInfo sink_step = declare<Sink>();

}  // namespace sous::transforms
