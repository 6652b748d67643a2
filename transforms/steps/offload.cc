// Offloading: iterations run on a GPU, one thread each.
#include "transforms/simplify.h"
#include "transforms/step.h"
#include "transforms/tile_loops.h"

namespace sous::transforms {

namespace {

constexpr std::size_t most_dimensions = 3;
// What the hardware takes in one block, and in its third dimension.
constexpr std::int64_t most_threads = 1024, most_threads_z = 64;

struct Offload {
  static constexpr std::string_view name = "offload";
  static constexpr std::string_view summary =
      "Runs a perfect band of parallel loops on a GPU: loops over blocks outside, loops over the threads of a block "
      "inside. Temporaries become each thread's own.";
  static constexpr std::string_view before = "for i: for j: S(i, j)";
  static constexpr std::string_view after =
      "grid(y) i_b in steps of 4: grid(x) j_b in steps of 64:\n"
      "  block(y) i in [i_b, i_b + 4): block(x) j in [j_b, j_b + 64): S(i, j)";
  static constexpr std::string_view names =
      "The loop over the blocks of i is i_b (i_b2 if that is taken, and so on); the loop over their threads stays i.";
  static constexpr std::int64_t size_values[] = {64, 32, 16, 8, 4, 128, 256, 1, 2};

  std::vector<LoopRef> loops;
  std::vector<Size> sizes;
  std::string x;
  static constexpr std::string_view choices[] = {"last", "first"};
  static constexpr auto params = std::tuple{
      param(&Offload::loops, {.name = "loops",
                              .doc = "the band, outermost first",
                              .most = most_dimensions,
                              .relation = Relation::Band,
                              .refusal = "offload.not-nested"}),
      param(&Offload::sizes, {.name = "sizes",
                              .doc = "threads in a block, for each loop",
                              .low = 1,
                              .high = most_threads,
                              .values = size_values,
                              .length_of = "loops",
                              .refusal = "offload.sizes",
                              .effect = Effect::Cuts}),
      param(&Offload::x,
            {.name = "x",
             .doc = "which loop's neighbouring iterations are neighbouring threads: the one along which most "
                    "accesses are contiguous",
             .choices = choices,
             .default_value = "last"}),
  };
  static constexpr RefusalInfo refusals[] = {
      {"offload.no-loop", "a loop does not exist"},
      {"offload.not-nested", "the loops are not a perfect band"},
      {"offload.sizes", "there is not one size for each loop"},
      {"offload.step", "a loop runs backwards"},
      {"offload.bounds", "a bound inside the band depends on an outer loop in a way that has no bounds over a block"},
      {"offload.scheduled",
       "a loop of the band is not sequential any more, or one around it or inside runs on the GPU already"},
      {"offload.carried", "a loop carries a dependence that is no temporary's"},
      {"offload.threads", "a block has more than 1024 threads, or more than 64 in its third dimension"},
  };

  // 0 is x.
  int dimension(std::size_t k) const { return static_cast<int>(x == "first" ? k : loops.size() - 1 - k); }

  Result<void> check_threads() const {
    std::int64_t threads = 1;
    for (std::size_t k = 0; k < sizes.size(); ++k) {
      threads *= sizes[k].value;
      if (threads > most_threads || (dimension(k) == 2 && sizes[k].value > most_threads_z))
        return fail("offload.threads", "a block would have too many threads", loops[k].name);
    }
    return {};
  }

  // A loop of which a block has one iteration is the block's affair: what is inside is said by the loop over the
  // blocks, so that it is seen to be the same in all threads.
  std::map<std::string, sdfg::Expr> of_blocks(TiledLoops& tiled) const {
    std::map<std::string, sdfg::Expr> alone;
    for (std::size_t k = 0; k < loops.size(); ++k) {
      sdfg::ScheduleLoop& point = tiled.points[k];
      const sdfg::Expr block = sdfg::Expr::symbol(tiled.tiles[k].symbol);
      point.begin = point.begin.substitute(alone);
      point.end = point.end.substitute(alone);
      if (sizes[k].value == 1 && point.begin == block) alone[point.symbol] = block;
    }
    return alone;
  }

  Result<Plan> plan(const Nest& nest, const StepContext&) const {
    TRY_VOID(check_threads());
    TRY_VOID(may_be_kernel(nest, loops, "offload.scheduled"));
    std::vector<sdfg::ScheduleLoop> band;
    for (const LoopRef& loop : loops) band.push_back(loop_of(nest, loop));
    std::vector<std::int64_t> widths;
    for (const Size& size : sizes) widths.push_back(size.value);
    TRY(TiledLoops tiled, tile_loops(nest, band, widths, "_b", {"offload.step", "offload.bounds"}, Tiles::OfSteps));
    // No reduction is one: blocks end in any order, and sums of floats would depend on it.
    Independence own;
    for (const sdfg::ScheduleLoop& loop : band) {
      TRY(const Independence one, independent(nest, loop.symbol, {}, "offload.carried"));
      if (!one.reductions.empty())
        return fail("offload.carried", "its iterations combine into " + one.reductions[0].container, loop.symbol);
      own.privates.insert(own.privates.end(), one.privates.begin(), one.privates.end());
      own.privates.insert(own.privates.end(), loop.privates.begin(), loop.privates.end());
    }
    for (std::size_t k = 0; k < band.size(); ++k) {
      tiled.tiles[k].schedule = sdfg::GpuGrid{dimension(k)};
      tiled.points[k].schedule = sdfg::GpuBlock{dimension(k)};
      tiled.points[k].privates.clear();
    }
    own.add_to(tiled.points.back());
    sdfg::ScheduleTree tree = nest.tree;
    auto [sequence, at] = sdfg::owner_of(tree, loops[0].name);
    const std::map<std::string, sdfg::Expr> alone = of_blocks(tiled);
    (*sequence)[at] = nested(std::move(tiled.tiles),
                             nested(std::move(tiled.points), sdfg::substitute(band.back().children, alone)))[0];
    return prove(nest, std::move(tree), "offload.carried", loops[0].name);
  }
};

}  // namespace

constinit const StepInfo offload_step = declare<Offload>();

}  // namespace sous::transforms
