// Shapes: how far below the extents that were measured a measurement still speaks.
//
// A recipe is made for loops that are long enough: a tile of registers computes whole tiles however few of their rows
// exist, what is packed is packed for the iterations that use it again, threads share the iterations of one loop. So
// evidence speaks for a shape only where each loop has enough iterations, whatever their product:
//  - as many as were measured to be enough (`least_extents`, which `sous bench shapes` finds), for the nest itself;
//  - else a quarter of those measured, as size classes reach a quarter below in each extent of a matrix
//    (tuning-db/size_class.h), and no fewer than the largest tile, vector or unrolled body that the recipe cuts the
//    loop into, and than the threads that the gain needs get one share each; but never more than were measured.
// Where sizes are not known at build time, the entry checks the same on the run's values.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sdfg/sdfg.h"
#include "transforms/recipe.h"
#include "transforms/source.h"
#include "tuning-db/hardware.h"

namespace sous::tuning_db {

// Iterations of each loop, in preorder: the average where outer loops decide (as work() counts them), 0 where a bound
// is not known from these sizes.
std::vector<double> extents(const sdfg::Sdfg& nest, const std::map<std::string, std::int64_t>& sizes);

struct LeastShape {
  std::vector<double> extents;  // per loop in preorder; 0: any
  double work = 0;              // executions of statements
  bool measured = false;        // or derived from what was measured and the recipe
};
// `recipe` names loops of `nest`, whose loops are those of the evidence. `values`: of what sizes in recipes may use
// (tuning-db/hardware.h).
LeastShape least_shape(const sdfg::Sdfg& nest, const transforms::Recipe& recipe, const transforms::Evidence& evidence,
                       const std::map<std::string, std::int64_t>& values);

// The threads below which a recipe's gain, divided among fewer, is none.
int least_threads(const transforms::Evidence& evidence);

// "" or the loop that is known to be too short: "i0 has 1 of at least 56 iterations". The work is asked for only where
// that was measured: between sizes that are known, size classes decide (tuning-db/size_class.h).
std::string too_small(const sdfg::Sdfg& nest, const std::map<std::string, std::int64_t>& sizes,
                      const LeastShape& least);

// The machine's first-level cache with the lines that its sets may get (sdfg/cache_sets.h) so that the gain survives
// it: up to half of the speed is lost where a set is more than half full, most of it where lines are more than its ways
// (docs/decisions/020-rows-that-share-cache-sets.md). Without sets: the gain survives any number.
sdfg::CacheSets cache_for(const transforms::Evidence& evidence, const Hardware& hardware);
// That of several recipes in one nest.
sdfg::CacheSets strictest(const sdfg::CacheSets& a, const sdfg::CacheSets& b);

// "" or the loop in which a recipe walks rows side by side that are known to share too few sets of the cache: "in i1,
// rows side by side share cache sets". `applied`: the nest after it. Distances that the run brings are asked for on
// entry.
std::string crowded(const sdfg::Sdfg& nest, const sdfg::Sdfg& applied, const std::map<std::string, std::int64_t>& sizes,
                    const sdfg::CacheSets& cache);

}  // namespace sous::tuning_db
