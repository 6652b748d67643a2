// Lines that a nest keeps at a distance of each other: where lanes, or the rows of a tile, walk along rows of an array,
// each row has a line that the next iteration takes up again. Rows that lie a multiple of the size of a cache's way
// apart (4096 bytes on most processors: any large power of two) have those lines in one set, which holds no more of
// them than it has ways; beyond that every access misses, though the cache is all but empty.
// docs/decisions/020-rows-that-share-cache-sets.md
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sdfg/sdfg.h"

namespace sous::sdfg {

inline constexpr std::int64_t line_bytes = 64;

// The cache of first level, and what a vector register holds.
struct CacheSets {
  std::int64_t sets = 0;  // 0: not known, nothing is said
  std::int64_t ways = 0;
  std::int64_t vector_bytes = 0;
};

// `count` lines, `bytes` from one to the next.
struct Stride {
  Expr bytes;
  std::int64_t count = 1;
};
// The lines of one access: every combination of its strides; none: one line.
using Walk = std::vector<Stride>;

// What one iteration of a loop touches and the next one takes up again.
struct Window {
  std::string loop;
  std::vector<Walk> walks;
};

// The windows of `sdfg` in which a walk has strides: of loops that move along lines, with loops of constant length or
// lanes beside them. Arrays whose columns `original` walks down as well are left out: it has the same lines, and more
// of them. Both name the same containers.
std::vector<Window> windows(const Sdfg& sdfg, const Region& original, const CacheSets& cache);

// Whether the window's distances are all known now.
bool is_constant(const Window& window);
// Whether a set gets more lines than it holds, arrays beginning alike. (targets/runtime/cache_sets.h does the same with
// the values of a run.) False where a distance is not known from `symbols`.
bool crowded(const Window& window, const std::map<std::string, std::int64_t>& symbols, const CacheSets& cache);

}  // namespace sous::sdfg
