// Products of matrices and what has their shape: blocks of the operands are packed and stay in the caches, tiles of the
// result in registers.
#include "transforms/strategies/products.h"
#include "transforms/strategies/strategy.h"
#include "transforms/strategies/writing.h"

namespace sous::transforms {
namespace {

constexpr RefusalInfo refusals[] = {
    {"contraction.no-product",
     "no outermost loop begins a perfect band of two loops over the result and one that sums"},
};

// The loops over blocks outside: of the sum, of rows (threads take them), of columns.
OpenRecipe blocked(const ProductBand& band, int bytes, const std::string& packing) {
  const std::string &i = band.rows, &j = band.columns, &k = band.sum;
  OpenRecipe recipe;
  recipe.text =
      recipe_of(permutation(band.written, band.order(ProductBand::Sums::Outside)) +
                call("tile", "loops=[" + i + ", " + j + ", " + k + "], sizes=[$rowblock, $columnblock, $depth]") +
                call("interchange", "outer=" + j + "_t, inner=" + k + "_t") +
                call("interchange", "outer=" + i + "_t, inner=" + k + "_t") +
                call("parallelize", "loop=" + i + "_t, kind=dynamic, chunk=1") +
                call("register_tile", "loops=[" + i + ", " + j +
                                          "], sizes=[$rows, $columns], lanes=" + lanes_of(bytes) + ", partial=padded") +
                packing);
  // Blocks of 300 x 240 doubles lie in a second-level cache of 1 MiB beside a block of rows; as many bytes of floats.
  recipe.open = {
      {"rows", {rows_of(), "6", "4", rows_of(2)}},
      {"columns", {vectors_of(3, bytes), vectors_of(2, bytes), vectors_of(4, bytes), vectors_of(1, bytes)}},
      {"rowblock", {rows_of(7), rows_of(21), rows_of(12), rows_of(3), rows_of(30)}},
      {"columnblock", {vectors_of(30, bytes), vectors_of(60, bytes), vectors_of(12, bytes), vectors_of(120, bytes)}},
      {"depth", {"300", "192", "256", "400", "128"}}};
  return recipe;
}

Result<std::vector<OpenRecipe>> write(const NestFacts& nest) {
  std::vector<OpenRecipe> result;
  for (const std::string& first : nest.outermost()) {
    const auto band = product_band(nest, first);
    if (!band || band->rows.empty()) continue;
    const std::string shared = call("pack", "loop=" + band->sum + "_t, panel=" + band->columns + "_r");
    const std::string own = "loop=" + band->rows + "_t, panel=" + band->rows + "_r";
    const int bytes = nest.element_bytes();
    result.push_back(blocked(*band, bytes, shared + call("pack", own + ", fold=yes")));
    result.push_back(blocked(*band, bytes, shared + call("pack", own)));
    result.push_back(blocked(*band, bytes, shared));
  }
  if (result.empty()) return fail("contraction.no-product", "no loop sums over what two others make a matrix of");
  return result;
}

}  // namespace

constinit const StrategyInfo contraction_strategy = {
    .name = "contraction",
    .summary = "products: blocks of the operands packed for the caches, tiles of the result in registers",
    .source = "Goto, van de Geijn 2008",
    .refusals = refusals,
    .write = write,
    .fills_lanes = true};

}  // namespace sous::transforms
