#include "transforms/step.h"

#include <algorithm>
#include <functional>

#include "sdfg/extremum.h"
#include "sdfg/planted_fault.h"
#include "sdfg/text.h"
#include "transforms/normal/util.h"

namespace sous::transforms {

using sdfg::Expr;

Result<Plan> prove(const Nest& nest, sdfg::ScheduleTree tree, std::string_view refusal, std::string_view where) {
  if (nest.draft) return Plan(std::move(tree));
  auto legal = sdfg::respects_as(nest.dependences, nest.scop, nest.tree, tree);
  if (legal) return Plan(std::move(tree));
  if (legal.error().code.starts_with("isl.")) return std::unexpected(legal.error());
  return fail(std::string(refusal), legal.error().why, std::string(where));
}

Plan restructure(Plan order, const Equivalent& result) {
  order.restructured_ = sdfg::scop_of(result.graph_);
  order.tree_ = order.restructured_->tree;
  return order;
}

Plan unchanged(const Nest& nest) { return Plan(nest.tree); }

Plan annotated(const Nest& nest, sdfg::ScheduleTree tree) {
  const auto plain = [](sdfg::ScheduleTree t) {
    for (const std::string& symbol : sdfg::loop_symbols(t)) sdfg::find_loop(t, symbol)->prefetch = 0;
    return t;
  };
  SOUS_ASSERT(plain(nest.tree) == plain(tree));
  return Plan(std::move(tree));
}

Nest rewrite(Nest nest, const Plan& plan) {
  nest.tree = plan.tree();
  if (plan.restructured_) {
    nest.scop = *plan.restructured_;
    nest.stale = nest.restructured = true;
  }
  return nest;
}

std::string_view to_string(ParamType type) {
  switch (type) {
    case ParamType::Loop:
      return "loop";
    case ParamType::Loops:
      return "loops";
    case ParamType::Size:
      return "size";
    case ParamType::Sizes:
      return "sizes";
    case ParamType::Integer:
      return "integer";
    case ParamType::Choice:
      return "choice";
  }
  __builtin_unreachable();
}

std::string_view to_string(Relation relation) {
  switch (relation) {
    case Relation::Any:
      return "any";
    case Relation::OnlyInside:
      return "only-inside";
    case Relation::Inside:
      return "inside";
    case Relation::Around:
      return "around";
    case Relation::Behind:
      return "behind";
    case Relation::Band:
      return "band";
    case Relation::BandAroundLoop:
      return "band-around-loop";
  }
  __builtin_unreachable();
}

// --- Binding parameters ---------------------------------------------------------------------------------------------

namespace {

Result<std::int64_t> size_of(const std::string& text, const StepContext& context) {
  TRY(Expr e, sdfg::parse_expr(text));
  auto value = e.evaluate(context.hardware);
  if (!value || *value < 1) return fail("recipe.size", "the size " + text + " has no positive value on this hardware");
  return *value;
}

std::unexpected<Error> wrong_type() { return fail("recipe.parameter", "a parameter has the wrong type"); }

// The value where it has the member's type.
template <class T>
Result<void> take(T& member, const ParamValue& value) {
  const auto* given = std::get_if<T>(&value);
  if (!given) return wrong_type();
  member = *given;
  return {};
}

}  // namespace

Result<void> bind(LoopRef& member, const ParamValue& value, const StepContext&) { return take(member.name, value); }

Result<void> bind(std::vector<LoopRef>& member, const ParamValue& value, const StepContext&) {
  std::vector<std::string> names;
  TRY_VOID(take(names, value));
  for (const std::string& name : names) member.push_back({name});
  return {};
}

Result<void> bind(Size& member, const ParamValue& value, const StepContext& context) {
  const auto* text = std::get_if<std::string>(&value);
  if (!text) return take(member.value, value);
  TRY(member.value, size_of(*text, context));
  return {};
}

Result<void> bind(std::vector<Size>& member, const ParamValue& value, const StepContext& context) {
  if (const auto* numbers = std::get_if<std::vector<std::int64_t>>(&value)) {
    for (std::int64_t n : *numbers) member.push_back({n});
    return {};
  }
  std::vector<std::string> texts;
  TRY_VOID(take(texts, value));
  for (const std::string& text : texts) {
    TRY(std::int64_t n, size_of(text, context));
    member.push_back({n});
  }
  return {};
}

Result<void> bind(std::int64_t& member, const ParamValue& value, const StepContext&) { return take(member, value); }

Result<void> bind(std::string& member, const ParamValue& value, const StepContext&) { return take(member, value); }

// --- Help for steps -------------------------------------------------------------------------------------------------

const sdfg::ScheduleLoop& loop_of(const Nest& nest, const LoopRef& loop) {
  const sdfg::ScheduleLoop* found = sdfg::find_loop(nest.tree, loop.name);
  SOUS_ASSERT(found);
  return *found;
}

Result<void> may_be_kernel(const Nest& nest, const std::vector<LoopRef>& loops, std::string_view refusal) {
  std::vector<std::string> others = sdfg::path_to(nest.tree, loops[0].name);
  const auto below = sdfg::loop_symbols(loop_of(nest, loops.back()).children);
  others.insert(others.end(), below.begin(), below.end());
  for (const LoopRef& loop : loops)
    if (!is_sequential(loop_of(nest, loop)))
      return fail(std::string(refusal), "the loop has a schedule already", loop.name);
  for (const std::string& symbol : others)
    if (sdfg::is_on_gpu(sdfg::find_loop(nest.tree, symbol)->schedule))
      return fail(std::string(refusal), "loop " + symbol + " runs on the GPU already", symbol);
  return {};
}

namespace {

std::optional<Expr> extreme(const Expr& e, const std::string& symbol, const Expr& low, const Expr& high,
                            bool want_least) {
  if (!e.uses(symbol)) return e;
  Expr sum = e.constant_term();
  for (const sdfg::Term& t : e.terms()) {
    const sdfg::Atom& a = t.atoms[0];
    bool least_here = want_least == (t.coefficient > 0);
    if (t.atoms.size() > 1) {
      Expr product = t.coefficient;
      for (const sdfg::Atom& factor : t.atoms) {
        if (factor.kind != sdfg::AtomKind::Symbol || factor.name == symbol) return std::nullopt;
        product = product * Expr::symbol(factor.name);
      }
      sum = sum + product;
      continue;
    }
    auto arg = [&](std::size_t k) { return extreme(a.args[k], symbol, low, high, least_here); };
    Expr value;
    switch (a.kind) {
      case sdfg::AtomKind::Symbol:
        value = a.name != symbol ? Expr::symbol(a.name) : least_here ? low : high;
        break;
      case sdfg::AtomKind::FloorDiv: {
        auto divisor = a.args[1].constant();
        auto numerator = arg(0);
        if (!divisor || *divisor <= 0 || !numerator) return std::nullopt;
        value = Expr::floor_div(*numerator, a.args[1]);
        break;
      }
      case sdfg::AtomKind::Min:
      case sdfg::AtomKind::Max: {
        auto x = arg(0), y = arg(1);
        if (!x || !y) return std::nullopt;
        value = a.kind == sdfg::AtomKind::Min ? Expr::min(*x, *y) : Expr::max(*x, *y);
        break;
      }
      case sdfg::AtomKind::Mod:
      case sdfg::AtomKind::Read:
        return std::nullopt;
    }
    sum = sum + Expr(t.coefficient) * value;
  }
  return sum;
}

}  // namespace

std::optional<Expr> least(const Expr& e, const std::string& symbol, const Expr& low, const Expr& high) {
  return extreme(e, symbol, low, high, true);
}
std::optional<Expr> greatest(const Expr& e, const std::string& symbol, const Expr& low, const Expr& high) {
  return extreme(e, symbol, low, high, false);
}

void Independence::add_to(sdfg::ScheduleLoop& loop) const {
  auto add = [](auto& to, const auto& from) {
    for (const auto& x : from)
      if (std::find(to.begin(), to.end(), x) == to.end()) to.push_back(x);
  };
  add(loop.privates, privates);
  add(loop.reductions, reductions);
}

namespace {

// The statement below the loop that touches the container of `reduction` otherwise than by combining into it; null if
// there is none. No dependence need tell: it may read elements that are never combined into, yet partial results are
// kept of the container as a whole.
const sdfg::Statement* other_use(const Nest& nest, const std::string& symbol, const sdfg::Reduction& reduction) {
  const sdfg::Statement* found = nullptr;
  sdfg::for_each_leaf(sdfg::find_loop(nest.tree, symbol)->children, [&](const sdfg::ScheduleLeaf& leaf) {
    const sdfg::Statement& statement = nest.scop.statements[static_cast<std::size_t>(leaf.statement)];
    if (planted(Fault::reduction_used_otherwise)) return;
    if (normal::touches(statement.node, reduction.container) && sdfg::self_update(statement) != reduction)
      found = &statement;
  });
  return found;
}

}  // namespace

Result<Independence> independent(const Nest& nest, const std::string& symbol, const StepContext& context,
                                 std::string_view refusal) {
  if (nest.draft) return Independence{};
  TRY(std::vector<sdfg::Carried> carried, sdfg::carried_by(nest.dependences, nest.scop, nest.tree, symbol));
  Independence result;
  std::map<std::string, bool> privatized;
  for (const sdfg::Carried& c : carried) {
    const sdfg::Dependence& d = nest.dependences.all()[static_cast<std::size_t>(c.dependence)];
    auto [known, is_new] = privatized.try_emplace(d.container, false);
    if (is_new) {
      TRY(known->second, sdfg::privatizable(nest.dependences, nest.scop, nest.tree, symbol, d.container));
      if (known->second) result.privates.push_back(d.container);
    }
    if (known->second) continue;
    const sdfg::Container* container = nest.scop.frame.find(d.container);
    const sdfg::Statement& source = nest.scop.statements[static_cast<std::size_t>(d.source)];
    const auto update = sdfg::self_update(source);
    bool allowed =
        container && (!sdfg::is_float(container->type) || context.reassociate || sdfg::keeps_first_extremum(source));
    allowed = allowed || planted(Fault::float_sum_excused);
    if (c.self_update && update && allowed) {
      if (const sdfg::Statement* other = other_use(nest, symbol, *update)) {
        return fail(std::string(refusal), d.container + " is a reduction, but " + other->name + " uses it otherwise",
                    symbol);
      }
      if (std::find(result.reductions.begin(), result.reductions.end(), *update) == result.reductions.end())
        result.reductions.push_back(*update);
      continue;
    }
    std::string why = "it carries the " + d.to_string(nest.scop);
    if (c.self_update && update && !allowed) why += ": a floating-point reduction, and reassociation is not allowed";
    return fail(std::string(refusal), why, symbol);
  }
  return result;
}

// --- The table ------------------------------------------------------------------------------------------------------

std::span<const StepInfo* const> steps() {
  static constexpr const StepInfo* table[] = {
#define X(name) &name##_step,
#include "transforms/steps/steps.list"
#undef X
  };
  return table;
}

const StepInfo* find_step(std::string_view name) {
  for (const StepInfo* step : steps())
    if (step->name == name) return step;
  return nullptr;
}

}  // namespace sous::transforms
