// Loops that wait from one iteration to the next at the end of their bodies only: for the best so far and its place,
// for a sum in the program's order, for a histogram. What comes before that each iteration computes for itself. Scalar
// expansion and distribution make two loops of it, a block of iterations at a time: one that computes ahead what is
// handed on, in parallel, and one that goes through it in order.
#include <algorithm>

#include "sdfg/schedule_tree.h"
#include "transforms/strategies/changed.h"
#include "transforms/strategies/strategy.h"
#include "transforms/strategies/writing.h"

namespace sous::transforms {
namespace {

using std::string;

constexpr RefusalInfo refusals[] = {
    {"computed-ahead.none", "no loop waits for the end of its body only, and computes much before that"},
};

// Iterations in a block: what is handed on stays in a cache, and threads have enough to do.
constexpr std::int64_t in_block = 16384, rows_in_block = 64;

// The first of the loop's children that waits for another iteration; nullopt: none, or it is not known.
std::optional<std::size_t> first_that_waits(const NestFacts& facts, const string& symbol) {
  const Nest& nest = *facts.nest();
  const auto carried = sdfg::carried_by(nest.dependences, nest.scop, nest.tree, symbol);
  if (!carried) return std::nullopt;
  std::set<int> waiting;
  for (const sdfg::Carried& one : *carried) {
    const sdfg::Dependence& dependence = nest.dependences.all()[static_cast<std::size_t>(one.dependence)];
    waiting.insert({dependence.source, dependence.target});
  }
  const sdfg::ScheduleTree& children = sdfg::find_loop(nest.tree, symbol)->children;
  for (std::size_t k = 0; k < children.size(); ++k) {
    bool waits = false;
    sdfg::for_each_leaf({children[k]},
                        [&](const sdfg::ScheduleLeaf& leaf) { waits = waits || waiting.contains(leaf.statement); });
    if (waits) return k;
  }
  return std::nullopt;
}

// What one iteration of the loop computes, in divisions of floats, of which a sum in order hides one: it waits as long
// for the one before. Loops inside are enough.
int weight(const sdfg::Scop& scop, const sdfg::ScheduleTree& body) {
  constexpr int much = 8;
  int found = sdfg::loop_symbols(body).empty() ? 0 : much;
  sdfg::for_each_leaf(body, [&](const sdfg::ScheduleLeaf& leaf) {
    const sdfg::Node& node = scop.statements[static_cast<std::size_t>(leaf.statement)].node;
    if (std::holds_alternative<sdfg::While>(node.value)) found += much;
    const auto* state = std::get_if<sdfg::State>(&node.value);
    const auto assignment = state != nullptr ? sdfg::as_assignment(*state) : std::nullopt;
    if (!assignment) return;
    assignment->code.visit([&](const sdfg::ScalarExpr& e) {
      const sdfg::OpKind kind = sdfg::info(e.op).kind;
      if (kind == sdfg::OpKind::Exponential || kind == sdfg::OpKind::Trigonometric) found += much;
      if (kind == sdfg::OpKind::Root) found += 2;
      if (kind == sdfg::OpKind::Div) ++found;
    });
  });
  return found;
}
constexpr int least_weight = 3;

const sdfg::ScheduleTree& body_of(const NestFacts& facts, const string& symbol) {
  return sdfg::find_loop(facts.nest()->tree, symbol)->children;
}

bool computes_much(const NestFacts& facts, const string& symbol) {
  return weight(facts.nest()->scop, body_of(facts, symbol)) >= least_weight;
}

string at(const string& symbol, std::size_t child) { return "loop=" + symbol + ", at=" + std::to_string(child); }

string block_of(const string& size) { return "sizes=[" + size + "]"; }

// Its iterations a block at a time, where there may be more.
string in_blocks(const LoopFacts& loop, std::int64_t block) {
  const string& symbol = loop.role.symbol;
  return loop.trips.value_or(INT64_MAX) > block
             ? call("tile", "loops=[" + symbol + "], " + block_of(std::to_string(block)))
             : "";
}

// Cuts a loop before what waits in it, after these steps.
bool cut_inside(const NestFacts& original, Changed& changed, const string& symbol, const string& blocks) {
  if (!computes_much(changed.facts, symbol)) return false;
  changed.admits(original, call("detach", "loop=" + symbol));
  const auto waits = first_that_waits(changed.facts, symbol);
  if (waits.value_or(0) == 0) return false;
  const std::size_t parts = body_of(changed.facts, symbol).size();
  if (!changed.admits(original, blocks + call("hand_over", at(symbol, *waits)))) return false;
  // Of each scalar there are two statements more, one on either side.
  const std::size_t scalars = (body_of(changed.facts, symbol).size() - parts) / 2;
  return changed.admits(original, call("distribute", at(symbol, *waits + scalars))) &&
         changed.facts.loop(symbol).parallel && computes_much(changed.facts, symbol);
}

// Cuts the loop; of several in each other, the inner two, whose places are those of some rows. The one that is parallel
// then.
std::optional<string> cut(const NestFacts& original, Changed& changed, const string& symbol) {
  const LoopFacts loop = changed.facts.loop(symbol);
  if (loop.parallel) return std::nullopt;
  if (!loop.is_band)
    return cut_inside(original, changed, symbol, in_blocks(loop, in_block)) ? std::optional(symbol) : std::nullopt;
  const string& inner = loop.inside[0];
  if (changed.facts.loop(inner).is_band) return cut(original, changed, inner);
  if (!cut_inside(original, changed, inner, "") ||
      !changed.admits(original, in_blocks(loop, rows_in_block) + call("expand", "loop=" + symbol) +
                                    call("distribute", at(symbol, 1))) ||
      !changed.facts.loop(symbol).parallel)
    return std::nullopt;
  return symbol;
}

// With other sizes of blocks left open.
OpenRecipe open(string text) {
  OpenRecipe recipe{std::move(text), {{"kind", {"dynamic", "static"}}}};
  for (const auto& [name, first] : {std::pair("block", in_block), std::pair("rows", rows_in_block)}) {
    const string size = block_of(std::to_string(first));
    for (auto found = recipe.text.find(size); found != string::npos; found = recipe.text.find(size)) {
      recipe.text.replace(found, size.size(), block_of(string("$") + name));
      recipe.open[name] = first_and(first, {first / 8, first * 8});
    }
  }
  return recipe;
}

Result<std::vector<OpenRecipe>> write(const NestFacts& nest) {
  Changed changed{"", nest};
  string threads;
  for (const string& loop : nest.outermost()) {
    Changed with = changed;
    const auto parallel = cut(nest, with, loop);
    if (!parallel) continue;
    changed = std::move(with);
    for (const string& one : changed.facts.loops_to_share(*parallel))
      threads += call("parallelize", "loop=" + one + ", kind=$kind");
  }
  if (threads.empty())
    return fail("computed-ahead.none", "no loop waits for the end of its body only, and computes much before that");
  return std::vector{open(recipe_of(changed.steps + threads))};
}

}  // namespace

constinit const StrategyInfo computed_ahead_strategy = {
    .name = "computed_ahead",
    .summary = "what a loop computes before it waits is computed ahead, a block at a time, on threads",
    .source = "scalar expansion: Padua, Wolfe 1986; loop distribution: Kuck 1977",
    .refusals = refusals,
    .write = write,
    .threads_alone = true};

}  // namespace sous::transforms
