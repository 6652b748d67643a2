// Random valid Sdfgs for differential testing, by seed.
//
// Loop nests of depth 1 to 4: rectangular, triangular, strided, descending, tiled, empty; several statements at
// different levels that share a few arrays (stencils in place, reductions, reversed and strided subscripts, floor
// division and modulo, gathers), conditions on indices and on data, temporaries, mixed element types with casts.
// Every subscript is in bounds by construction: while the nest is made, the interval of each subscript is computed
// for all values of the symbols, and the shapes follow from these. Integer division is by a positive number, casts
// from floats are clamped, so that the interpreter accepts every one of them on every `random_memory`.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "sdfg/interp.h"
#include "sdfg/sdfg.h"

namespace sous::tests {

struct NestOptions {
  int max_depth = 4;
  int max_statements = 9;
  bool whiles = true;   // While loops
  bool gathers = true;  // subscripts and bounds read from memory
  // Only sums of scaled f64 values, no conditions on data: what reassociation changes stays a rounding error.
  bool smooth = false;
  // Nests as programs have them: perfect, mostly rectangular, each array written at one place, few dependences; so that
  // steps are legal more often than not.
  bool tidy = false;
  // Perfect nests of three loops, or four, whose statements update an element that the innermost one does not move, in
  // the manner of a matrix product; long enough for tiles.
  bool products = false;
  // Nests of three loops that update one array in place: of two of them, all rows and columns read one row and one
  // column (closures, elimination); or of elements beside each other (sweeps, dynamic programs).
  bool in_place = false;
};

sdfg::Sdfg random_nest(std::uint64_t seed, const NestOptions& options = {});

// Values for its symbols (3 to 6) and arguments: small numbers without NaN; containers whose name starts with "idx"
// hold 0 to 4.
sdfg::Memory random_memory(const sdfg::Sdfg& sdfg, std::uint64_t seed);
// The same with these values of the symbols.
sdfg::Memory random_memory(const sdfg::Sdfg& sdfg, std::uint64_t seed,
                           const std::map<std::string, std::int64_t>& symbols);

// The seeds of the memories that nests are run on. Schedules are legal for these only: whether two iterations touch one
// element may depend on what is in an index array.
inline constexpr std::uint64_t memory_seeds[] = {1, 2};

// The same nest with Parallel, Simd and Unroll schedules on some loops (temporaries that only the loop touches become
// its privates): those that the interpreter finds to be the same in every order it tries, on the memories of
// `memory_seeds`.
sdfg::Sdfg random_schedules(const sdfg::Sdfg& sdfg, std::uint64_t seed);

}  // namespace sous::tests
