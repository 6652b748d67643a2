// Sweeps in place and dynamic programs over grids: an element waits for the one before it in its row, and for the row
// before. Several rows advance together, each some columns behind the one before: as many chains of operations overlap
// in one core as there are rows.
#include "transforms/strategies/strategy.h"
#include "transforms/strategies/writing.h"

namespace sous::transforms {
namespace {

constexpr RefusalInfo refusals[] = {
    {"staggered-rows.none",
     "no two loops in each other wait, by two operations on floats, for the element before, and for the row before"},
};

std::string rows_together(const Staggered& band, int rows) {
  const std::string &a = band.rows, &b = band.columns;
  const std::string filling = std::to_string(band.factor * (rows - 1));  // columns in which not all rows are at work
  return call("skew", "loop=" + b + ", by=" + a + ", factor=" + std::to_string(band.factor)) +
         call("tile", "loops=[" + a + "], sizes=[" + std::to_string(rows) + "]") +
         call("interchange", "outer=" + a + ", inner=" + b) + call("split", "loop=" + b + ", offset=" + filling) +
         call("split", "loop=" + b + "_s, offset=-" + filling) +
         call("unroll", "loop=" + a + "_s, factor=" + std::to_string(rows));
}

Result<std::vector<OpenRecipe>> write(const NestFacts& nest) {
  TRY(std::vector<Staggered> bands, nest.staggered());
  std::erase_if(bands, [](const Staggered& band) { return !band.waits; });
  if (bands.empty())
    return fail(
        "staggered-rows.none",
        "no two loops in each other wait, by two operations on floats, for the element before, and for the row before");
  std::vector<OpenRecipe> result;
  for (const int rows : {8, 4}) {
    std::string steps;
    for (const Staggered& band : bands) steps += rows_together(band, rows);
    result.push_back({recipe_of(steps), {}});
  }
  return result;
}

}  // namespace

constinit const StrategyInfo staggered_rows_strategy = {
    .name = "staggered_rows",
    .summary = "rows of a sweep in place advance together, each some columns behind the one before",
    .source = "wavefronts: Lamport 1974; unroll-and-jam: Callahan, Carr, Kennedy 1990",
    .refusals = refusals,
    .write = write,
    .frees_loops = true};

}  // namespace sous::transforms
