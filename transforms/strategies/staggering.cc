#include "transforms/strategies/staggering.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "transforms/loop_names.h"
#include "transforms/normal/util.h"

namespace sous::transforms {
namespace {

using sdfg::ScheduleLoop;
using std::string;

constexpr int most_factor = 3;
constexpr int most_shift = 1;

// What the step makes of the nest; nullopt: it is refused.
Result<std::optional<Nest>> after(const Nest& nest, const StepCall& call, const StepContext& context) {
  const auto plan = find_step(call.step)->plan(nest, call, context);
  if (!plan && plan.error().code.starts_with("isl.")) return std::unexpected(plan.error());
  if (!plan) return std::optional<Nest>();
  Nest result = rewrite(nest, *plan);
  if (result.stale) {
    TRY(result.dependences, sdfg::Dependences::compute(result.scop, sdfg::Budget{}));
    result.stale = false;
  }
  return std::optional(std::move(result));
}

// What all of these make of the nest; nullopt: one is refused.
Result<std::optional<Nest>> after_all(Nest nest, const std::vector<StepCall>& calls, const StepContext& context) {
  for (const StepCall& call : calls) {
    TRY(auto next, after(nest, call, context));
    if (!next) return std::optional<Nest>();
    nest = std::move(*next);
  }
  return std::optional(std::move(nest));
}

StepCall skewed(const string& loop, const string& by, int factor) {
  return {"skew", {{"loop", loop}, {"by", by}, {"factor", std::int64_t{factor}}}};
}
StepCall exchanged(const string& outer, const string& inner) {
  return {"interchange", {{"outer", outer}, {"inner", inner}}};
}

Result<bool> is_parallel(const Nest& nest, const string& symbol, const StepContext& context) {
  const auto free = independent(nest, symbol, context, "strategy.carried");
  if (!free && free.error().code != "strategy.carried") return std::unexpected(free.error());
  return free.has_value();
}

// Whether only later iterations overwrite what one reads: of such loops compilers make vectors.
Result<bool> are_lanes(const Nest& nest, const string& loop, const StepContext& context) {
  TRY(const auto in_lanes, after(nest, {"vectorize", {{"loop", loop}}}, context));
  return in_lanes.has_value();
}

// Operations that a value waits for take some cycles each; those that are fewer the others of an element hide.
constexpr int least_links = 2;

// The most operations, one after the other, from one of these inputs to the value; nullopt: it does not use them. A
// product that is added is one with the sum.
std::optional<int> links(const sdfg::ScalarExpr& e, const std::vector<bool>& inputs, bool added = false) {
  using sdfg::OpKind;
  if (e.op == sdfg::ScalarOp::input) return inputs[static_cast<std::size_t>(e.input)] ? std::optional(0) : std::nullopt;
  const OpKind kind = info(e.op).kind;
  const bool adds = kind == OpKind::Add;
  std::optional<int> most;
  for (const sdfg::ScalarExpr& operand : e.args)
    if (const auto one = links(operand, inputs, adds)) most = std::max(most.value_or(0), *one);
  const bool free =
      kind == OpKind::Free || kind == OpKind::Cast || (kind == OpKind::Mul && added) || !sdfg::is_float(e.type);
  return most ? std::optional(*most + (free ? 0 : 1)) : std::nullopt;
}

// Whether the statement makes a float of the one that the iteration before of this loop has written, by as many.
bool is_chain(const sdfg::Node& node, const string& loop) {
  const auto made = normal::assignment_of(node);
  if (!made || !sdfg::is_float(made->code.type)) return false;
  const auto before = [&](std::vector<sdfg::Expr> subscript) {
    for (sdfg::Expr& e : subscript) e = e.substitute({{loop, sdfg::Expr::symbol(loop) - 1}});
    return subscript;
  };
  const auto written = before(made->out.subset);
  std::vector<bool> inputs;
  for (const sdfg::Memlet& m : made->inputs)
    inputs.push_back(m.container == made->out.container && m.subset == written);
  return links(made->code, inputs).value_or(0) >= least_links;
}

bool holds_statements(const ScheduleLoop& loop) {
  return std::ranges::all_of(loop.children, [](const sdfg::ScheduleNode& node) {
    return std::holds_alternative<sdfg::ScheduleLeaf>(node.value);
  });
}

// Whether what a statement in the loop over rows writes in an array lies where that of other rows does. (In the scop of
// a nest, a statement's iterators are the loops.)
bool keeps_one_row(const Nest& nest, const ScheduleLoop& rows) {
  bool found = false;
  sdfg::for_each_leaf(rows.children, [&](const sdfg::ScheduleLeaf& leaf) {
    const sdfg::Node& node = nest.scop.statements[static_cast<std::size_t>(leaf.statement)].node;
    sdfg::visit(sdfg::Region{{node}}, [&](const sdfg::Node& n) {
      const auto* state = std::get_if<sdfg::State>(&n.value);
      if (state == nullptr) return;
      for (const sdfg::Edge& e : state->edges)
        found = found || (is_write(*state, e) && !e.memlet.subset.empty() &&
                          std::ranges::none_of(e.memlet.subset, [&](const auto& s) { return s.uses(rows.symbol); }));
    });
  });
  return found;
}

// The loops in this one that hold statements only, if nothing else is in it but statements before them.
std::vector<Staggered::Loop> loops_of_columns(const ScheduleLoop& rows) {
  std::vector<Staggered::Loop> result;
  int before = 0;
  for (const sdfg::ScheduleNode& node : rows.children) {
    if (std::holds_alternative<sdfg::ScheduleLeaf>(node.value)) {
      ++before;
      continue;
    }
    const auto* loop = std::get_if<ScheduleLoop>(&node.value);
    if (loop == nullptr || loop->step != 1 || !holds_statements(*loop)) return {};
    result.push_back({.name = loop->symbol, .sunk = std::exchange(before, 0)});
  }
  return before == 0 ? result : std::vector<Staggered::Loop>();
}

StepCall sunk(const Staggered::Loop& loop) {
  return {"sink", {{"loop", loop.name}, {"what", string("before")}, {"count", std::int64_t{loop.sunk}}}};
}

// The other loops over columns as one with the first, each delayed by as few iterations as it takes; nullopt: one
// cannot be.
Result<std::optional<Nest>> fused(Nest nest, const string& first, std::vector<Staggered::Loop>& others,
                                  const StepContext& context) {
  for (Staggered::Loop& other : others) {
    std::optional<Nest> one;
    for (int shift = 0; shift <= most_shift && !one; ++shift) {
      const StepCall fuse{"fuse", {{"first", first}, {"second", other.name}, {"shift", std::int64_t{shift}}}};
      TRY(one, after(nest, fuse, context));
      other.shift = shift;
    }
    if (!one) return std::optional<Nest>();
    nest = std::move(*one);
  }
  return std::optional(std::move(nest));
}

Result<std::optional<Staggered>> staggered(Nest nest, const string& rows, std::vector<Staggered::Loop> inside,
                                           const StepContext& context) {
  const auto none = std::optional<Staggered>();
  TRY(const bool parallel_rows, is_parallel(nest, rows, context));
  if (parallel_rows) return none;
  Staggered found{.rows = rows, .columns = inside[0].name, .sunk = inside[0].sunk, .fused = {}};
  found.fused.assign(inside.begin() + 1, inside.end());
  found.expanded = found.sinks() && !sdfg::find_loop(nest.tree, rows)->privates.empty();
  std::vector<StepCall> steps;
  if (found.expanded) steps.push_back({"expand", {{"loop", rows}, {"of", string("scalars")}}});
  for (const Staggered::Loop& loop : inside)
    if (loop.sunk > 0) steps.push_back(sunk(loop));
  TRY(auto perfect, after_all(std::move(nest), steps, context));
  if (!perfect) return none;
  TRY(auto one_loop, fused(std::move(*perfect), found.columns, found.fused, context));
  if (!one_loop) return none;
  nest = std::move(*one_loop);
  const string& columns = found.columns;
  TRY(const bool parallel, is_parallel(nest, columns, context));
  if (parallel) return none;
  TRY(const bool in_lanes, are_lanes(nest, columns, context));
  if (in_lanes) return none;
  TRY(const auto least, sdfg::least_skew(nest.dependences, nest.scop, nest.tree, rows, columns, most_factor));
  for (found.factor = std::max(least.value_or(most_factor + 1), 1); found.factor <= most_factor; ++found.factor) {
    TRY(const auto one, after_all(nest, {skewed(columns, rows, found.factor), exchanged(rows, columns)}, context));
    if (!one) continue;
    TRY(const bool parallel, is_parallel(*one, rows, context));
    if (parallel) return std::optional(std::move(found));
  }
  return none;
}

Result<std::optional<Tileable>> tileable(const Nest& nest, const string& rows, const string& columns,
                                         const StepContext& context) {
  const StepCall tile{"tile",
                      {{"loops", std::vector{rows, columns}},
                       {"sizes", std::vector<std::int64_t>{32, 64}},
                       {"count", string("numbers")}}};
  TRY(const bool in_lanes, are_lanes(nest, columns, context));
  if (in_lanes) return std::optional<Tileable>();
  const string over_rows = rows + string(over_tiles), over_columns = columns + string(over_tiles);
  // Columns that wait for others further ahead than the most skewing takes them do not go in tiles.
  TRY(const auto least, sdfg::least_skew(nest.dependences, nest.scop, nest.tree, rows, columns, most_factor));
  for (int factor = least.value_or(most_factor + 1); factor <= most_factor; ++factor) {
    std::vector<StepCall> steps{skewed(columns, rows, factor), tile};
    if (factor == 0) steps.erase(steps.begin());
    TRY(const auto tiled, after_all(nest, steps, context));
    for (int wave = 1; tiled && wave <= most_factor; ++wave) {
      TRY(const auto waves,
          after_all(*tiled, {skewed(over_columns, over_rows, wave), exchanged(over_rows, over_columns)}, context));
      if (!waves) continue;
      TRY(const bool parallel, is_parallel(*waves, over_rows, context));
      if (parallel) return std::optional(Tileable{rows, columns, factor, wave});
    }
  }
  return std::optional<Tileable>();
}

Result<void> find_tileable(const Nest& nest, const sdfg::ScheduleTree& tree, const StepContext& context,
                           std::vector<Tileable>& result) {
  for (const sdfg::ScheduleNode& node : tree) {
    const auto* loop = std::get_if<ScheduleLoop>(&node.value);
    if (loop == nullptr) continue;
    TRY(const bool parallel, is_parallel(nest, loop->symbol, context));
    if (parallel) continue;
    const auto* inner = loop->children.size() == 1 ? std::get_if<ScheduleLoop>(&loop->children[0].value) : nullptr;
    if (inner != nullptr && loop->step == 1 && inner->step == 1) {
      TRY(const bool inner_parallel, is_parallel(nest, inner->symbol, context));
      if (inner_parallel) continue;
      TRY(auto found, tileable(nest, loop->symbol, inner->symbol, context));
      if (found) {
        result.push_back(std::move(*found));
        continue;
      }
    }
    TRY_VOID(find_tileable(nest, loop->children, context, result));
  }
  return {};
}

}  // namespace

Result<std::vector<Tileable>> tileable_of(const Nest& nest, const StepContext& context) {
  std::vector<Tileable> result;
  TRY_VOID(find_tileable(nest, nest.tree, context, result));
  return result;
}

Result<std::vector<Staggered>> staggered_of(const Nest& nest, const StepContext& context) {
  std::vector<Staggered> result;
  for (const string& rows : sdfg::loop_symbols(nest.tree)) {
    const ScheduleLoop& loop = *sdfg::find_loop(nest.tree, rows);
    const auto columns = loop.step == 1 ? loops_of_columns(loop) : std::vector<Staggered::Loop>();
    const bool one_row = !columns.empty() && keeps_one_row(nest, loop);
    const bool sinks = std::ranges::any_of(columns, [](const Staggered::Loop& c) { return c.sunk > 0; });
    if (columns.empty() || (sinks && !one_row)) continue;
    TRY(auto found, staggered(nest, rows, columns, context));
    if (!found) continue;
    found->one_row = one_row;
    const ScheduleLoop& inner = *sdfg::find_loop(nest.tree, found->columns);
    if (found->sunk == 0 && found->fused.empty() && inner.children.size() == 1) {
      const auto& leaf = std::get<sdfg::ScheduleLeaf>(inner.children[0].value);
      found->waits = is_chain(nest.scop.statements[static_cast<std::size_t>(leaf.statement)].node, found->columns);
    }
    result.push_back(std::move(*found));
  }
  return result;
}

}  // namespace sous::transforms
