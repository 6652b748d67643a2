// What decides how fast a nest runs as its loops are scheduled, in few physical terms: work, how it fills vectors and
// threads, chains of dependent operations, how memory is met in the innermost loop, and what crosses each level of
// cache. Read off the tree after a recipe's steps, so that it says the same of every recipe that leads there; the terms
// are those that learned schedulers weigh (A. Adams et al.: Learning to Optimize Halide, SIGGRAPH 2019). Estimates.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "sdfg/sdfg.h"
#include "tuning-db/hardware.h"

namespace sous::tuning_db {

// Shares are of the nest's operations; "log" is log2(1 + x).
#define SOUS_SCHEDULE_FEATURES(X)                                                                   \
  X(operations)      /* log; a division counts as 8 additions, an exponential as 20 */              \
  X(in_vectors)      /* share inside a loop of vector lanes */                                      \
  X(unrolled)        /* log of the copies and lanes that stand beside each other, weighted */       \
  X(chained)         /* share whose innermost loop writes the same float again and again */         \
  X(innermost_trips) /* log, weighted */                                                            \
  X(threads)         /* that have work, weighted */                                                 \
  X(imbalance)       /* of the threads' shares: the largest over the average, less 1 */             \
  X(regions)         /* log of the parallel regions that are entered for each million operations */ \
  X(accesses)        /* for each operation */                                                       \
  X(unit)            /* share of the accesses that the innermost loop meets one behind the other */ \
  X(invariant)       /* ... that it leaves in a register */                                         \
  X(far)             /* ... a line of cache or more apart */                                        \
  X(gathered)        /* ... that are read by subscripts from memory, or not known */                \
  X(scattered)       /* ... whose lanes lie apart */                                                \
  X(beyond_l1)       /* log of 1000 times the bytes for each operation that do not stay in L1 */    \
  X(beyond_l2)                                                                                      \
  X(beyond_l3)     /* in a core's share of it */                                                    \
  X(special)       /* share of operations that are divisions, roots or mathematical functions */    \
  X(branches)      /* conditions */                                                                 \
  X(element_bytes) /* of the widest container */

enum class ScheduleFeature : std::uint8_t {
#define X(name) name,
  SOUS_SCHEDULE_FEATURES(X)
#undef X
};
#define X(name) +1
inline constexpr std::size_t schedule_feature_count = 0 SOUS_SCHEDULE_FEATURES(X);
#undef X

using ScheduleFeatures = std::array<double, schedule_feature_count>;

std::string_view schedule_feature_name(ScheduleFeature feature);

// `sizes`: values of the nest's symbols; one without a value counts as 1024. `threads`: that the run has.
ScheduleFeatures schedule_features(const sdfg::Sdfg& nest, const std::map<std::string, std::int64_t>& sizes,
                                   const Hardware& hardware, int threads);

// What a nest asks of the cores that its threads run on (after S. Williams et al.: Roofline, CACM 2009), for deciding
// whether threads alone make it faster: they do where cores compute, and need not where memory is what they wait for.
// Estimates: of time a low one (both arms of an If count, a While as 8 iterations), of memory a high one.
struct CoreLoad {
  double nanoseconds = 0;  // that one core takes for all of it
  double bytes = 0;        // that come from beyond a core's own caches
  double touched = 0;      // bytes, wherever they are
  double regions = 0;      // parallel regions that are entered
  double shares = 0;       // all the work over what the thread with the largest shares does of it
  double operations = 0;   // ScheduleFeature::operations
  double contended = 0;    // writes to lines of memory that other threads write as well at that time
  int threads = 0;         // that the run has
  bool in_waves = false;   // regions hand on what they made from one core to the other: they have to be longer
};
// Of a nest none of whose loops is parallel as it stands a compiler makes no vectors, and its regions are waves. With
// leave to reorder sums it makes vectors of these, too.
enum class Vectors : std::uint8_t { Perhaps, OfSums, None };
CoreLoad core_load(const sdfg::Sdfg& nest, const std::map<std::string, std::int64_t>& sizes, const Hardware& hardware,
                   int threads, Vectors vectors = Vectors::Perhaps);
// Whether cores compute, for long enough, most of the time.
bool computes(const CoreLoad& load);
// Whether memory is what they wait for, for long enough.
bool streams(const CoreLoad& load);
// What one core takes at least.
double seconds(const CoreLoad& load);
// What the nest, with `threads` sent out and nothing else changed, gains by that at least; 0: nobody knows. Regions are
// long then, and the largest share leaves something to gain. What was measured of nests like that:
// docs/decisions/021-recipes-by-prediction.md.
double threads_gain(const CoreLoad& load, int threads);

// What a recipe gains on one core at least by vectors in loops that were not parallel before it, so that no compiler
// has found them; 0: perhaps nothing. They are long then, do most of the work, have four lanes and more, and
// neighbouring elements in these. `nest`: with the recipe applied.
// (docs/decisions/026-gains-that-a-compiler-cannot-have.md) `wide_masks_only`: where the compiler stores elements of
// one and two bytes under conditions lane by lane, nothing is counted on with these (gcc).
double freed_vectors_gain(const sdfg::Sdfg& nest, const std::map<std::string, std::int64_t>& sizes,
                          const Hardware& hardware, bool wide_masks_only);

// What most of a program waits for, each iteration of the innermost loop: for the sum of floats that it adds to, in
// order, for another line of memory, for whether a value is the best so far, a float or one whose place is kept beside
// it, or for whether a while loop goes on (or half of it for one of these and half for another, and what stands beside
// the loops that wait). A compiler that leaves the loops as they are makes no fast vectors
// of that. (Short chains of known length it unrolls, and makes vectors of what is around them.) `part`: the same of
// most of any part that has this share of the work.
enum class Waits : std::uint8_t { No, ForLines, ForSums, ForChoices, ForEnds };
Waits waits(const sdfg::Sdfg& program, const std::map<std::string, std::int64_t>& sizes, bool reassociate,
            double part = 1);

// What freed_vectors_gain says, of a recipe that does such a program's work in lanes: fewer lanes and iterations will
// do, and conditions where they are what was waited for, and where sums are what is waited for, half of the lanes
// count, as far as memory keeps up with what the nest does `before`. Of the lanes of while loops a quarter counts.
double reordered_vectors_gain(const sdfg::Sdfg& nest, const std::map<std::string, std::int64_t>& sizes,
                              const Hardware& hardware, Waits waits, const CoreLoad& before);

// What a recipe gains on one core at least by rows that advance together in the lanes of vectors
// (sdfg/carried_columns.h); 0: perhaps nothing. Most of the work is in columns of as many rows as there are lanes, many
// columns in a row. `nest`: with the recipe applied. `plain_only`: where the compiler makes little of masks and of
// lanes that look up elements, and much of the program, nothing is counted on with these, and less without (gcc:
// integers that are compared are moved under a condition, without a branch).
double staggered_lanes_gain(const sdfg::Sdfg& nest, const std::map<std::string, std::int64_t>& sizes,
                            const Hardware& hardware, bool plain_only);

// The share of a nest's work that is stores under conditions into elements of arrays, the same one in each iteration of
// the innermost loop: a running minimum in memory. Of a variable that is so updated a compiler makes a register, of an
// element, which it may not store unasked, a load, a branch and a store, each of which waits for the one before.
double updated_under_conditions(const sdfg::Sdfg& nest, const std::map<std::string, std::int64_t>& sizes);

// The share of a nest's work in statements that go on from what the same element had in the iteration before, in many
// iterations of the innermost loops, one after the other.
double chained(const sdfg::Sdfg& nest, const std::map<std::string, std::int64_t>& sizes);

// The share of a nest's work in sums (minima …) of integers over neighbouring elements, long ones in innermost loops:
// any compiler makes vectors of these.
double integer_sums(const sdfg::Sdfg& nest, const std::map<std::string, std::int64_t>& sizes);

// Whether it has loops that end when the data say so.
bool has_whiles(const sdfg::Sdfg& nest);

// Whether such loops run in lanes. Of what that gains, only reordered_vectors_gain knows.
bool has_whiles_in_lanes(const sdfg::Sdfg& nest);

// Whether most of what runs in lanes takes neighbouring elements there (or the same one), as far as there are lanes.
bool lanes_are_neighbours(const sdfg::Sdfg& nest, const std::map<std::string, std::int64_t>& sizes);

// What a recipe gains on one core at least by rows that advance together where each element of a row waits for the one
// before (StrategyInfo::frees_loops without vectors); 0: perhaps nothing. Most of the work is in loops of eight copies
// and more then, around which long loops are. `nest`: with the recipe applied.
double overlapped_chains_gain(const sdfg::Sdfg& nest, const std::map<std::string, std::int64_t>& sizes);

// All operations of a run (operation_cost.h); as schedule_features counts them, and as core_load does, which takes
// loops whose length only data knows to be short.
double operations(const sdfg::Sdfg& nest, const std::map<std::string, std::int64_t>& sizes);
double operations_of_load(const sdfg::Sdfg& nest, const std::map<std::string, std::int64_t>& sizes);
// And those of conditions, each asked as often as the loops around it run: of no part in the others.
double operations_of_conditions(const sdfg::Sdfg& nest, const std::map<std::string, std::int64_t>& sizes);

}  // namespace sous::tuning_db
