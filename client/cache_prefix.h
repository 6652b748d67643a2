// `sous ccache clang-19 …`: a compiler cache between Sous and the compiler.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace sous::client {

// How many words of the command are compiler caches (ccache, sccache, …) in front of the compiler, 0 for most: what
// Sous leaves as it is goes through them, what it serves is compiled without.
std::size_t cache_prefix(const std::vector<std::string>& command);

}  // namespace sous::client
