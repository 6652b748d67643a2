// Joining: the inverse of index-set splitting. Two loops that do the same in adjacent ranges are one.
#include "transforms/simplify.h"
#include "transforms/step.h"

namespace sous::transforms {

namespace {

using sdfg::Expr;

struct Join {
  static constexpr std::string_view name = "join";
  static constexpr std::string_view summary =
      "Makes one loop of two neighbours that do the same, where the second goes on at the point at which the first "
      "ends.";
  static constexpr std::string_view before = "for i in [0, m): S(i)\nfor j in [m, n): S(j)";
  static constexpr std::string_view after = "for i in [0, n): S(i)";
  static constexpr std::string_view names = "The joined loop has the first one's name, and so have the loops in it.";
  static constexpr bool reassociates = false;

  LoopRef first, second;
  static constexpr auto params = std::tuple{
      param(&Join::first, {.name = "first", .doc = "the loop that comes first"}),
      param(&Join::second, {.name = "second", .doc = "the loop directly behind it, at the same level"}),
  };
  static constexpr RefusalInfo refusals[] = {
      {"join.no-loop", "a loop does not exist"},
      {"join.not-neighbours", "second does not directly follow first at the same level"},
      {"join.step", "a loop does not have step 1, is not sequential any more, or has private containers"},
      {"join.range", "the second does not begin where the first ends, or one may end before it begins"},
      {"join.different", "the loops do not do the same"},
  };

  Result<Plan> plan(const Nest& nest, const StepContext&) const {
    TRY(const sdfg::ScheduleLoop* a, require_loop(nest, first, name));
    TRY(const sdfg::ScheduleLoop* b, require_loop(nest, second, name));
    sdfg::ScheduleTree tree = nest.tree;
    auto [sequence, at] = sdfg::owner_of(tree, first.name);
    auto [other, behind] = sdfg::owner_of(tree, second.name);
    if (sequence != other || behind != at + 1)
      return fail("join.not-neighbours", second.name + " does not directly follow " + first.name, second.name);
    for (const sdfg::ScheduleLoop* loop : {a, b})
      if (loop->step != 1 || !is_sequential(*loop) || !loop->privates.empty())
        return fail("join.step", "loop " + loop->symbol + " has a step, a schedule or privates", loop->symbol);
    // With begin <= end on both sides the joined range is exactly the two: an empty part is empty at the seam.
    const sdfg::Surroundings context(nest.lifted, sdfg::around(nest.tree, first.name));
    const bool adjacent = context.at_most(a->end, b->begin) && context.at_most(b->begin, a->end);
    if (!adjacent || !context.at_most(a->begin, a->end) || !context.at_most(b->begin, b->end))
      return fail("join.range", second.name + " does not go on where " + first.name + " ends", second.name);
    if (body(nest, *a) != body(nest, *b))
      return fail("join.different", first.name + " and " + second.name + " do not do the same", second.name);
    // The order stays, and the instances of the second are run by the first one's statements, which are the same.
    TRY(Plan order, prove(nest, nest.tree, "legality.order", first.name));
    std::get<sdfg::ScheduleLoop>((*sequence)[at].value).end = b->end;
    sequence->erase(sequence->begin() + static_cast<std::ptrdiff_t>(behind));
    return restructure(std::move(order), sdfg::lower(nest.lifted, tree));
  }

 private:
  // What an iteration does, in names by place.
  static sdfg::Region body(const Nest& nest, const sdfg::ScheduleLoop& loop) {
    sdfg::Sdfg holder;
    holder.root = sdfg::lower(nest.lifted, {loop}).root;
    auto& outer = std::get<sdfg::Loop>(holder.root.nodes[0].value);
    outer.begin = outer.end = 0;
    sdfg::Renaming names;
    sdfg::visit(holder.root, [&](const sdfg::Node& n) {
      if (const auto* l = std::get_if<sdfg::Loop>(&n.value)) {
        // No identifier has this sign, so the names are new.
        names.symbols.emplace(l->symbol, "'" + std::to_string(names.symbols.size()));
      } else if (const auto* s = std::get_if<sdfg::State>(&n.value)) {
        names.states.emplace(s->name, "'" + std::to_string(names.states.size()));
      }
    });
    return sdfg::rename(holder, names).root;
  }
};

}  // namespace

constinit const StepInfo join_step = declare<Join>();

}  // namespace sous::transforms
