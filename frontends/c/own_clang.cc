#include "frontends/c/own_clang.h"

#include <cstdlib>
#include <filesystem>

namespace sous::frontends::c {

bool is_own_clang(const std::string& path) {
  if (std::getenv("CCC_OVERRIDE_OPTIONS") != nullptr) return false;
  std::error_code error;
  return !path.empty() && std::filesystem::equivalent(path, SOUS_CLANG_PATH, error) && !error;
}

}  // namespace sous::frontends::c
