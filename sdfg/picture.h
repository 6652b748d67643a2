// Labels that both pictures (DOT and SVG) show.
#pragma once

#include <string>

#include "sdfg/sdfg.h"

namespace sous::sdfg {

std::string picture_label(const DataflowNode& node);  // "A", "a * b + 1.0", "gemm(transpose_b)"
std::string picture_label(const Edge& edge);          // "a: A[i, k]"
std::string declarations_text(const Sdfg& sdfg);      // the name, and a line per container

}  // namespace sous::sdfg
