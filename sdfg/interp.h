// The reference interpreter: slow, obvious, bounds-checked. It defines what an Sdfg means.
//
// Errors (code, when): interp.out-of-bounds, interp.undefined-read (a private or transient element read before it was
// written), interp.division (integer division by zero or overflow), interp.shift, interp.cast-range, interp.order (a
// Parallel, GpuGrid or GpuBlock loop gives different results in ascending and in descending order, or a Simd loop in
// lockstep and in sequence), interp.symbol (missing), interp.buffer (an argument missing, of the wrong type or too
// small), interp.expr (an expression that cannot be evaluated), interp.assumption (an assumption does not hold on
// entry), interp.budget (more than Options::max_operations tasklet executions and loop iterations).
//
// A Simd loop that leaves its lanes open runs in lockstep in groups of 64 bytes of the widest type in its body. In
// lockstep, lanes run the iterations of an inner loop that have the same value of its symbol together (masked where
// only some lanes have that value), in the order of the values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sdfg/sdfg.h"

namespace sous::sdfg {

// The elements of one argument container, raw, in the container's own layout: element k lies at bytes[k * size].
// Large enough for every element (offset and strides included); `store_size` gives how many that are.
struct Buffer {
  ElementType type = ElementType::f64;
  std::vector<std::byte> bytes;
  bool operator==(const Buffer&) const = default;
};

struct Memory {
  std::map<std::string, std::int64_t> symbols;
  std::map<std::string, Buffer> buffers;  // by argument container
};

struct InterpOptions {
  std::int64_t max_operations = 50'000'000;
  bool check_orders = true;  // run parallel and simd loops in both orders and compare
};

// Runs `sdfg`, which must pass `check`, on `memory` in place. Reductions: partial results are not simulated; iterations
// combine in order, and the containers of a loop's `reductions` are left out of the comparison of orders where their
// type is a float.
Result<void> interpret(const Sdfg& sdfg, Memory& memory, const InterpOptions& options = {});

// Overwrites the elements of dead containers, which nobody may look at: what they held is no part of a result.
// `interpret` ends with it; whoever compares generated code with it does the same.
void forget_dead(const Sdfg& sdfg, Memory& memory);

// Elements that container `name` spans: 1 + the largest offset of any in-bounds element (0 if a dimension is empty).
Result<std::int64_t> store_size(const Sdfg& sdfg, const std::string& name,
                                const std::map<std::string, std::int64_t>& symbols);

}  // namespace sous::sdfg
