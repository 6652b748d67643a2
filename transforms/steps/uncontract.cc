// Accumulation without fused multiply-adds. Where a chain of sums x + a*b is the longest path, the addition alone has
// the shorter latency (2 cycles against 4 on AMD's Zen 5, by Fog's instruction tables of 2025): the products of the
// next iterations are ready by then. Where throughput counts, it is twice the work.
//
// Condition. Leave to reassociate. C lets a compiler contract x + a*b into one operation, and does not ask for it (C17
// 6.5, FP_CONTRACT); but the program's compiler does, and what it makes is what the rewritten program computes.
#include "sdfg/contraction.h"
#include "transforms/step.h"

namespace sous::transforms {

namespace {

using sdfg::ScalarExpr;
using sdfg::ScalarOp;

// Wraps the products that are added to the accumulator, an input, on the way from the root down to it. Whether it is
// there at all.
bool uncontract_sum(ScalarExpr& e, int accumulator, bool& changed) {
  if (e.op == ScalarOp::input) return e.input == accumulator;
  if (e.op != ScalarOp::add && e.op != ScalarOp::sub) return false;
  for (const std::size_t k : {std::size_t{0}, std::size_t{1}}) {
    if (!uncontract_sum(e.args[k], accumulator, changed)) continue;
    ScalarExpr& other = e.args[1 - k];
    changed = changed || sdfg::is_product(other);
    other = sdfg::kept_apart(std::move(other));
    return true;
  }
  return false;
}

bool uncontract_below(sdfg::Region& region) {
  bool changed = false;
  for (sdfg::Node& n : region.nodes)
    match(
        n.value,
        [&](sdfg::State& s) {
          auto a = sdfg::as_assignment(s);
          if (!a) return;
          for (std::size_t k = 0; k < a->inputs.size(); ++k)
            if (a->inputs[k] == a->out) uncontract_sum(a->code, static_cast<int>(k), changed);
          s = sdfg::assignment(s.name, a->out, a->code, a->inputs);
        },
        [&](sdfg::Loop& l) { changed = uncontract_below(l.body) || changed; },
        [&](sdfg::If& i) {
          changed = uncontract_below(i.then_body) || changed;
          changed = uncontract_below(i.else_body) || changed;
        },
        [](sdfg::While&) {});
  return changed;
}

}  // namespace

struct Uncontract {
  static constexpr std::string_view name = "uncontract";
  static constexpr std::string_view summary =
      "Adds products to accumulators in two operations instead of a fused one: a shorter chain of dependent "
      "operations, "
      "for more work.";
  static constexpr std::string_view before = "for i: s = fma(a(i), b(i), s)";
  static constexpr std::string_view after = "for i: s = s + (a(i) * b(i))";
  static constexpr std::string_view names = "All loops keep their names.";
  static constexpr bool needs_dependences = false;

  LoopRef loop;
  static constexpr auto params =
      std::tuple{param(&Uncontract::loop, {.name = "loop", .doc = "the loop in which products are accumulated"})};
  static constexpr RefusalInfo refusals[] = {
      {"uncontract.no-loop", "the loop does not exist"},
      {"uncontract.leave", "the sums would be rounded otherwise, and reassociation is not allowed"},
      {"uncontract.nothing", "no product is added to an accumulator in the loop"},
  };

  Result<Plan> plan(const Nest& nest, const StepContext& context) const {
    if (!context.reassociate)
      return fail("uncontract.leave", "the sums would be rounded otherwise, and reassociation is not allowed",
                  loop.name);
    sdfg::Sdfg result = sdfg::lower(nest.scop, nest.tree);
    const auto place = sdfg::find_loop(result.root, loop.name);
    SOUS_ASSERT(place);
    if (!uncontract_below(place->loop().body))
      return fail("uncontract.nothing", "no product is added to an accumulator in " + loop.name, loop.name);
    return restructure(unchanged(nest), Equivalent(result));
  }
};

constinit const StepInfo uncontract_step = declare<Uncontract>();

}  // namespace sous::transforms
