// Parallel and Simd loops as OpenMP pragmas.
#pragma once

#include "targets/cpp/printer.h"

namespace sous::targets {

void print_parallel(Printer& printer, const sdfg::Loop& loop, const sdfg::Parallel& parallel);

// Innermost loops only (compilers vectorise no others); a Dialect's `simd`.
std::optional<std::string> print_omp_simd(Printer& printer, const sdfg::Loop& loop);

// --- Reductions of one loop into one element: through a local variable ----------------------------------------------

struct LocalReduction {
  sdfg::Memlet place;    // the element, the same in every iteration
  std::string variable;  // its local copy
  sdfg::ReductionOp op = sdfg::ReductionOp::sum;
  bool ordered = false;  // it keeps, with the value, which thread it comes from
};
// The element of `container` that the loop's body touches, if it is only one and the same in every iteration.
std::optional<sdfg::Memlet> single_place(const sdfg::Loop& loop, const std::string& container);

}  // namespace sous::targets
