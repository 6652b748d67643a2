// Kernels, and the host code that launches them.
#pragma once

#include "targets/cpp/printer.h"

namespace sous::targets {

// A Dialect's `region` and `gpu`. On the host, what holds no kernel runs in one thread of the device: that is where the
// data is.
bool print_device_region(Printer& printer, const sdfg::Region& region);
void print_kernel(Printer& printer, const sdfg::Loop& loop);

}  // namespace sous::targets
