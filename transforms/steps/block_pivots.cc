// Updates by pivots, several pivots at a time (blocked Floyd-Warshall: Venkataraman, Sahni, Mukhopadhyaya 2003), with
// the program's values at each of them.
//
// Condition. The nest is `for k: for i: for j: A(i, j) = f(A(i, j), A(i, k), A(k, j))`, f of nothing else that is
// written, and each pivot k is a row and a column of it (transforms/pivots.h). Then what an element needs in the
// iterations of a block of pivots is itself and, for each pivot, one element of its row and one of its column: as they
// are ahead of the pivot's own iteration, or behind it, by which side of the pivot the element is on. The pivots' rows
// need only that of each other and of the pivots' columns in these rows, and so do the columns: these are computed
// first, iteration by iteration, and what they are ahead of and behind each pivot is kept. Of the pivot's row behind
// its iteration each element comes from itself and from the pivot's column there; of the column likewise. With that,
// every other element is computed by the same operations from the same values, whenever that is. Published blocked
// algorithms use what rows and columns are behind all pivots of a block, which is the same only where f forgives it.
#include "transforms/pivot_tiles.h"
#include "transforms/pivots.h"
#include "transforms/step.h"

namespace sous::transforms {

using sdfg::Loop;

struct BlockPivots {
  static constexpr std::string_view name = "block_pivots";
  static constexpr std::string_view summary =
      "Runs an update of all elements by one row and one column in each iteration for several of these pivots at a "
      "time on a GPU: the pivots' own rows and columns first, of which each block keeps what later ones read, then all "
      "other elements in tiles that go through these iterations in registers.";
  static constexpr std::string_view before =
      "for k: for i: for j:\n"
      "  A(i, j) = f(A(i, j), A(i, k), A(k, j))";
  static constexpr std::string_view after =
      "for k_t in steps of 32:\n"
      "  one block: for k in k_t .. k_t + 32: columns(k), rows(k) = A(…, k), A(k, …); A(i, j) = f(…) where pivots "
      "meet\n"
      "  grid: the same in the pivots' rows\n"
      "  grid: the same in the pivots' columns\n"
      "  grid rows_b, columns_b in steps of 32 x 32:\n"
      "    block: own = A(i, j); for k: own = f(own, columns(k, i), rows(k, j)); A(i, j) = own";
  static constexpr std::string_view names =
      "The loop over blocks of pivots is k_t; all others, and places, have the next free names.";
  static constexpr bool needs_dependences = false;
  static constexpr std::int64_t size_values[] = {32, 16, 24, 8};
  static constexpr std::int64_t each_values[] = {4, 2, 8, 1};
  static constexpr std::int64_t most_threads = 1024, most_bytes = std::int64_t{48} * 1024;

  LoopRef loop;
  std::int64_t size = 32, each = 4;
  static constexpr auto params = std::tuple{
      param(&BlockPivots::loop, {.name = "loop", .doc = "the loop over pivots"}),
      param(&BlockPivots::size, {.name = "size",
                                 .doc = "pivots at a time, and rows and columns of a tile",
                                 .low = 2,
                                 .high = 64,
                                 .values = size_values,
                                 .default_value = 32}),
      param(&BlockPivots::each, {.name = "each",
                                 .doc = "rows and columns of a tile that a thread has, a divisor of the size",
                                 .low = 1,
                                 .high = 8,
                                 .values = each_values,
                                 .default_value = 4}),
  };
  static constexpr RefusalInfo refusals[] = {
      {"block-pivots.no-loop", "a loop does not exist"},
      {"block-pivots.place", "the loop, or one around it, does not run in order on the host"},
      {"block-pivots.body", "it is not one assignment in three plain loops"},
      {"block-pivots.bounds", "bounds move, or a pivot may be no row or column"},
      {"block-pivots.subscripts",
       "what is written is no element of a row and a column, or what is read of the array is neither that nor in the "
       "pivot's row or column"},
      {"block-pivots.alias", "the array may be the same memory as something else that is read"},
      {"block-pivots.tile",
       "a thread has no whole number of rows, or a block has too many threads or more than 48 KiB"},
  };

  Result<Plan> plan(const Nest& nest, const StepContext&) const {
    for (const std::string& symbol : sdfg::path_to(nest.tree, loop.name))
      if (!is_sequential(*sdfg::find_loop(nest.tree, symbol)))
        return fail("block-pivots.place", "loop " + symbol + " does not run in order", symbol);
    sdfg::Sdfg result = sdfg::lower(nest.scop, nest.tree);
    const auto place = sdfg::find_loop(result.root, loop.name);
    TRY(const PivotUpdate update, pivot_update_of(result, place->loop()));
    TRY_VOID(check_tile(sdfg::info(result.find(update.array)->type).bytes));
    normal::Names names(result);
    PivotTiles tiles(result, names, update, size, each);
    place->owner->nodes[place->at] = tiles.loops();
    return restructure(unchanged(nest), Equivalent(result));
  }

 private:
  Result<void> check_tile(std::int64_t bytes) const {
    if (size % each != 0) return fail("block-pivots.tile", "a thread would have no whole number of rows", loop.name);
    if (size / each * size > most_threads)
      return fail("block-pivots.tile", "a block would have too many threads", loop.name);
    // A tile, and both of what is kept of pivots' rows and columns.
    if (5 * size * size * bytes > most_bytes)
      return fail("block-pivots.tile",
                  "a block would take " + std::to_string(5 * size * size * bytes) + " bytes of shared memory",
                  loop.name);
    return {};
  }
};

constinit const StepInfo block_pivots_step = declare<BlockPivots>();

}  // namespace sous::transforms
