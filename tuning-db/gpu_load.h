// What a nest with loops over blocks and threads asks of a GPU, after S. Williams et al. (Roofline, CACM 2009): an
// estimate, rather too long than too short.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "sdfg/sdfg.h"
#include "tuning-db/gpu.h"

namespace sous::tuning_db {

struct GpuLoad {
  double seconds = 0;  // of its kernels, without what launches cost
  double launches = 0;
  double kernels = 0;  // different ones
};
// `nest`: as its recipe leaves it. `sizes`: as for core_load.
GpuLoad gpu_load(const sdfg::Sdfg& nest, const std::map<std::string, std::int64_t>& sizes, const Gpu& gpu);

// Of the arrays among its arguments, what a nest reads and what it writes that somebody looks at: bytes that cross the
// bus at most.
struct BusLoad {
  double to = 0, from = 0;
};
BusLoad bus_load(const sdfg::Sdfg& nest, const std::map<std::string, std::int64_t>& sizes);

}  // namespace sous::tuning_db
