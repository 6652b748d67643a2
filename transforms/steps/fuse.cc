// Loop fusion (Kennedy and McKinley 1993): two neighbouring loops become one; the second may be delayed by some
// iterations.
#include <algorithm>

#include "sdfg/points.h"
#include "transforms/step.h"
#include "transforms/tile_bounds.h"

namespace sous::transforms {

namespace {

using sdfg::Expr;
using sdfg::ScalarExpr;

// Whether nothing below runs where the conditions hold, as far as bounds and guards say.
Result<bool> never_runs(const sdfg::ScheduleTree& tree, const sdfg::Points& where) {
  for (const sdfg::ScheduleNode& n : tree) {
    sdfg::Points inside = where;
    const sdfg::ScheduleTree* below = nullptr;
    match(
        n.value,
        [&](const sdfg::ScheduleLoop& l) {
          inside.exists.push_back(l.symbol);
          sdfg::append(inside.conditions, sdfg::runs(l.begin, l.end, l.step, Expr::symbol(l.symbol)));
          below = &l.children;
        },
        [&](const sdfg::ScheduleGuard& g) {
          inside.conditions.push_back(g.condition);
          below = &g.children;
        },
        [](const sdfg::ScheduleLeaf&) {});
    if (!sdfg::is_affine(inside)) return false;  // a bound that overflows
    TRY(const bool never, below ? never_runs(*below, inside) : sdfg::is_within(inside, {}));
    if (!never) return false;
  }
  return true;
}

struct Fuse {
  static constexpr std::string_view name = "fuse";
  static constexpr bool drafted = true;
  static constexpr std::string_view summary =
      "Makes one loop of two neighbours; where their ranges differ, each body runs under a guard if it needs one.";
  static constexpr std::string_view before = "for i: S(i)\nfor j: T(j)";
  static constexpr std::string_view after = "for i: { S(i); T(i - shift) }";
  static constexpr std::string_view names = "The fused loop has the first one's name.";
  static constexpr std::int64_t shift_values[] = {0, 1, 2, -1};

  LoopRef first, second;
  std::int64_t shift;
  std::string align;
  static constexpr std::string_view align_choices[] = {"no", "begin"};
  static constexpr auto params = std::tuple{
      param(&Fuse::first, {.name = "first", .doc = "the loop that comes first"}),
      param(&Fuse::second, {.name = "second",
                            .doc = "the loop whose body follows",
                            .relation = Relation::Behind,
                            .to = "first",
                            .refusal = "fuse.not-neighbours",
                            .effect = Effect::Joins}),
      param(&Fuse::shift, {.name = "shift",
                           .doc = "iterations by which the second body is delayed",
                           .low = -1024,
                           .high = 1024,
                           .values = shift_values,
                           .default_value = 0}),
      param(&Fuse::align, {.name = "align",
                           .doc = "begin: the shift is counted from where both bodies begin together",
                           .choices = align_choices,
                           .default_value = "no"}),
  };
  static constexpr RefusalInfo refusals[] = {
      {"fuse.no-loop", "a loop does not exist"},
      {"fuse.not-neighbours", "second does not directly follow first at the same level"},
      {"fuse.step", "the loops do not take the same steps from the same begin"},
      {"fuse.align", "how far apart the loops begin is no affine expression"},
      {"fuse.scheduled", "one of the loops is not sequential any more"},
      {"fuse.illegal", "a dependence would be reversed"},
  };

  Result<Plan> plan(const Nest& nest, const StepContext&) const {
    const sdfg::ScheduleLoop *a = &loop_of(nest, first), *b = &loop_of(nest, second);
    // Loops over tiles start together, so that their steps fall on the same values.
    const bool together = a->step > 1 && a->step == b->step && a->begin == b->begin && shift % a->step == 0;
    if ((a->step != 1 || b->step != 1) && !together)
      return fail("fuse.step", "the loops do not take the same steps from the same begin", first.name);
    if (!is_sequential(*a) || !is_sequential(*b))
      return fail("fuse.scheduled", "loops are fused before they are scheduled", first.name);
    sdfg::ScheduleTree tree = nest.tree;
    auto [sequence, at] = sdfg::owner_of(tree, first.name);
    const Expr by = align == "begin" ? a->begin - b->begin + shift : Expr(shift);
    if (!affine(by)) return fail("fuse.align", "how far apart the loops begin is not affine", second.name);
    Expr begin = b->begin + by, end = b->end + by;
    Expr symbol = Expr::symbol(a->symbol);
    sdfg::ScheduleLoop fused = *a;
    fused.begin = Expr::min(a->begin, begin);
    fused.end = Expr::max(a->end, end);
    for (const std::string& p : b->privates)
      if (std::find(fused.privates.begin(), fused.privates.end(), p) == fused.privates.end())
        fused.privates.push_back(p);
    sdfg::ScheduleTree body = guarded(a->children, symbol, a->begin, a->end, fused);
    sdfg::ScheduleTree moved = sdfg::substitute(b->children, {{b->symbol, symbol - by}});
    for (sdfg::ScheduleNode& n : guarded(moved, symbol, begin, end, fused)) body.push_back(std::move(n));
    fused.children = std::move(body);
    (*sequence)[at] = std::move(fused);
    sequence->erase(sequence->begin() + static_cast<std::ptrdiff_t>(at) + 1);
    return prove(nest, std::move(tree), "fuse.illegal", first.name);
  }

 private:
  // Under `begin <= symbol && symbol < end`, as far as the fused loop's own range does not say so already and anything
  // of the body would run elsewhere.
  static sdfg::ScheduleTree guarded(const sdfg::ScheduleTree& body, const Expr& symbol, const Expr& begin,
                                    const Expr& end, const sdfg::ScheduleLoop& fused) {
    const auto leaf = [](const Expr& e) { return ScalarExpr::make_symbolic(e, sdfg::ElementType::i64); };
    std::vector<ScalarExpr> conditions;
    const auto add = [&](const ScalarExpr& condition) {
      sdfg::Points elsewhere{.dims = {fused.symbol}, .exists = {}, .conditions = {}};
      elsewhere.conditions = sdfg::runs(fused.begin, fused.end, fused.step, symbol);
      elsewhere.conditions.push_back(ScalarExpr::unary(sdfg::ScalarOp::logical_not, condition));
      if (!never_runs(body, elsewhere).value_or(false)) conditions.push_back(condition);
    };
    if (begin != fused.begin) add(ScalarExpr::binary(sdfg::ScalarOp::le, leaf(begin), leaf(symbol)));
    if (end != fused.end) add(ScalarExpr::binary(sdfg::ScalarOp::lt, leaf(symbol), leaf(end)));
    if (conditions.empty()) return body;
    return {sdfg::ScheduleGuard{.condition = all_of(conditions), .children = body}};
  }
};

}  // namespace

constinit const StepInfo fuse_step = declare<Fuse>();

}  // namespace sous::transforms
