// The part of Highway's interface that generated code uses most, for x86-64 with AVX2 or AVX-512 and elements of four
// or eight bytes (narrower ones are loaded, converted and stored): the same names, the same results and, in what runs
// often, the same instructions, but on the vectors of gcc and clang themselves. Highway and the compilers' headers of
// intrinsics are 100,000 lines; reading them takes two seconds of each compile, reading this a few hundredths. What is
// not here (arithmetic on narrow elements, functions such as exp, older instruction sets) is Highway's:
// targets/runtime/highway.h chooses.
#pragma once

#include "targets/runtime/vectors_arithmetic.h"
#include "targets/runtime/vectors_masks.h"
#include "targets/runtime/vectors_memory.h"
#include "targets/runtime/vectors_native.h"
#include "targets/runtime/vectors_types.h"
