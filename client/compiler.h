// The compilers that Sous stands in front of.
#pragma once

#include <string>

namespace sous::client {

// Whether the compiler is of gcc's kind (by its name).
bool is_gcc(const std::string& compiler);

}  // namespace sous::client
