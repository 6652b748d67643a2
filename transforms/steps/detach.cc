// Node splitting (Kuck, Kuhn, Padua, Leasure, Wolfe 1981): what an update takes from its own iteration is computed in a
// statement of its own. It waits for no other iteration then, and the loop can be distributed behind it.
//
// Condition. The parts read nothing that the loop writes but private scalars, and are computed right before the
// statement, in which they are evaluated in any case: each has the same value there. A product that C's compilers
// contract with the sum around it (sdfg/contraction.h) is not taken apart from the sum; its factors are.
#include <algorithm>

#include "sdfg/contraction.h"
#include "sdfg/planted_fault.h"
#include "transforms/normal/util.h"
#include "transforms/operands.h"
#include "transforms/relocation.h"

namespace sous::transforms {

using sdfg::Memlet;
using sdfg::Node;
using sdfg::ScalarExpr;
using sdfg::ScalarOp;

struct Detach {
  static constexpr std::string_view name = "detach";
  static constexpr std::string_view summary =
      "Computes what updates in a loop's body take from their own iteration in statements of their own.";
  static constexpr std::string_view before = "for i: s = s + exp(x(i))";
  static constexpr std::string_view after =
      "for i:\n"
      "  t = exp(x(i))\n"
      "  s = s + t";
  static constexpr std::string_view names = "All loops keep their names. What s takes is s_p, s_p2, ….";
  static constexpr bool needs_dependences = false;

  LoopRef loop;
  static constexpr auto params =
      std::tuple{param(&Detach::loop, {.name = "loop", .doc = "the loop in whose body the updates stand"})};
  static constexpr RefusalInfo refusals[] = {
      {"detach.no-loop", "the loop does not exist"},
      {"detach.scheduled", "the loop is not sequential any more"},
      {"detach.nothing", "no update in the loop's body computes anything from what the loop does not write"},
  };

  Result<Plan> plan(const Nest& nest, const StepContext&) const {
    if (!is_sequential(loop_of(nest, loop)))
      return fail("detach.scheduled", "the loop " + loop.name + " has a schedule", loop.name);
    sdfg::Sdfg result = sdfg::lower(nest.scop, nest.tree);
    const auto place = sdfg::find_loop(result.root, loop.name);
    SOUS_ASSERT(place);
    sdfg::Loop& here = place->loop();
    std::set<std::string> carried = sdfg::touched(here.body).written;
    for (const std::string& own : here.privates) carried.erase(own);
    normal::Names names(result, "");
    std::vector<Node> body;
    bool detached = false;
    for (Node& node : here.body.nodes) {
      auto* state = std::get_if<sdfg::State>(&node.value);
      const auto update = state != nullptr ? sdfg::as_assignment(*state) : std::nullopt;
      if (!update || !carried.contains(update->out.container)) {
        body.push_back(std::move(node));
        continue;
      }
      const std::vector<ScalarExpr> parts = own_parts(*update, carried);
      std::vector<Replacement> replacements;
      for (const ScalarExpr& part : parts) {
        const std::string scalar = names.fresh(update->out.container + "_p");
        add_place(result, &here, sdfg::temporary(scalar, part.type, {}, sdfg::Storage::stack));
        const Memlet to{.container = scalar, .subset = {}, .combine = {}};
        body.emplace_back(normal::tidy_assignment(names.fresh(state->name + "_p"), to, part, update->inputs));
        replacements.push_back({.from = part, .to = to});
      }
      detached = detached || !parts.empty();
      body.emplace_back(parts.empty() ? *state : replaced(*state, replacements));
    }
    if (!detached) return fail("detach.nothing", "no update in " + loop.name + " computes anything else", loop.name);
    here.body.nodes = std::move(body);
    return restructure(unchanged(nest), Equivalent(result));
  }

 private:
  // The largest parts of the update's code that read nothing of `carried`, each once.
  static std::vector<ScalarExpr> own_parts(const sdfg::Assignment& update, const std::set<std::string>& carried) {
    std::vector<bool> free;
    for (const Memlet& input : update.inputs)
      free.push_back(!carried.contains(input.container) &&
                     std::ranges::all_of(input.subset, [](const sdfg::Expr& e) { return e.reads().empty(); }));
    std::vector<ScalarExpr> parts;
    if (!std::ranges::all_of(free, std::identity())) collect(update.code, free, false, parts);
    return parts;
  }

  static bool is_free(const ScalarExpr& e, const std::vector<bool>& free) {
    bool all = true;
    e.visit([&](const ScalarExpr& one) {
      const bool reads = one.op == ScalarOp::symbolic && !one.symbolic.reads().empty();
      all = all && !reads && (one.op != ScalarOp::input || free[static_cast<std::size_t>(one.input)]);
    });
    return all;
  }

  // `in_sum`: `e` is added to something, so that a product would be contracted with it.
  static void collect(const ScalarExpr& e, const std::vector<bool>& free, bool in_sum, std::vector<ScalarExpr>& parts) {
    if (e.args.empty()) return;
    const bool contracted = in_sum && sdfg::is_product(e) && !planted(Fault::products_detached);
    if (!contracted && is_free(e, free)) {
      if (std::ranges::find(parts, e) == parts.end()) parts.push_back(e);
      return;
    }
    const bool sum = e.op == ScalarOp::add || e.op == ScalarOp::sub || (in_sum && e.op == ScalarOp::neg);
    for (std::size_t k = 0; k < sdfg::operands_in_any_case(e); ++k) collect(e.args[k], free, sum, parts);
  }
};

constinit const StepInfo detach_step = declare<Detach>();

}  // namespace sous::transforms
