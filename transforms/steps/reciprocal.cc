// Division by a divisor that does not change in a loop: its reciprocal is computed once, ahead of the loop, and each
// division becomes a product and two fused multiply-adds with the same bits (Brisebarre, Muller and Raina 2004; see
// targets/runtime/sous.h, which also says where the division itself is done).
//
// Condition. The divisor has one value in all iterations: its operands are constants, symbols from outside the loop and
// elements at fixed places that nothing in the loop writes, under whatever name. And it may be computed ahead of the
// loop: the divisor is read, and an error in it made, only where the loop divides by it at least once. Loops and
// conditions between the loop and the division are either shown to run in each iteration of what is around them, or do
// not depend on those; then they are the condition under which the reciprocal is computed.
#include <algorithm>
#include <cmath>

#include "sdfg/mathematics.h"
#include "sdfg/planted_fault.h"
#include "sdfg/polyhedral.h"
#include "sdfg/scalar_eval.h"
#include "sdfg/surroundings.h"
#include "transforms/normal/util.h"
#include "transforms/operands.h"
#include "transforms/step.h"
#include "transforms/tile_bounds.h"
#include "transforms/unwritten.h"

namespace sous::transforms {

namespace {

using sdfg::ElementType;
using sdfg::Expr;
using sdfg::Memlet;
using sdfg::Node;
using sdfg::ScalarExpr;
using sdfg::ScalarOp;

// A divisor, and where it and its reciprocal are kept.
struct Divisor {
  ScalarExpr code;
  std::vector<Memlet> inputs;
  std::vector<ScalarExpr> needs;  // the loop divides by it only if all of them hold
  std::string name, reciprocal;
};

ScalarExpr one_over(const ScalarExpr& d) { return ScalarExpr::binary(ScalarOp::div, ScalarExpr::real(1, d.type), d); }

ScalarExpr divide_by(ScalarExpr x, ScalarExpr d, ScalarExpr y) {
  const ElementType type = x.type;
  return {.op = ScalarOp::divide_by,
          .type = type,
          .args = {std::move(x), std::move(d), std::move(y)},
          .input = 0,
          .bits = 0,
          .symbolic = {}};
}

// Constants that targets divide by in the ordinary way: where it would be done anyway, and powers of two, by which
// compilers multiply.
bool is_easy(const ScalarExpr& constant) {
  const double value = std::fabs(constant.real_value());
  int exponent = 0;
  return !std::isnormal(value) || std::frexp(value, &exponent) == 0.5;
}

class Rewriter {
 public:
  Rewriter(const Nest& nest, const sdfg::Sdfg& sdfg, const sdfg::Loop& loop)
      : sdfg_(sdfg), loop_(loop), written_(sdfg::touched(loop.body).written), names_(sdfg) {
    const std::vector<sdfg::ScheduleNode> chain = sdfg::around(nest.tree, loop.symbol);
    for (const Expr& e : sdfg.assumptions)
      if (sdfg::is_quasi_affine(e)) outside_.push_back(sdfg::at_most(0, e));
    for (const sdfg::ScheduleNode& node : chain) {
      if (const auto* l = std::get_if<sdfg::ScheduleLoop>(&node.value);
          l && sdfg::is_quasi_affine(l->begin) && sdfg::is_quasi_affine(l->end))
        sdfg::append(outside_, sdfg::runs(l->begin, l->end, l->step, Expr::symbol(l->symbol)));
      if (const auto* g = std::get_if<sdfg::ScheduleGuard>(&node.value)) outside_.push_back(g->condition);
    }
    note(loop);
    sdfg::visit(loop.body, [&](const Node& n) {
      if (const auto* l = std::get_if<sdfg::Loop>(&n.value)) note(*l);
    });
    rewrite_loop(loop, {.known = sdfg::Surroundings(nest.lifted, chain)});
  }

  sdfg::Region body;  // of the loop, rewritten
  bool changed = false;
  std::vector<Divisor> divisors;

 private:
  // What is around a statement, from the loop on.
  struct Around {
    sdfg::Surroundings known;
    std::vector<ScalarExpr> needs = {};
    bool may_not_run = false;  // for another reason than those
  };

  void note(const sdfg::Loop& l) {
    inner_.insert(l.symbol);
    written_.insert(l.privates.begin(), l.privates.end());
    for (const sdfg::Reduction& r : l.reductions) written_.insert(r.container);
  }
  bool is_outside(const Expr& e) const {
    return e.is_valid() && e.reads().empty() &&
           std::ranges::none_of(e.symbols(), [&](const std::string& s) { return inner_.contains(s); });
  }

  // The statements inside run only where `condition` holds.
  void need(Around& around, const ScalarExpr& condition) const {
    if (around.known.always(condition)) return;
    bool fixed = sdfg::is_affine_condition(condition);
    condition.visit(
        [&](const ScalarExpr& e) { fixed = fixed && (e.op != ScalarOp::symbolic || is_outside(e.symbolic)); });
    if (fixed)
      around.needs.push_back(condition);
    else
      around.may_not_run = true;
  }

  sdfg::Region rewrite_loop(const sdfg::Loop& l, Around around) {
    if (l.begin.reads().empty() && l.end.reads().empty())
      need(around, l.step > 0 ? sdfg::at_most(l.begin, l.end - 1) : sdfg::at_most(l.end + 1, l.begin));
    else
      around.may_not_run = true;
    sdfg::ScheduleLoop entered;
    entered.symbol = l.symbol;
    entered.begin = l.begin;
    entered.end = l.end;
    entered.step = l.step;
    around.known.enter(entered);
    sdfg::Region result = region(l.body, around);
    if (&l == &loop_) body = result;
    return result;
  }

  sdfg::Region region(sdfg::Region region, const Around& around) {
    for (Node& n : region.nodes)
      match(
          n.value, [&](sdfg::State& s) { state(s, around); },
          [&](sdfg::Loop& l) { l.body = rewrite_loop(sdfg::Loop(l), around); },
          [&](sdfg::If& i) {
            Around then = around, otherwise = around;
            const ScalarExpr no = ScalarExpr::unary(ScalarOp::logical_not, i.condition.code);
            if (i.condition.inputs.empty() && sdfg::is_affine_condition(i.condition.code)) {
              need(then, i.condition.code);
              need(otherwise, no);
              then.known.where(i.condition.code);
              otherwise.known.where(no);
            } else {
              then.may_not_run = otherwise.may_not_run = true;
            }
            i.then_body = this->region(std::move(i.then_body), then);
            i.else_body = this->region(std::move(i.else_body), otherwise);
          },
          [](sdfg::While&) {}, [](sdfg::Return&) {});
    return region;
  }

  void state(sdfg::State& s, const Around& around) {
    auto a = sdfg::as_assignment(s);
    if (!a) return;
    std::vector<Memlet> inputs = a->inputs;
    ScalarExpr code = scalar(a->code, inputs, around, true);
    if (code != a->code) s = normal::tidy_assignment(s.name, a->out, std::move(code), std::move(inputs));
  }

  // `always`: it is evaluated whenever the statement runs.
  ScalarExpr scalar(const ScalarExpr& e, std::vector<Memlet>& inputs, const Around& around, bool always) {
    const bool chooses = e.op == ScalarOp::select || e.op == ScalarOp::logical_and || e.op == ScalarOp::logical_or;
    const bool repeated = e.op == ScalarOp::div && sdfg::is_float(e.type) && !is_fixed(e.args[0], inputs) &&
                          is_fixed(e.args[1], inputs) && may_come_early(e.args[1], around, always);
    ScalarExpr result = e;
    for (std::size_t k = 0; k < result.args.size(); ++k) {
      if (repeated && k == 1) continue;
      result.args[k] = scalar(e.args[k], inputs, around, always && !(chooses && k > 0));
    }
    if (!repeated) return result;
    const ScalarExpr& d = e.args[1];
    if (d.op == ScalarOp::constant) {
      if (is_easy(d)) return result;
      changed = true;
      ScalarExpr y = d;
      y.bits = *sdfg::evaluate(one_over(d), {}, {});
      return divide_by(result.args[0], d, y);
    }
    changed = true;
    const Divisor& kept = divisor(d, inputs, around);
    const auto read = [&](const std::string& name) {
      inputs.push_back({.container = name, .subset = {}, .combine = std::nullopt});
      return ScalarExpr::make_input(static_cast<int>(inputs.size()) - 1, d.type);
    };
    const ScalarExpr by = read(kept.name);
    return divide_by(result.args[0], by, read(kept.reciprocal));
  }

  // Whether the value is the same in all iterations.
  bool is_fixed(const ScalarExpr& e, const std::vector<Memlet>& inputs) {
    if (e.op == ScalarOp::input) return is_fixed(inputs[static_cast<std::size_t>(e.input)]);
    if (e.op == ScalarOp::symbolic) return is_outside(e.symbolic);
    return std::ranges::all_of(e.args, [&](const ScalarExpr& arg) { return is_fixed(arg, inputs); });
  }
  bool is_fixed(const Memlet& m) {
    const auto known = std::ranges::find(asked_, m, &std::pair<Memlet, bool>::first);
    if (known != asked_.end()) return known->second;
    return asked_.emplace_back(m, is_unchanged(m)).second;
  }
  bool is_unchanged(const Memlet& m) const {
    const sdfg::Container& c = *sdfg_.find(m.container);
    if (c.storage == sdfg::Storage::device_global || c.storage == sdfg::Storage::device_shared) return false;
    Read read{.container = m.container, .element = {}, .loops = {}, .conditions = {}};
    for (const sdfg::Dim& d : m.subset) {
      if (d.end || !is_outside(d.begin)) return false;
      read.element.push_back(d.begin);
    }
    if (planted(Fault::divisor_written)) return true;
    for (const std::string& w : written_) {
      if (w != m.container && normal::may_overlap(sdfg_, w, m.container)) return false;
      if (w != m.container) continue;
      if (!std::ranges::all_of(read.element, sdfg::is_quasi_affine)) return false;
      const auto unwritten = is_unwritten(read, {{loop_}}, outside_);
      if (!unwritten || !*unwritten) return false;  // not shown to be, perhaps for want of budget
    }
    return true;
  }

  // Whether it may be computed ahead of the loop, where `needs` hold: because the loop computes it then, too, or
  // because it reads nothing and cannot fail.
  static bool may_come_early(const ScalarExpr& e, const Around& around, bool always) {
    if (sdfg::sets_errno(e)) return false;  // which call sets it last is part of the program
    if (never_fails(e) && !reads_memory(e)) return true;
    return !around.may_not_run && (never_fails(e) || always);
  }
  static bool reads_memory(const ScalarExpr& e) {
    return e.op == ScalarOp::input || std::ranges::any_of(e.args, reads_memory);
  }

  const Divisor& divisor(const ScalarExpr& code, const std::vector<Memlet>& inputs, const Around& around) {
    Divisor wanted{.code = code, .inputs = inputs, .needs = {}, .name = {}, .reciprocal = {}};
    normal::tidy_inputs(wanted.code, wanted.inputs);
    if (!wanted.inputs.empty() || !never_fails(code)) wanted.needs = around.needs;
    if (planted(Fault::divisor_read_early)) wanted.needs.clear();
    for (const Divisor& d : divisors)
      if (d.code == wanted.code && d.inputs == wanted.inputs && d.needs == wanted.needs) return d;
    wanted.name = names_.fresh("divisor");
    wanted.reciprocal = names_.fresh("reciprocal");
    divisors.push_back(std::move(wanted));
    return divisors.back();
  }

  const sdfg::Sdfg& sdfg_;
  const sdfg::Loop& loop_;
  std::set<std::string> inner_;    // symbols bound at or below the loop
  std::set<std::string> written_;  // what something there writes, or has for itself
  std::vector<ScalarExpr> outside_;
  std::vector<std::pair<Memlet, bool>> asked_;
  normal::Names names_;
};

struct Reciprocal {
  static constexpr std::string_view name = "reciprocal";
  static constexpr std::string_view summary =
      "Computes the reciprocals of divisors that do not change in a loop ahead of it; each division becomes a product "
      "and two fused multiply-adds with the same result, to the last bit.";
  static constexpr std::string_view before = "for i: x(i) = x(i) / d";
  static constexpr std::string_view after =
      "y = 1 / d\n"
      "for i: x(i) = divide_by(x(i), d, y)      (q = x(i)*y; r = x(i) - q*d; q + r*y)";
  static constexpr std::string_view names =
      "All loops keep their names; divisors are kept in divisor, divisor_2, …, their reciprocals in reciprocal, …";
  static constexpr bool reassociates = false;
  static constexpr bool needs_dependences = false;

  LoopRef loop;
  static constexpr auto params = std::tuple{
      param(&Reciprocal::loop, {.name = "loop", .doc = "the loop in which the same divisors divide again and again"})};
  static constexpr RefusalInfo refusals[] = {
      {"reciprocal.no-loop", "the loop does not exist"},
      {"reciprocal.nothing",
       "no floating-point division in the loop has a divisor that is known to be the same in all iterations and may be "
       "computed ahead of them, other than a power of two"},
  };

  Result<Plan> plan(const Nest& nest, const StepContext&) const {
    sdfg::Sdfg result = sdfg::lower(nest.lifted, nest.tree);
    const auto place = sdfg::find_loop(result.root, loop.name);
    SOUS_ASSERT(place);
    Rewriter rewriter(nest, result, place->loop());
    if (!rewriter.changed)
      return fail("reciprocal.nothing", "no divisor in " + loop.name + " is known to stay the same", loop.name);
    place->loop().body = std::move(rewriter.body);
    normal::Names names(result);
    std::vector<Node> ahead;
    for (const Divisor& d : rewriter.divisors) {
      for (const std::string& scalar : {d.name, d.reciprocal}) {
        names.fresh(scalar);
        result.containers.push_back({.name = scalar,
                                     .type = d.code.type,
                                     .shape = {},
                                     .strides = {},
                                     .offset = 0,
                                     .storage = sdfg::Storage::registers,
                                     .transient = true,
                                     .constant = false,
                                     .alias_class = 0});
        // Each iteration of the loop around has its own: it may run in parallel.
        if (!place->around.empty()) place->around.back()->privates.push_back(scalar);
      }
      const Memlet by{.container = d.name, .subset = {}, .combine = std::nullopt};
      const Memlet y{.container = d.reciprocal, .subset = {}, .combine = std::nullopt};
      std::vector<Node> both = {sdfg::assignment(names.fresh("set_" + d.name), by, d.code, d.inputs),
                                sdfg::assignment(names.fresh("set_" + d.reciprocal), y,
                                                 one_over(ScalarExpr::make_input(0, d.code.type)), {by})};
      if (d.needs.empty())
        ahead.insert(ahead.end(), both.begin(), both.end());
      else
        ahead.emplace_back(sdfg::If{
            .condition = {.code = all_of(d.needs), .inputs = {}}, .then_body = {std::move(both)}, .else_body = {}});
    }
    const auto at = place->owner->nodes.begin() + static_cast<std::ptrdiff_t>(place->at);
    place->owner->nodes.insert(at, ahead.begin(), ahead.end());
    return restructure(unchanged(nest), result);
  }
};

}  // namespace

constinit const StepInfo reciprocal_step = declare<Reciprocal>();

}  // namespace sous::transforms
