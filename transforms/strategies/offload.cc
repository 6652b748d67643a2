// A GPU: parallel loops become blocks and threads, as far out as they stand; sequential ones around them stay on the
// host, those inside run in each thread. Where a loop sums for two others, each thread takes a tile of the result and
// holds it in registers: what it reads serves several sums, and what several threads read comes from shared memory.
// Loops in time around sweeps over grids run several iterations in a launch, on tiles in shared memory
// (sweeps_in_time.h), and factorizations work in blocks of rows and columns (eliminations.h).
#include <algorithm>

#include "transforms/pivots.h"
#include "transforms/strategies/changed.h"
#include "transforms/strategies/even_sums.h"
#include "transforms/strategies/products.h"
#include "transforms/strategies/strategy.h"
#include "transforms/strategies/sweeps_in_time.h"
#include "transforms/strategies/writing.h"

namespace sous::transforms {
namespace {

constexpr RefusalInfo refusals[] = {
    {"offload.none", "a nest has no parallel loop: it would run in one thread of the GPU"},
};

constexpr std::size_t most_dimensions = 3;
// Of one product.
constexpr std::size_t factors = 2;

// What a thread and a block compute of a product.
struct Tile {
  std::int64_t tall, broad, under, beside;  // of a thread; threads of a block
  std::int64_t depth;                       // of what a block stages
};
// Large tiles read less of what they compute, but with fewer blocks than this they leave multiprocessors idle (an H100
// has 132, and each runs three of these blocks at a time). A block among few has nobody to compute while it copies: it
// copies ahead itself.
constexpr Tile large{.tall = 4, .broad = 8, .under = 16, .beside = 8, .depth = 16};
constexpr Tile small{.tall = 4, .broad = 4, .under = 8, .beside = 8, .depth = 16};
constexpr std::int64_t enough_blocks = 264;
// Several products at a time have so many operands that a deep tile of them leaves no room for a second buffer.
constexpr Tile of_several{.tall = 4, .broad = 4, .under = 16, .beside = 16, .depth = 8};
// Rows for which a thread holds sums; of a tile that they are cut from, threads share out the others.
constexpr std::int64_t few_rows = 8;
// Sums of a block, and elements of each that it stages: as wide as leaves enough blocks, for what lies side by side
// comes from memory fastest.
constexpr std::int64_t widest = 32, narrowest = 8, staged_elements = 2048;
// Threads of a block in a line of them: a warp at least.
constexpr std::int64_t usual_line = 128, warp = 32;
std::int64_t width_for(std::int64_t all, std::int64_t widest, std::int64_t narrowest) {
  while (widest > narrowest && all / widest < enough_blocks) widest /= 2;
  return widest;
}
std::int64_t sums_of_block(std::int64_t sums) { return width_for(sums, widest, narrowest); }

// The steps of one band, whose first loop is parallel.
struct Written {
  std::string staged;             // with tiles of the result in registers and operands in shared memory, of products
  std::string tiled;              // with such tiles alone
  std::string moved, as_it_is;    // with parallel loops moved outward, and without
  bool few_blocks = false;        // of the large tile, in some product
  bool several = false;           // products added to an element at a time, somewhere
  std::int64_t sums = INT64_MAX;  // of the shortest list of such, one for each thread
  std::int64_t line = INT64_MAX;  // threads of the shortest grid of one dimension
};

// Whether the large tile is known to leave too few blocks.
bool has_few_blocks(const NestFacts& nest, const ProductBand& band) {
  std::int64_t blocks = 1;
  const auto times = [&](const std::string& loop, std::int64_t width) {
    const auto trips = nest.loop(loop).trips;
    if (!trips || __builtin_mul_overflow(blocks, (*trips - 1) / width + 1, &blocks)) blocks = enough_blocks;
  };
  times(band.rows, large.tall * large.under);
  times(band.columns, large.broad * large.beside);
  for (const std::string& loop : band.around) times(loop, 1);
  return blocks < enough_blocks;
}

std::string offload(const std::vector<std::string>& loops, const std::string& rows, const std::string& columns) {
  const std::string sizes[] = {"$line", rows + ", " + columns, "1, " + rows + ", " + columns};
  std::string list;
  for (const std::string& loop : loops) list += (list.empty() ? "" : ", ") + loop;
  return call("offload", "loops=[" + list + "], sizes=[" + sizes[loops.size() - 1] + "]");
}
std::string offload(const std::vector<std::string>& loops) { return offload(loops, "$rows", "$columns"); }

// Of tiles, all rows have to begin at the same columns: where columns begin at their row, as those of an upper triangle
// do, they are taken for the rows. What was the row then ends at its column.
std::optional<ProductBand> tiled_band(const NestFacts& nest, const std::string& first) {
  auto band = product_band(nest, first);
  if (band && !band->rows.empty() && nest.begins_with(band->columns, band->rows)) std::swap(band->rows, band->columns);
  return band;
}

// A tile of the result for each thread, and perhaps what a block of them reads in shared memory. The loops that sum
// keep their order.
std::optional<std::string> tiled(const NestFacts& nest, const std::string& first, bool staged) {
  const auto band = tiled_band(nest, first);
  if (!band || band->rows.empty() || band->around.size() > most_dimensions - 2 || is_uneven(nest, *band))
    return std::nullopt;
  if (std::ranges::any_of(band->around, [&](const std::string& loop) { return !nest.loop(loop).parallel; }))
    return std::nullopt;
  const std::string tile =
      "loops=[" + band->rows + ", " + band->columns + "], sizes=[" + (staged ? "$tall, $broad]" : "$high, $wide]");
  std::vector<std::string> loops = band->around;
  loops.push_back(nest.fresh(band->rows + "_t"));
  loops.push_back(nest.fresh(band->columns + "_t"));
  std::string steps = permutation(band->written, band->order(ProductBand::Sums::Outside)) + call("tile", tile);
  if (!staged) return steps + offload(loops, "$down", "$across") + call("register_tile", tile + ", lanes=1");
  return steps + offload(loops, "$under", "$beside") + call("register_tile", tile + ", lanes=1, partial=padded") +
         call("stage", "loop=" + band->sum + ", size=$depth, fold=$fold, along=$along, buffers=$buffers");
}

// Of rows that are few already, a thread takes all, in some columns: what is left of sums that were made even.
std::optional<std::string> tiled_in_columns(const NestFacts& nest, const std::string& first) {
  const auto band = product_band(nest, first);
  if (!band || band->rows.empty() || band->around.size() != most_dimensions - 1 || !band->sums.empty() ||
      is_uneven(nest, *band) || nest.most_trips(band->rows).value_or(INT64_MAX) > few_rows)
    return std::nullopt;
  if (std::ranges::any_of(band->around, [&](const std::string& loop) { return !nest.loop(loop).parallel; }))
    return std::nullopt;
  const std::string tiles = nest.fresh(band->columns + "_t");
  return permutation(band->written, band->order(ProductBand::Sums::Outside)) +
         call("tile", "loops=[" + band->columns + "], sizes=[$wide]") +
         call("interchange", "outer=" + band->rows + ", inner=" + tiles) +
         call("offload",
              "loops=[" + band->around[0] + ", " + band->around[1] + ", " + tiles + "], sizes=[1, $shares, $strips]") +
         call("register_tile", "loops=[" + band->rows + ", " + band->columns + "], sizes=[" + std::to_string(few_rows) +
                                   ", $wide], lanes=1");
}

// Sums, one for each thread: what they read passes through shared memory, so that neighbouring threads load neighbours
// even where each sums a row, and many loads are on their way at a time.
std::optional<std::string> summed(const NestFacts& nest, const std::vector<std::string>& band) {
  const std::vector<std::string> parallel = nest.parallel(band), sums = nest.reductions(band);
  if (band.size() != 2 || parallel.size() != 1 || sums.size() != 1 || !nest.is_innermost(band.back()))
    return std::nullopt;
  return permutation(band, {parallel[0], sums[0]}) + call("offload", "loops=[" + parallel[0] + "], sizes=[$few]") +
         call("stage", "loop=" + sums[0] + ", size=$far, reads=all, along=yes, buffers=" +
                           (nest.moving_reads({sums[0], parallel[0]}) > 1 ? "1" : "2"));
}

// `first`, and then the others of the band.
std::vector<std::string> with_rest(std::vector<std::string> first, const std::vector<std::string>& band) {
  for (const std::string& loop : band)
    if (std::ranges::find(first, loop) == first.end()) first.push_back(loop);
  return first;
}

Written write_band(const NestFacts& nest, const std::vector<std::string>& band) {
  // The contiguous one last, so that neighbouring threads touch neighbouring elements.
  std::vector<std::string> parallel = nest.parallel(band);
  const std::string contiguous = nest.most_contiguous(parallel);
  std::erase(parallel, contiguous);
  if (parallel.size() >= most_dimensions) parallel.resize(most_dimensions - 1);
  parallel.push_back(contiguous);
  const std::vector<std::string> order = with_rest(parallel, band);
  std::vector<std::string> leading;
  for (const std::string& loop : band) {
    if (!nest.loop(loop).parallel && leading.empty()) continue;  // on the host
    if (!nest.loop(loop).parallel || leading.size() == most_dimensions) break;
    leading.push_back(loop);
  }
  const auto product = tiled_band(nest, band.front());
  const std::int64_t in_line = parallel.size() == 1 ? nest.loop(parallel[0]).trips.value_or(INT64_MAX) : INT64_MAX;
  const std::string moved = permutation(band, order) + offload(parallel);
  const auto shared = strips(nest, band);
  const std::string sweep = shared ? shared->ahead + offload(shared->loops) + shared->behind : moved;
  const std::string rows = tiled_in_columns(nest, band.front()).value_or(summed(nest, band).value_or(sweep));
  return {.staged = tiled(nest, band.front(), true).value_or(rows),
          .tiled = tiled(nest, band.front(), false).value_or(tiled_in_columns(nest, band.front()).value_or(moved)),
          .moved = moved,
          .as_it_is = offload(leading),
          .few_blocks = product && !product->rows.empty() && has_few_blocks(nest, *product),
          .several = product && !product->rows.empty() && nest.moving_reads(product->sum) > factors,
          .sums = band.size() == 2 ? in_line : INT64_MAX,
          .line = in_line};
}

// Whether a kernel begins with the loop, or outside of it. Out of a sum's loop, too, and of any whose parallel loops
// inside may stand around it, as those of a recurrence down each column: otherwise each of its iterations is a launch.
bool begins_kernel(const NestFacts& nest, const std::string& symbol) {
  if (nest.loop(symbol).parallel) return true;
  const std::vector<std::string> band = nest.band(symbol), parallel = nest.parallel(band);
  if (parallel.empty() || !nest.reductions({symbol}).empty()) return !parallel.empty();
  return nest.are_parallel_behind(permutation(band, with_rest(parallel, band)), parallel);
}

Result<void> collect(const NestFacts& nest, const std::string& symbol, Written& all) {
  const LoopFacts& loop = nest.loop(symbol);
  if (begins_kernel(nest, symbol)) {
    const Written one = write_band(nest, nest.band(symbol));
    all.staged += one.staged;
    all.tiled += one.tiled;
    all.moved += one.moved;
    all.as_it_is += one.as_it_is;
    all.few_blocks = all.few_blocks || one.few_blocks;
    all.several = all.several || one.several;
    all.sums = std::min(all.sums, one.sums);
    all.line = std::min(all.line, one.line);
    return {};
  }
  if (loop.inside.empty()) return fail("offload.none", "loop " + symbol + " is not parallel, and no loop around it");
  for (const std::string& inner : loop.inside) TRY_VOID(collect(nest, inner, all));
  return {};
}

// The loops that stay on the host with launches inside.
void count_host_loops(const NestFacts& nest, const std::string& symbol, int& count) {
  if (begins_kernel(nest, symbol)) return;
  ++count;
  for (const std::string& inner : nest.loop(symbol).inside) count_host_loops(nest, inner, count);
}
int host_loops(const NestFacts& nest) {
  int count = 0;
  for (const std::string& loop : nest.outermost()) count_host_loops(nest, loop, count);
  return count;
}

// Loops around launches that wait for nothing but a temporary become parallel: each iteration gets a place of its own,
// and each part of the body the whole of the loops. One launch for each part takes the place of one for each iteration.
std::optional<Changed> with_own_places(const NestFacts& nest) {
  const int before = host_loops(nest);
  if (before == 0) return std::nullopt;
  Changed changed{"", nest};
  std::vector<std::string> loops;  // innermost first: those further out then find what these have left
  for (const LoopFacts& loop : nest.loops())
    if (!loop.parallel && !loop.inside.empty()) loops.insert(loops.begin(), loop.role.symbol);
  // What iterations wait for; then what each has a copy of, without which no part gets the whole of the loop.
  for (const std::string& loop : loops)
    for (int pass = 0; pass < 2; ++pass) changed.admits(nest, call("expand", "loop=" + loop));
  if (changed.steps.empty()) return std::nullopt;
  for (const std::string& loop : loops) {
    const auto now = std::ranges::find(changed.facts.loops(), loop, [](const LoopFacts& l) { return l.role.symbol; });
    if (now != changed.facts.loops().end() && now->parallel && !now->is_band)
      changed.admits(nest, call("distribute", "loop=" + loop));
  }
  if (host_loops(changed.facts) >= before) return std::nullopt;
  return changed;
}

// A loop that waits for nothing but old values which later iterations overwrite becomes parallel once these are copied
// ahead of it; each part of its body then gets the whole of it.
void preserve_old_values(Changed& nest, const NestFacts& original) {
  for (const std::string& loop : nest.facts.outermost()) {
    if (nest.facts.loop(loop).parallel || nest.facts.is_innermost(loop)) continue;
    Changed preserved = nest;
    if (!preserved.admits(original, call("preserve", "loop=" + loop)) || !preserved.facts.loop(loop).parallel) continue;
    nest = std::move(preserved);
    if (!nest.facts.loop(loop).is_band) nest.admits(original, call("distribute", "loop=" + loop));
  }
}

// The values of an open name: that of the tile which fits first.
std::vector<std::string> values(const Written& all, std::int64_t Tile::* member, std::vector<std::int64_t> others) {
  const Tile& fitting = all.few_blocks ? small : large;
  const Tile &first = all.several ? of_several : fitting, &second = all.several || all.few_blocks ? large : small;
  std::vector<std::string> result;
  others.insert(others.begin(), {first.*member, second.*member});
  for (const std::int64_t n : others)
    if (std::ranges::find(result, std::to_string(n)) == result.end()) result.push_back(std::to_string(n));
  return result;
}

// What the names in the recipes stand for.
std::map<std::string, std::vector<std::string>> open_sizes(const NestFacts& nest, const Written& all) {
  // What the matrix unit takes, which adds one product at a time: copies that the device makes by itself, which
  // compute nothing. Otherwise what is computed once for a block is.
  const bool unit = nest.element_bytes() == 8 && !all.several;
  return {{"line", first_and(width_for(all.line, usual_line, warp), {128, 64, 256, 32})},
          {"rows", {"4", "8", "2", "16"}},
          {"columns", {"64", "32", "128"}},
          {"high", {"8", "4", "2"}},
          {"wide", {"2", "1", "4"}},
          {"down", {"1", "2", "4"}},
          {"across", {"128", "64", "32"}},
          {"shares", {"8", "4", "2"}},
          {"strips", {"32", "64", "16"}},
          {"several", {"2", "4", "3"}},
          {"pivots", {"32", "16", "24"}},
          {"share", {"4", "2", "8"}},
          {"tall", values(all, &Tile::tall, {8})},
          {"broad", values(all, &Tile::broad, {8})},
          {"few", first_and(sums_of_block(all.sums), {32, 16, 8})},
          {"far", first_and(staged_elements / sums_of_block(all.sums), {64, 128, 256, 32})},
          {"under", values(all, &Tile::under, {4})},
          {"beside", values(all, &Tile::beside, {16, 32})},
          {"depth", values(all, &Tile::depth, {4})},
          {"along", {unit ? "yes" : "no", unit ? "no" : "yes"}},
          {"fold", {unit ? "no" : "yes", unit ? "yes" : "no"}},
          {"buffers", {"2", "1"}}};
}

OpenRecipe opened(std::string steps, const std::map<std::string, std::vector<std::string>>& sizes) {
  OpenRecipe recipe{recipe_of(std::move(steps), "cuda"), {}};
  for (const auto& [name, values] : sizes)
    if (recipe.text.contains("$" + name)) recipe.open[name] = values;
  return recipe;
}

Result<std::vector<OpenRecipe>> write_as_it_is(const NestFacts& nest, const std::string& ahead,
                                               const std::map<std::string, std::vector<std::string>>& more = {}) {
  Written all;
  for (const std::string& loop : nest.outermost()) TRY_VOID(collect(nest, loop, all));
  if (all.moved.empty()) return fail("offload.none", "it has no loop");
  std::map<std::string, std::vector<std::string>> sizes = open_sizes(nest, all);
  sizes.insert(more.begin(), more.end());
  std::vector<OpenRecipe> recipes;
  for (const std::string& steps : {all.staged, all.tiled, all.moved, all.as_it_is}) {
    OpenRecipe recipe = opened(ahead + steps, sizes);
    if (recipes.empty() || recipes.back().text != recipe.text) recipes.push_back(std::move(recipe));
  }
  return recipes;
}

// Parallel loops one behind the other in a sequential one: if they may be one loop that stands around it, there is one
// launch for all of them and all iterations.
void fuse_rows(Changed& nest, const NestFacts& original) {
  std::vector<std::pair<std::string, std::vector<std::string>>> rows;  // of each loop those inside
  for (const LoopFacts& loop : nest.facts.loops())
    if (!loop.parallel && loop.inside.size() > 1 && std::ranges::all_of(loop.inside, [&](const std::string& inner) {
          return nest.facts.loop(inner).parallel && nest.facts.is_innermost(inner);
        }))
      rows.emplace_back(loop.role.symbol, loop.inside);
  for (const auto& [loop, inside] : rows) {
    Changed fused = nest;
    std::string steps;
    for (std::size_t n = 1; n < inside.size(); ++n)
      steps += call("fuse", "first=" + inside[0] + ", second=" + inside[n]);
    if (fused.admits(original, steps) && begins_kernel(fused.facts, loop)) nest = std::move(fused);
  }
}

// An update of all elements by one row and one column in each iteration of the only loop around: several at a time.
std::string pivots_in_blocks(const NestFacts& nest) {
  const std::vector<std::string> loops = nest.outermost();
  if (loops.size() != 1 || nest.loop(loops[0]).parallel) return "";
  sdfg::Sdfg graph = sdfg::lower(nest.nest()->scop, nest.nest()->tree);
  const auto place = sdfg::find_loop(graph.root, loops[0]);
  if (!place || !pivot_update_of(graph, place->loop())) return "";
  return call("block_pivots", "loop=" + loops[0] + ", size=$pivots, each=$share");
}

// What it takes most steps to make comes first.
Result<std::vector<OpenRecipe>> write(const NestFacts& nest) {
  auto recipes = write_as_it_is(nest, "");
  if (const InTime time = in_time(nest, begins_kernel); recipes && !time.steps.empty()) {
    const auto first = write_as_it_is(nest, time.steps, time.open);
    recipes->insert(recipes->begin(), first->front());
  }
  const auto put_first = [&](const Changed& changed) {
    auto first = write_as_it_is(changed.facts, changed.steps);
    if (!first) return;
    if (recipes) first->insert(first->end(), recipes->begin(), recipes->end());
    recipes = std::move(first);
  };
  Changed changed = with_own_places(nest).value_or(Changed{"", nest});
  preserve_old_values(changed, nest);
  fuse_rows(changed, nest);
  if (!changed.steps.empty()) put_first(changed);
  if (make_sums_even(changed, nest, large.tall * large.under)) {
    make_sums_even(changed, nest, few_rows);
    put_first(changed);
  }
  if (const std::string steps = pivots_in_blocks(nest); !steps.empty()) {
    if (!recipes) recipes.emplace();
    recipes->insert(recipes->begin(), opened(steps, open_sizes(nest, {})));
  }
  TRY(const auto elimination, nest.elimination());
  if (elimination) {
    if (!recipes) recipes.emplace();
    recipes->insert(recipes->begin(), opened(*elimination, open_sizes(nest, {})));
  }
  return recipes;
}

}  // namespace

constinit const StrategyInfo offload_strategy = {
    .name = "offload",
    .summary =
        "the parallel loops of each nest on a GPU, neighbouring threads on neighbouring elements; of products, a tile "
        "of the result for each thread, operands in shared memory",
    .source = "Baskaran et al. 2008; Volkov, Demmel 2008",
    .refusals = refusals,
    .write = write,
    .gpu = true};

}  // namespace sous::transforms
