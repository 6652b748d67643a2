// Pictures: Graphviz DOT and SVG; memlets labelled, loops as nested boxes.
#pragma once

#include <string>
#include <vector>

#include "sdfg/sdfg.h"

namespace sous::sdfg {

std::string to_dot(const Sdfg& sdfg);
// Laid out by ourselves (nested boxes top to bottom): needs no Graphviz.
std::string to_svg(const Sdfg& sdfg);
// One picture, one below the other.
std::string to_svg(const std::vector<Sdfg>& sdfgs);

}  // namespace sous::sdfg
