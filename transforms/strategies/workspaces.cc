// Loops that use the same workspace in each iteration: a buffer for a row, the coefficients of a system, a block.
// With a copy of it for each thread they are shared out like loops that never had one.
#include "transforms/strategies/workspaces.h"

#include <algorithm>
#include <utility>

#include "transforms/strategies/strategy.h"
#include "transforms/strategies/writing.h"

namespace sous::transforms {
namespace {

using std::string;

constexpr RefusalInfo refusals[] = {
    {"workspaces.none", "no loop waits for nothing but a row or a block that each of its iterations fills anew"},
};

// A row at most, or a block: a whole image, of which each thread had its own, would go through memory once more.
constexpr std::int64_t most_elements = 16384;  // where they are known

bool is_small(const sdfg::Container& copy) {
  std::int64_t known = 1;
  bool open = false;
  for (const sdfg::Expr& extent : copy.shape) {
    if (!extent.constant() && std::exchange(open, true)) return false;
    known *= extent.constant().value_or(1);
    if (known > most_elements) return false;
  }
  return true;
}

bool copies_are_small(const NestFacts& before, const NestFacts& after) {
  return std::ranges::all_of(after.nest()->scop.frame.containers, [&](const sdfg::Container& c) {
    return before.nest()->scop.frame.find(c.name) != nullptr || is_small(c);
  });
}

// This loop, or else those inside of it.
void add(const NestFacts& nest, const string& symbol, Changed& changed) {
  const LoopFacts& loop = nest.loop(symbol);
  if (loop.shared || loop.inside.empty() || nest.is_short(symbol)) return;
  Changed with = changed;
  if (with.admits(nest, call("privatize", "loop=" + symbol)) && with.facts.loop(symbol).shared &&
      copies_are_small(changed.facts, with.facts)) {
    changed = std::move(with);
    return;
  }
  for (const string& inner : loop.inside) add(nest, inner, changed);
}

Result<std::vector<OpenRecipe>> write(const NestFacts& nest) {
  const auto changed = with_own_workspaces(nest);
  if (!changed) return fail("workspaces.none", "no loop waits for nothing but a row that its iterations fill anew");
  std::vector<OpenRecipe> recipes;
  for (const StrategyInfo* shares : {&fused_loops_strategy, &outer_threads_strategy}) {
    auto more = shares->write(changed->facts);
    if (!more) continue;
    for (OpenRecipe& recipe : *more) {
      recipe.text.insert(0, changed->steps);
      recipes.push_back(std::move(recipe));
    }
  }
  return recipes;
}

}  // namespace

std::optional<Changed> with_own_workspaces(const NestFacts& nest) {
  Changed changed{"", nest};
  for (const string& loop : nest.outermost()) add(nest, loop, changed);
  if (changed.steps.empty()) return std::nullopt;
  return changed;
}

constinit const StrategyInfo workspaces_strategy = {
    .name = "workspaces",
    .summary = "a copy for each thread of memory that every iteration fills anew; threads on the loops that this frees",
    .source = "Tu and Padua 1993",
    .refusals = refusals,
    .write = write,
    .threads_alone = true};

}  // namespace sous::transforms
