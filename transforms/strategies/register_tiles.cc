// Sums over one loop for neighbouring elements of the result: a tile of these stays in registers, operands are read
// where they lie. For what fits the caches as it is: convolutions, filters, small or thin products.
#include "transforms/strategies/products.h"
#include "transforms/strategies/strategy.h"
#include "transforms/strategies/writing.h"

namespace sous::transforms {
namespace {

constexpr RefusalInfo refusals[] = {
    {"register-tiles.no-sum", "no outermost loop begins a perfect band of a loop over the result and one that sums"},
};

OpenRecipe tiled(const NestFacts& nest, const ProductBand& band, bool threads) {
  const int bytes = nest.element_bytes();
  const bool one_row = band.rows.empty();
  const auto order = band.order(ProductBand::Sums::Inside);
  const std::string& outer = order.front();
  std::string steps = permutation(band.written, order);
  OpenRecipe recipe;
  if (threads) {
    if (outer == band.rows || outer == band.columns) {
      steps += call("tile", "loops=[" + outer + "], sizes=[$share]") + call("parallelize", "loop=" + outer + "_t");
      recipe.open["share"] = one_row ? std::vector<std::string>{"1024", "4096", "256", "16384"}
                                     : std::vector<std::string>{"64", "16", "256", "8"};
    } else {
      steps += call("parallelize", "loop=" + outer);
    }
  }
  const std::string loops = one_row ? band.columns : band.rows + ", " + band.columns;
  steps += call("register_tile",
                "loops=[" + loops + "], sizes=[" + (one_row ? "" : "$rows, ") + "$columns], lanes=" + lanes_of(bytes));
  recipe.text = recipe_of(steps);
  if (!one_row) recipe.open["rows"] = {"4", "8", "2", "1", "6"};
  recipe.open["columns"] = {vectors_of(one_row ? 4 : 2, bytes), vectors_of(one_row ? 8 : 3, bytes),
                            vectors_of(1, bytes), vectors_of(one_row ? 2 : 4, bytes)};
  return recipe;
}

Result<std::vector<OpenRecipe>> write(const NestFacts& nest) {
  std::vector<OpenRecipe> result;
  for (const std::string& first : nest.outermost()) {
    const auto band = product_band(nest, first);
    if (!band) continue;
    result.push_back(tiled(nest, *band, false));
    if (nest.loop(band->order(ProductBand::Sums::Inside).front()).parallel) result.push_back(tiled(nest, *band, true));
  }
  if (result.empty()) return fail("register-tiles.no-sum", "no loop sums what another makes elements of");
  return result;
}

}  // namespace

constinit const StrategyInfo register_tiles_strategy = {
    .name = "register_tiles",
    .summary = "sums for a tile of the result in registers, operands read where they lie",
    .source = "Goto, van de Geijn 2008, without packing",
    .refusals = refusals,
    .write = write,
    .fills_lanes = true};

}  // namespace sous::transforms
