#include "client/cache_prefix.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "client/process.h"

namespace sous::client {

std::size_t cache_prefix(const std::vector<std::string>& command) {
  static constexpr std::array<std::string_view, 4> caches{"buildcache", "ccache", "distcc", "sccache"};
  std::size_t words = 0;
  while (words + 1 < command.size() && std::ranges::find(caches, name_of(command[words])) != caches.end()) {
    ++words;
    while (words + 1 < command.size() && command[words].find('=') != std::string::npos) ++words;  // ccache's settings
  }
  // `ccache -s` is no compile.
  return words > 0 && !command[words].starts_with('-') ? words : 0;
}

}  // namespace sous::client
