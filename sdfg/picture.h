// Labels that both pictures (DOT and SVG) show.
#pragma once

#include <string>
#include <string_view>

#include "sdfg/sdfg.h"

namespace sous::sdfg {

std::string picture_label(const DataflowNode& node);  // "A", "a * b + 1.0", "gemm(transpose_b)"
std::string picture_label(const Edge& edge);          // "a: A[i, k]"
// How a loop looks by what runs it: in order, on threads, as vectors, unrolled.
struct LoopColors {
  std::string_view edge, fill;
};
LoopColors colors_of(const Schedule& schedule);
std::string declarations_text(const Sdfg& sdfg);  // the name, and a line per container

}  // namespace sous::sdfg
