// What `stage` copies into the shared memory of a GPU's block, and how it lies there.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "transforms/operands.h"
#include "transforms/thread_phases.h"

namespace sous::transforms {

// One of the loops that decide what is read.
struct Coordinate {
  sdfg::ScheduleLoop loop;
  std::int64_t trips = 0;
  // Where the loop ends elsewhere in each thread of another one: where that is. `loop` ends at the last of them.
  std::optional<sdfg::Expr> own_end = {};
  bool is_thread() const { return std::holds_alternative<sdfg::GpuBlock>(loop.schedule); }
  sdfg::Expr place() const { return sdfg::Expr::floor_div(sdfg::Expr::symbol(loop.symbol) - loop.begin, loop.step); }
};

// A buffer dimension: which place, of how many, how far apart.
struct Dimension {
  sdfg::Expr at;
  std::int64_t extent = 1, stride = 1;
};

// What is staged in one buffer.
struct Staged {
  std::vector<const Operand*> readers;
  std::vector<Coordinate> coordinates;  // as they are nested
  std::vector<Dimension> dimensions;    // slowest first
  std::int64_t elements = 1;            // of one buffer
  std::int64_t buffer_stride = 1;       // elements from one buffer to the next
  const Operand& operand() const { return *readers[0]; }
};

struct Staging {
  std::string loop;       // that is cut into tiles
  std::int64_t size = 0;  // iterations in a tile
  std::int64_t pad = 0;   // elements between the rows of a buffer
  std::int64_t buffers = 1;
  bool all = false;  // also what one thread alone reads
  // Where an operand's elements lie side by side along the loop, so do their places.
  bool along = false;
};

// Of the operands inside a kernel's blocks, those that are read in the loop, by values, with what they need. They point
// into `all`. Errors: stage.nothing, stage.size.
Result<std::vector<Staged>> staged_operands(const Nest& nest, const std::vector<Operand>& all,
                                            const ThreadPhases& phases, const Staging& staging);

}  // namespace sous::transforms
