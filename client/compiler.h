// The compilers that Sous stands in front of.
#pragma once

#include <string>

namespace sous::client {

// Whether the compiler is of gcc's kind (by its name).
bool is_gcc(const std::string& compiler);
// Of what a compiler said: the first line that says "error", or the first of all.
std::string first_error(const std::string& diagnostics);

}  // namespace sous::client
