// Where temporaries live: scalars and small arrays of constant size in the body of the loop that owns them (or in the
// function), everything else on the heap, taken on entry, so that running out of memory is found before anything has
// changed; a copy per thread where the owner runs inside a parallel loop.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sdfg/sdfg.h"

namespace sous::targets {

// Constant arrays up to here lie on the stack (64 KiB: half an L2 way's worth, far below any thread's stack).
inline constexpr std::int64_t max_stack_bytes = std::int64_t{64} * 1024;

struct Transient {
  std::string container;
  std::string owner;        // symbol of the loop in whose body it exists; empty: the function
  bool heap = false;        // an array on the heap
  sdfg::Expr elements;      // of an array: 1 + the largest offset
  bool per_thread = false;  // on the heap: one copy for each thread of the parallel loop around its owner
  int threads = 0;          // of that loop (0: the runtime's own number)
  bool operator==(const Transient&) const = default;
};

// In the order of the Sdfg's containers. `parallel`: the target runs Parallel loops in parallel (the outermost ones).
// Errors: target.unsupported, where the size of a heap array is not known on entry.
Result<std::vector<Transient>> plan_transients(const sdfg::Sdfg& sdfg, bool parallel);

}  // namespace sous::targets
