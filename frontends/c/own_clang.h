// The clang whose libraries this program uses: what that program does, the libraries do without it.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace sous::frontends::c {

// A file of that clang's, as it was when Sous was linked with its libraries. A program that has them in it does not
// change with them: another patch level at the same place has other predefined macros.
struct BuiltWith {
  const char* path;
  std::int64_t bytes;
  std::int64_t seconds;  // of its last change
};

// Whether these are still the same files, links followed.
bool unchanged(std::span<const BuiltWith> files);

// Whether the program at `path` is that clang itself, and does what its command says; links are followed, a script or
// another version is none.
bool is_own_clang(const std::string& path);

}  // namespace sous::frontends::c
