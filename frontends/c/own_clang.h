// The clang whose libraries this program uses: what that program does, the libraries do without it.
#pragma once

#include <string>

namespace sous::frontends::c {

// Whether the program at `path` is that clang itself, and does what its command says; links are followed, a script or
// another version is none.
bool is_own_clang(const std::string& path);

}  // namespace sous::frontends::c
