// Joining: the inverse of index-set splitting and of peeling. Two loops that do the same in adjacent ranges are one,
// and so are a loop and what would be its next iteration.
#include <algorithm>

#include "transforms/normal/util.h"
#include "transforms/simplify.h"
#include "transforms/step.h"

namespace sous::transforms {

using sdfg::Expr;

struct Join {
  static constexpr std::string_view name = "join";
  static constexpr std::string_view summary =
      "Makes one loop of two neighbours that do the same, where the second goes on at the point at which the first "
      "ends.";
  static constexpr std::string_view before = "for i in [0, m): S(i)\nfor j in [m, n): S(j)";
  static constexpr std::string_view after = "for i in [0, n): S(i)";
  static constexpr std::string_view names = "The joined loop has the first one's name, and so have the loops in it.";

  LoopRef first, second;
  static constexpr auto params = std::tuple{
      param(&Join::first, {.name = "first", .doc = "the loop that comes first"}),
      param(&Join::second, {.name = "second",
                            .doc = "the loop that goes on; not given: what stands behind is the next iteration",
                            .required = false,
                            .relation = Relation::Behind,
                            .to = "first",
                            .refusal = "join.not-neighbours",
                            .effect = Effect::Joins}),
  };
  static constexpr RefusalInfo refusals[] = {
      {"join.no-loop", "a loop does not exist"},
      {"join.not-neighbours", "second does not directly follow first at the same level, or nothing does"},
      {"join.step", "a loop does not have step 1, is not sequential any more, or has private containers"},
      {"join.range", "the second does not begin where the first ends, or one may end before it begins"},
      {"join.different", "the loops do not do the same"},
  };

  Result<Plan> plan(const Nest& nest, const StepContext&) const {
    const sdfg::ScheduleLoop* a = &loop_of(nest, first);
    TRY_VOID(plain(*a));
    sdfg::ScheduleTree tree = nest.tree;
    auto [sequence, at] = sdfg::owner_of(tree, first.name);
    const sdfg::ScheduleTree behind(sequence->begin() + static_cast<std::ptrdiff_t>(at) + 1, sequence->end());
    // What takes the place of the second: its body in terms of the first's variable, or the body's next iteration.
    sdfg::ScheduleTree expected = a->children, found;
    Expr end = a->end + 1;
    std::size_t taken = a->children.size();
    const sdfg::Surroundings context(nest.scop, sdfg::around(nest.tree, first.name));
    // With begin <= end on both sides the joined range is exactly the two: an empty part is empty at the seam.
    bool adjacent = context.at_most(a->begin, a->end);
    if (second.name.empty()) {
      if (behind.size() < taken) return not_neighbours(first.name);
      expected = sdfg::substitute(expected, {{first.name, a->end}});
      found.assign(behind.begin(), behind.begin() + static_cast<std::ptrdiff_t>(taken));
    } else {
      const sdfg::ScheduleLoop* b = &loop_of(nest, second);
      TRY_VOID(plain(*b));
      adjacent = adjacent && context.at_most(a->end, b->begin) && context.at_most(b->begin, a->end) &&
                 context.at_most(b->begin, b->end);
      found = sdfg::substitute(b->children, {{second.name, Expr::symbol(first.name)}});
      end = b->end;
      taken = 1;
    }
    if (!adjacent) return fail("join.range", "what follows does not go on where " + first.name + " ends", first.name);
    if (region(nest, expected) != region(nest, found))
      return fail("join.different", "what follows does not do the same as " + first.name, first.name);
    // The order stays, and the instances of the second are run by the first one's statements, which are the same.
    TRY(Plan order, prove(nest, nest.tree, "legality.order", first.name));
    std::get<sdfg::ScheduleLoop>((*sequence)[at].value).end = end;
    const auto next = sequence->begin() + static_cast<std::ptrdiff_t>(at) + 1;
    sequence->erase(next, next + static_cast<std::ptrdiff_t>(taken));
    return restructure(std::move(order), Equivalent(sdfg::lower(nest.scop, tree)));
  }

 private:
  static Result<void> plain(const sdfg::ScheduleLoop& loop) {
    if (loop.step == 1 && is_sequential(loop) && loop.privates.empty()) return {};
    return fail("join.step", "loop " + loop.symbol + " has a step, a schedule or privates", loop.symbol);
  }

  std::unexpected<Error> not_neighbours(const std::string& where) const {
    return fail("join.not-neighbours", "what is to be joined does not directly follow " + where, where);
  }

  // What a tree does, with the names of states and inner loops by place.
  static sdfg::Region region(const Nest& nest, const sdfg::ScheduleTree& tree) {
    sdfg::Sdfg holder;
    holder.root = sdfg::lower(nest.scop, tree).root;
    sdfg::Renaming names;
    // No identifier has this sign, so the names are new.
    const auto place = [](std::size_t k) { return "'" + std::to_string(k); };
    const sdfg::NodeNames old = sdfg::node_names(holder.root);
    for (const std::string& symbol : old.symbols) names.symbols.emplace(symbol, place(names.symbols.size()));
    for (const std::string& state : old.states) names.states.emplace(state, place(names.states.size()));
    sdfg::Region result = sdfg::rename(holder, names).root;
    // An assignment that reads one element through two inputs does the same with one: A(i, k) * A(j, k) where i is j.
    sdfg::visit(result, [](sdfg::Node& n) {
      if (std::holds_alternative<sdfg::State>(n.value)) normal::change_code(n, [](auto&&...) { return true; });
    });
    return result;
  }
};

constinit const StepInfo join_step = declare<Join>();

}  // namespace sous::transforms
