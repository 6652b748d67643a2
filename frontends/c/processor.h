// The function that guards ask whether the processor has what generated code is compiled for.
#pragma once

#include <string_view>

namespace sous::frontends::c {

// int sous_processor(int level), its definition in C, on one line: whether processor and system have AVX2 with FMA and
// BMI2 (1), or AVX-512 F, BW, DQ and VL besides (2). Asked once in each file, always at the same level. A processor
// that has these is not without the rest of x86-64-v3, and v4.
//
// Not __builtin_cpu_supports: it is a variable of the compiler's library, with which not every shared library is
// linked, and clang reads it as if it were the object's own.
std::string_view processor_function();

}  // namespace sous::frontends::c
