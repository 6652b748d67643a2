// The program that builds start, `sous`: it decides what needs no front end and loads nothing for it. Linking with LLVM
// alone costs a process as much as a small file's compile. It asks what is kept, then the file's text, then the
// preprocessed text; all else is sous-core's, which lies beside it and gets that text.
#pragma once

#include <string>
#include <vector>

namespace sous::client {

// Returns only with an exit status of its own; otherwise this process is the compiler, or sous-core.
int run_front(const std::vector<std::string>& arguments);

}  // namespace sous::client
