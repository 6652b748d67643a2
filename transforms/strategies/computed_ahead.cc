// Loops that wait from one iteration to the next at the end of their bodies only: for the best so far and its place,
// for a sum in the program's order, for a histogram. What comes before that each iteration computes for itself. Scalar
// expansion and distribution make two loops of it, a block of iterations at a time: one that computes ahead what is
// handed on, in parallel, and one that goes through it in order.
#include <algorithm>
#include <map>
#include <set>

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

// What an iteration takes, in cycles of a core, roughly.
struct Cycles {
  double all = 0;                       // its operations, where none waits for another iteration
  bool in_vectors = true;               // a compiler finds vectors for them
  std::map<string, double> waits = {};  // of each container, from one iteration to the next
};

double cycles_of(const sdfg::ScalarExpr& e) {
  const double narrow = e.type == sdfg::ElementType::f32 ? 0.5 : 1;
  switch (sdfg::info(e.op).kind) {
    case sdfg::OpKind::Trigonometric:
      return 14 * narrow;
    case sdfg::OpKind::Exponential:
      return 10 * narrow;
    case sdfg::OpKind::Root:
      return 5 * narrow;
    case sdfg::OpKind::Div:
      return 4 * narrow;
    case sdfg::OpKind::Free:
    case sdfg::OpKind::Constant:
      return 0;
    default:
      return 0.5;
  }
}

Cycles cycles_of(const sdfg::Scop& scop, const sdfg::ScheduleTree& body) {
  constexpr double loop = 100, latency_of_float = 4, latency = 1;
  Cycles found;
  const auto stays = [&](double cycles) {
    found.all += cycles;
    found.in_vectors = false;
  };
  if (!sdfg::loop_symbols(body).empty()) stays(loop);
  sdfg::for_each_leaf(body, [&](const sdfg::ScheduleLeaf& leaf) {
    const sdfg::Node& node = scop.statements[static_cast<std::size_t>(leaf.statement)].node;
    if (std::holds_alternative<sdfg::While>(node.value)) stays(loop);
    const auto* state = std::get_if<sdfg::State>(&node.value);
    const auto assignment = state != nullptr ? sdfg::as_assignment(*state) : std::nullopt;
    if (!assignment) return;
    const bool carries = std::ranges::count(assignment->inputs, assignment->out) > 0;
    assignment->code.visit([&](const sdfg::ScalarExpr& e) {
      const auto kind = sdfg::info(e.op).kind;
      if (kind == sdfg::OpKind::Exponential || kind == sdfg::OpKind::Trigonometric)
        stays(cycles_of(e));
      else
        found.all += cycles_of(e);
      if (carries && !e.args.empty())
        found.waits[assignment->out.container] += sdfg::is_float(e.type) ? latency_of_float : latency;
    });
  });
  return found;
}

// Whether it pays to compute ahead: an iteration took the longer of what it computes and what it waits for the one
// before, which overlap in a core, and takes its share of the one then, and the other behind it.
bool pays(const Cycles& ahead, const Cycles& behind, double threads) {
  constexpr double handed_over = 2, least = 1.3, lanes = 2;
  double waits = 0;
  for (const auto& [container, cycles] : behind.waits) waits = std::max(waits, cycles);
  const double rest = std::max(waits, behind.all);
  return std::max(ahead.all, rest) >=
         least * (ahead.all / threads / (ahead.in_vectors ? lanes : 1) + rest + handed_over);
}

const sdfg::ScheduleTree& body_of(const NestFacts& facts, const string& symbol) {
  return sdfg::find_loop(facts.nest()->tree, symbol)->children;
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
  const auto cycles = [&](const string& loop) {
    return cycles_of(changed.facts.nest()->scop, body_of(changed.facts, loop));
  };
  const double threads = static_cast<double>(original.hardware("cores").value_or(1));
  // Before anything is proven: as if nothing waited.
  if (!pays(cycles(symbol), {}, threads)) return false;
  changed.admits(original, call("detach", "loop=" + symbol));
  const auto waits = first_that_waits(changed.facts, symbol);
  if (waits.value_or(0) == 0) return false;
  const std::size_t parts = body_of(changed.facts, symbol).size();
  if (!changed.admits(original, blocks + call("hand_over", at(symbol, *waits)))) return false;
  // Of each scalar there are two statements more, one on either side.
  const std::size_t scalars = (body_of(changed.facts, symbol).size() - parts) / 2;
  const string rest = changed.facts.fresh(symbol + "_d");
  return changed.admits(original, call("distribute", at(symbol, *waits + scalars))) &&
         changed.facts.loop(symbol).parallel && pays(cycles(symbol), cycles(rest), threads);
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
