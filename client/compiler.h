// The compilers that Sous stands in front of.
#pragma once

#include <set>
#include <string>

namespace sous::client {

// Whether the compiler is of gcc's kind (by its name).
bool is_gcc(const std::string& compiler);
// Of what a compiler said: the first line that says "error", or the first of all.
std::string first_error(const std::string& diagnostics);
// The options by which warnings can be had or not, which a compiler says behind each: "-Wunused-variable". "?" stands
// for one that has none, and for whatever else is said.
std::set<std::string> warning_options(const std::string& diagnostics);

}  // namespace sous::client
