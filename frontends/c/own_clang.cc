#include "frontends/c/own_clang.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace sous::frontends::c {
namespace {

constexpr BuiltWith built_with[] = {SOUS_BUILT_WITH};

}  // namespace

bool unchanged(std::span<const BuiltWith> files) {
  return std::ranges::all_of(files, [](const BuiltWith& file) {
    struct stat now;
    return ::stat(file.path, &now) == 0 && now.st_size == file.bytes && now.st_mtime == file.seconds;
  });
}

bool is_own_clang(const std::string& path) {
  if (std::getenv("CCC_OVERRIDE_OPTIONS") != nullptr) return false;
  std::error_code error;
  return !path.empty() && std::filesystem::equivalent(path, SOUS_CLANG_PATH, error) && !error && unchanged(built_with);
}

}  // namespace sous::frontends::c
