// The compilers that Sous stands in front of.
#pragma once

#include <string>
#include <vector>

namespace sous::client {

// Whether the compiler is of gcc's kind (by its name).
bool is_gcc(const std::string& compiler);
// Options for compiling generated C++, behind the user's own.
std::vector<std::string> generated_options(const std::string& compiler, bool contract, bool openmp);

}  // namespace sous::client
