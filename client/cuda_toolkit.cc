#include "client/cuda_toolkit.h"

#include <cstdlib>
#include <filesystem>

#include "client/process.h"

namespace sous::client {
namespace {

bool exists(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

}  // namespace

std::optional<std::string> find_nvcc() {
  if (const char* home = std::getenv("CUDA_HOME"); home != nullptr && *home != 0) {
    std::string path = std::string(home) + "/bin/nvcc";
    if (exists(path)) return path;
  }
  if (std::string path = program_path("nvcc"); path.contains('/')) return path;
  if (std::string path = "/usr/local/cuda/bin/nvcc"; exists(path)) return path;
  return std::nullopt;
}

}  // namespace sous::client
