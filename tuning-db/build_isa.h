// The instruction set of a build: what the compiler's options allow, which the machine may exceed. The original and
// the generated code run with this one, so evidence is about it.
//
// A table of options and processor names, no compiler asked: it answers for gcc as for clang, for the options that an
// entry was measured with years ago, and costs nothing in a build. A name that is not in it counts as the least of its
// architecture: what it says of evidence is then too little, never too much. A compiler whose own default is more than
// that (a configuration file, a wrapper) is taken for the least, too.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tuning-db/hardware.h"

namespace sous::tuning_db {

// `options`: "-O3", "-march=native", "-mavx2", … in the command line's order. Never more than the machine has: what
// runs here does not use it, and what was measured there did not. Elsewhere than on x86-64: the machine's.
Isa build_isa(std::span<const std::string> options, const Hardware& machine);

// The machine as a build with these options uses it: in hardware classes and in sizes of recipes.
Hardware as_built(Hardware machine, std::span<const std::string> options);
// The class of a measurement from the class of its machine and its compiler's options as an entry keeps them, separated
// by blanks. Without any they are not known: the machine's own class.
std::string class_as_built(std::string_view hardware_class, std::string_view options);

// What generated code may be compiled with, behind the build's own options, where it asks on entry whether the
// processor has it: for what the machine has and they leave out. Empty: nothing, or they say what there must not be
// (-mno-…, as kernels do); elsewhere than on x86-64.
std::vector<std::string> wider_than_build(std::span<const std::string> options, const Hardware& machine);

}  // namespace sous::tuning_db
