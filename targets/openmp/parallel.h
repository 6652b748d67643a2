// Parallel loops on the threads of a team, Simd loops as OpenMP pragmas.
#pragma once

#include "targets/cpp/printer.h"

namespace sous::targets {

void print_parallel(Printer& printer, const sdfg::Loop& loop, const sdfg::Parallel& parallel);

// Innermost loops only (compilers vectorise no others); a Dialect's `simd`.
std::optional<std::string> print_omp_simd(Printer& printer, const sdfg::Loop& loop);

}  // namespace sous::targets
