// Elements that lie side by side, between memory and registers: as many at a time as one access moves.
#pragma once

#include "targets/cpp/printer.h"

namespace sous::targets {

// Prints a loop in lanes that does nothing else, and returns true; or prints nothing.
bool print_neighbours(Printer& printer, const sdfg::Loop& loop);

}  // namespace sous::targets
