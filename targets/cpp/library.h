// Library nodes as plain loops, in the order that sdfg/interp_library.cc defines.
#pragma once

#include "targets/cpp/printer.h"

namespace sous::targets {

// state.nodes[node] is `library`.
void print_library_node(Printer& printer, const sdfg::State& state, int node, const sdfg::LibraryNode& library);

// Why a library node of `sdfg` cannot be printed, if one cannot: it reads and writes one container at different places.
std::optional<std::string> unsupported_library_node(const sdfg::Sdfg& sdfg);

}  // namespace sous::targets
