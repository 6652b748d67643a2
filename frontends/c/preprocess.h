// Preprocessing by Clang's libraries: the start of a compiler takes longer than most files.
#pragma once

#include <string>
#include <vector>

#include "sdfg/result.h"

namespace sous::frontends::c {

struct PreprocessedC {
  std::string text;
  std::string messages;  // what the compiler would have said
};

// What this command of our own clang (own_clang.h) puts out, an -E with one input and no -o: the same bytes, dependency
// file included. `path`: of the program that command[0] names.
// Errors: frontend.preprocess (with what the compiler would have said).
Result<PreprocessedC> preprocess(const std::vector<std::string>& command, const std::string& path);

}  // namespace sous::frontends::c
