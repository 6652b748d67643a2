// Chains of dependent operations: several independent ones advance together, which hides the latency of each. Rows of
// recurrences (filters, scans, tridiagonal systems), whole columns of them.
#include "transforms/strategies/strategy.h"
#include "transforms/strategies/writing.h"

namespace sous::transforms {
namespace {

constexpr RefusalInfo refusals[] = {
    {"chains.none", "no parallel loop is directly around or inside a loop that carries a recurrence"},
};

struct Chain {
  std::string parallel, sequential;
  bool parallel_outside = false;
};

std::vector<Chain> chains_of(const NestFacts& nest) {
  std::vector<Chain> result;
  for (const LoopFacts& outer : nest.loops()) {
    if (!outer.is_band || !nest.is_innermost(outer.inside[0])) continue;
    const LoopFacts& inner = nest.loop(outer.inside[0]);
    if (outer.role.reduction || inner.role.reduction) continue;  // sums: other strategies
    if (outer.parallel && !inner.parallel) result.push_back({outer.role.symbol, inner.role.symbol, true});
    if (!outer.parallel && inner.parallel) result.push_back({inner.role.symbol, outer.role.symbol, false});
  }
  return result;
}

// Groups of iterations of the parallel loop, each with the sequential loop around it: unrolled, or in vector lanes.
std::string grouped(const Chain& chain, const std::string& finish) {
  const std::string &p = chain.parallel, &s = chain.sequential;
  const std::string tiled = call("tile", "loops=[" + p + "], sizes=[$group]");
  const std::string moved = chain.parallel_outside ? call("interchange", "outer=" + p + ", inner=" + s)
                                                   : call("interchange", "outer=" + s + ", inner=" + p + "_t");
  return tiled + moved + finish;
}

Result<std::vector<OpenRecipe>> write(const NestFacts& nest) {
  const auto chains = chains_of(nest);
  if (chains.empty()) return fail("chains.none", "no parallel loop is directly around or inside a recurrence");
  std::string unrolled, vectorized, threads;
  for (const Chain& chain : chains) {
    unrolled += grouped(chain, call("unroll", "loop=" + chain.parallel + ", factor=$group"));
    vectorized += grouped(chain, call("vectorize", "loop=" + chain.parallel));
    threads += call("parallelize", "loop=" + chain.parallel + "_t");
  }
  const std::vector<std::string> few{"8", "4", "16", "2"}, many{"64", "256", "16", "1024", "32"};
  return std::vector<OpenRecipe>{{recipe_of(vectorized + threads), {{"group", many}}},
                                 {recipe_of(unrolled + threads), {{"group", few}}},
                                 {recipe_of(vectorized), {{"group", many}}},
                                 {recipe_of(unrolled), {{"group", few}}}};
}

}  // namespace

constinit const StrategyInfo chains_strategy = {
    .name = "chains",
    .summary = "several independent recurrences advance together, unrolled or in vector lanes",
    .source = "unroll-and-jam: Callahan, Carr, Kennedy 1990",
    .refusals = refusals,
    .write = write,
    .lanes_alone = true};

}  // namespace sous::transforms
