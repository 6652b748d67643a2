// Index-set splitting and loop peeling (Allen and Kennedy 2001, section 5.7; Griebl, Feautrier, Lengauer 2000): one
// loop becomes two, of the iterations before a point and of those from it on.
//
// Condition. The instances stay in their order. A container that is private to loops of both parts (to the loop itself,
// or to one inside) becomes two. None of its values crosses the iterations of such a loop (sdfg::respects), so that
// each of those in the second part finds its own in the second container; and since the two parts follow each other as
// the iterations did, no order needs a proof then.
#include <algorithm>
#include <set>

#include "transforms/normal/util.h"
#include "transforms/relocation.h"
#include "transforms/simplify.h"
#include "transforms/step.h"

namespace sous::transforms {

namespace {

using sdfg::Expr;
using sdfg::ScheduleTree;

// What is private to a loop of the tree.
std::set<std::string> privates_in(const ScheduleTree& tree) {
  std::set<std::string> all;
  for (const std::string& symbol : sdfg::loop_symbols(tree)) {
    const auto& privates = sdfg::find_loop(tree, symbol)->privates;
    all.insert(privates.begin(), privates.end());
  }
  return all;
}

// What the tree's statements touch that is private to none of its loops.
std::set<std::string> touched_in_common(const sdfg::Scop& scop, const ScheduleTree& tree) {
  std::set<std::string> all;
  sdfg::for_each_leaf(tree, [&](const sdfg::ScheduleLeaf& leaf) {
    all.merge(normal::containers_of(scop.statements[static_cast<std::size_t>(leaf.statement)].node));
  });
  for (const std::string& name : privates_in(tree)) all.erase(name);
  return all;
}

}  // namespace

struct Split {
  static constexpr std::string_view name = "split";
  static constexpr std::string_view summary =
      "Cuts a loop's iterations in two at a point: an outer loop's variable (such as a tile's start), where it has "
      "begun "
      "or begins to end in the iterations of one, or its own begin or end; plus an offset. Conditions and bounds that "
      "this "
      "decides are simplified.";
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
  static constexpr std::string_view places[] = {"variable", "begun", "ended"};

  LoopRef loop, at;
  std::string where;
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
      param(&Split::where, {.name = "where",
                            .doc = "what of `at`: its variable; or where the loop has begun in all of its iterations "
                                   "(begun), or has ended in none of them (ended)",
                            .choices = places,
                            .default_value = "variable"}),
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
      {"split.bounds", "where the loop begins or ends has no greatest or least value over the iterations of at"},
      {"split.nothing", "one of the parts would never run"},
      {"split.illegal", "a container that is private to loops of both parts cannot become two"},
  };

  Result<Plan> plan(const Nest& nest, const StepContext&) const {
    const sdfg::ScheduleLoop* old = &loop_of(nest, loop);
    if (old->step != 1 || !is_sequential(*old))
      return fail("split.step", "the loop " + loop.name + " has a step or a schedule", loop.name);
    const auto start = starting_point(nest, *old);
    if (!start)
      return fail("split.bounds", "the bounds of " + loop.name + " have no extremes over " + at.name, loop.name);
    const Expr point = *start + offset;

    const sdfg::Surroundings context(nest.scop, sdfg::around(nest.tree, loop.name));
    const auto part = [&](const sdfg::ScheduleLoop& one) {
      return without_unused_privates(nest.scop, simplified(without_single_iteration(one, context), context));
    };
    sdfg::ScheduleLoop low = *old;
    low.end = Expr::min(old->end, point);
    const ScheduleTree first = part(low);
    sdfg::ScheduleLoop high = second_copy(nest.scop, nest.tree, first, *old, "_s");
    high.begin = Expr::max(old->begin, point);
    const ScheduleTree second = part(high);
    if (first.empty() || second.empty())
      return fail("split.nothing", "all iterations of " + loop.name + " are on one side of the point", loop.name);
    std::set<std::string> doubled, exposed = touched_in_common(nest.scop, first);
    exposed.merge(touched_in_common(nest.scop, second));
    const std::set<std::string> in_first = privates_in(first), in_second = privates_in(second);
    for (const std::string& name : in_first)
      if (in_second.contains(name)) doubled.insert(name);
    // Of a loop that one of the parts does without.
    const std::set<std::string> before = privates_in({*old});
    const bool loses_private = std::ranges::any_of(before, [&](const auto& name) { return exposed.contains(name); });
    const auto with = [&](const ScheduleTree& a, const ScheduleTree& b) {
      ScheduleTree tree = nest.tree;
      auto [sequence, position] = sdfg::owner_of(tree, loop.name);
      const auto here = sequence->erase(sequence->begin() + static_cast<std::ptrdiff_t>(position));
      sequence->insert(sequence->insert(here, b.begin(), b.end()), a.begin(), a.end());
      return tree;
    };
    if (doubled.empty() || loses_private) return prove(nest, with(first, second), "split.illegal", loop.name);
    const auto graph = with_own(nest, with(first, second), second, doubled);
    if (!graph) return fail("split.illegal", "a bound or a subscript reads what is private to two loops", loop.name);
    return restructure(unchanged(nest), Equivalent(*graph));
  }

 private:
  // Nullopt: it is not known.
  std::optional<Expr> starting_point(const Nest& nest, const sdfg::ScheduleLoop& old) const {
    if (at.name.empty()) return offset < 0 ? old.end : old.begin;
    if (where == "variable") return Expr::symbol(at.name);
    const sdfg::ScheduleLoop& around = loop_of(nest, at);
    if (around.step < 0) return std::nullopt;
    return where == "begun" ? greatest(old.begin, at.name, around.begin, around.end - 1)
                            : least(old.end, at.name, around.begin, around.end - 1);
  }

  // The nest in this order, in which the loops of the second part have containers of their own. Nullopt: more than
  // memlets name one.
  static std::optional<sdfg::Sdfg> with_own(const Nest& nest, const ScheduleTree& tree, const ScheduleTree& second,
                                            const std::set<std::string>& doubled) {
    sdfg::Sdfg graph = sdfg::lower(nest.scop, tree);
    normal::Names names(graph);
    for (const std::string& symbol : sdfg::loop_symbols(second)) {
      sdfg::Loop& owner = sdfg::find_loop(graph.root, symbol)->loop();
      for (const std::string& name : std::vector(owner.privates)) {
        if (!doubled.contains(name)) continue;
        if (!is_alone(graph, owner, name)) return std::nullopt;
        sdfg::Container own = *graph.find(name);
        own.name = names.fresh(name + "_s");
        own.alias_class = 0;
        std::erase(owner.privates, name);
        relocate(graph, &owner, owner.body, name, own,
                 [](const sdfg::Subset& subset) { return std::optional(subset); });
      }
    }
    return graph;
  }
};

constinit const StepInfo split_step = declare<Split>();

}  // namespace sous::transforms
