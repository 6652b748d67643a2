// Pragmas of gcc's that must stand right ahead of a loop: ivdep, unroll, novector. clang's parser passes them over.
#pragma once

#include <cstddef>
#include <string_view>

namespace sous::frontends::c {

// Where a stretch begins with the pragmas that belong to its first loop: `begin`, or the end of the line ahead of them.
std::size_t with_loop_pragmas(std::string_view text, std::size_t begin);

}  // namespace sous::frontends::c
