// Dynamic programs over grids, sweeps in place: an element waits for the one before it in its row, and for the row
// before. As many rows as a vector has lanes advance together, each some columns behind the one before: what an element
// waits for is in the vectors of the columns before, one lane on (sdfg/carried_columns.h).
#include <algorithm>

#include "transforms/strategies/strategy.h"
#include "transforms/strategies/writing.h"

namespace sous::transforms {
namespace {

constexpr RefusalInfo refusals[] = {
    {"staggered-lanes.none",
     "no two loops in each other wait for the element before and for the row before, of elements of four bytes or "
     "more"},
};

constexpr int widest_vector = 64;  // bytes

// What makes one loop of those over columns.
std::string fused(const Staggered& band) {
  std::string steps;
  if (band.expanded) steps += call("expand", "loop=" + band.rows + ", of=scalars");
  const auto sink = [&](const std::string& loop, int count) {
    if (count > 0) steps += call("sink", "loop=" + loop + ", what=before, count=" + std::to_string(count));
  };
  sink(band.columns, band.sunk);
  for (const Staggered::Loop& other : band.fused) sink(other.name, other.sunk);
  for (const Staggered::Loop& other : band.fused)
    steps += call("fuse", "first=" + band.columns + ", second=" + other.name +
                              (other.shift > 0 ? ", shift=" + std::to_string(other.shift) : ""));
  return steps;
}

// Rows in lanes, of columns that are skewed by all but `skew` already.
std::string in_lanes(const Staggered& band, int skew, int element_bytes) {
  const std::string &a = band.rows, &b = band.columns;
  // Columns in which not all rows are at work, whatever the machine, and those in which some statements are not.
  int some = band.sunk > 0 || !band.fused.empty() ? 2 : 0;
  for (const Staggered::Loop& other : band.fused) some = std::max(some, other.shift + 2);
  const std::string filling = std::to_string(band.factor * (widest_vector / element_bytes - 1) + some);
  return call("skew", "loop=" + b + ", by=" + a + ", factor=" + std::to_string(skew)) +
         call("tile", "loops=[" + a + "], sizes=[" + lanes_of(element_bytes) + "]") +
         call("interchange", "outer=" + a + ", inner=" + b) + call("split", "loop=" + b + ", offset=" + filling) +
         call("split", "loop=" + b + "_s, offset=-" + filling) + call("vectorize", "loop=" + a + "_s");
}

Result<std::vector<OpenRecipe>> write(const NestFacts& nest) {
  TRY(const std::vector<Staggered> bands, nest.staggered());
  if (bands.empty() || nest.element_bytes() < 4) return fail("staggered-lanes.none", std::string(refusals[0].when));
  std::string alone, shared;
  for (const Staggered& band : bands) {
    alone += fused(band) + in_lanes(band, band.factor, nest.element_bytes());
    // The least factor with which rows are parallel is one more than that with which there are tiles. Tiles of skewed
    // columns begin one column further on in each row.
    shared += fused(band) + in_diagonals({band.rows, band.columns, band.factor - 1, band.factor > 1 ? 2 : 1}) +
              in_lanes(band, 1, nest.element_bytes());
  }
  // (Proving that of rows that are kept in one takes more than there is time for.)
  if (std::ranges::any_of(bands, &Staggered::one_row)) return std::vector<OpenRecipe>{{recipe_of(alone), {}}};
  // Large tiles: in the corners of each, rows are at work one by one. Many threads need more of them.
  return std::vector<OpenRecipe>{
      {recipe_of(shared),
       {{"rows", {"128", "256"}}, {"columns", {"max(512, 4096 floordiv cores)", "1024", "512", "2048"}}}},
      {recipe_of(alone), {}}};
}

}  // namespace

constinit const StrategyInfo staggered_lanes_strategy = {
    .name = "staggered_lanes",
    .summary = "rows that wait for each other in the lanes of a vector, each some columns behind the one before",
    .source = "wavefronts: Lamport 1974; of sequences in lanes: Wozniak 1997",
    .refusals = refusals,
    .write = write,
    .frees_loops = true};

}  // namespace sous::transforms
