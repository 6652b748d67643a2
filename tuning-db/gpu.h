// The GPUs of this machine, as the driver tells them: its library is looked for when this is asked, so that nothing
// depends on it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sdfg/result.h"

namespace sous::tuning_db {

struct Gpu {
  std::string name;
  int multiprocessors = 0;
  int major = 0, minor = 0;  // of the compute capability: 9 and 0 is sm_90
  std::int64_t memory_bytes = 0, l2_bytes = 0;
  std::int64_t shared_bytes = 0;    // that a block may have
  double bandwidth_bytes = 0;       // per second, of its memory: both edges of the clock on all lines; 0: not told
  double fma_f64 = 0, fma_f32 = 0;  // operations per second at the highest clock, an fma counting as two; 0: not known
  // Measured; 0: not measured.
  double launch_seconds = 0;            // each of many kernels in a row
  double round_trip_seconds = 0;        // a kernel, and waiting for it
  double to_bytes = 0, from_bytes = 0;  // per second, from and to pinned memory of the host
  double start_seconds = 0;             // of the driver, in a process that has not used it yet
  bool measured() const { return launch_seconds > 0; }
  bool operator==(const Gpu&) const = default;
};

// Without the measured values; none where there is no driver or no GPU. A tenth of a second.
std::vector<Gpu> describe_gpus();
// The same with the measured values that are kept.
std::vector<Gpu> local_gpus();
// A GPU of this architecture (90: sm_90) as data sheets have it, for programs that are built where none is.
Gpu typical_gpu(int architecture);
// Measures each (half a second, most of it the start of the driver) and keeps what it finds beside hardware_cache_path.
// Errors: hardware.gpu (the driver refuses), hardware.cache (the file cannot be written).
Result<std::vector<Gpu>> measure_gpus();

// One line, keys sorted.
std::string to_json(const Gpu& gpu);
// Errors: hardware.json, hardware.budget, hardware.field.
Result<Gpu> gpu_from_json(std::string_view json);

}  // namespace sous::tuning_db
