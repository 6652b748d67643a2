// The compiler launcher: `sous [options] clang-19 -O3 -c a.c -o a.o`.
//
// What is not understood completely is executed untouched. Where no nest is served, the very original command runs, so
// that the object is the same bytes. Whatever of ours fails, the original command runs instead; exit codes and
// diagnostics are always the compiler's own.
#pragma once

#include <string>
#include <vector>

#include "client/options.h"

namespace sous::client {

// `command`: the compiler and its arguments. Returns the exit status.
int launch(const Options& options, const std::vector<std::string>& command);

// Where "targets/runtime/…" lies: beside the installed program, or in the source tree it was built from.
std::string runtime_include_path();
// Options for compiling generated C++, behind the user's own.
std::vector<std::string> generated_options(const std::string& compiler, bool contract, bool openmp);
// Whether the compiler is of gcc's kind (by its name).
bool is_gcc(const std::string& compiler);

}  // namespace sous::client
