// Where CUDA's compiler is, and which of our targets is its. Apart from what compiles with it (nvcc.h): the small
// program in front (front.h) knows no targets.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sous::client {

inline constexpr std::string_view gpu_target = "cuda";

// By $CUDA_HOME, then PATH, then /usr/local/cuda.
std::optional<std::string> find_nvcc();

}  // namespace sous::client
