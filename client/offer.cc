#include "client/offer.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "client/nvcc.h"
#include "client/sized.h"
#include "sdfg/planted_fault.h"
#include "tuning-db/gpu_load.h"
#include "tuning-db/shape.h"
#include "tuning-db/size_class.h"

namespace sous::client {
namespace {

using std::string;

// The same as in targets/runtime/gpu_offer.h: below it nobody knows which side is faster.
constexpr double clearly = 1.5;
// Of what the bus moves of pinned memory, what arrays of the program get: they are copied on their way, results twice,
// into memory whose pages are new. An H200 beside 16 cores: 55 GB/s pinned, 31 to it and 11 from it.
constexpr double share_to = 0.5, share_from = 0.2;
// Bytes per second that all cores of a machine have together, and one has: high estimates.
constexpr double bytes_of_cores = 200e9, bytes_of_core = 10e9;
// Of each run, besides launches: memory, and waiting. Of the first launch of a kernel: its code is brought there.
constexpr double seconds_of_run = 100e-6, seconds_of_kernel = 0.3e-3;

struct CpuLoad {
  double core = 0, memory = 0;  // seconds
  bool threads = false;
};

// A measurement of this nest, or of one that is at most so far away: in time for each statement, as good as the same.
constexpr double near = 1;
bool is_measured(const Choice& choice, double distance) {
  const transforms::Match& match = choice.match;
  const bool predicted = match.origin == transforms::Origin::Strategy || match.origin == transforms::Origin::Forced;
  return !predicted && match.distance <= distance && match.evidence.tuned_seconds > 0 && match.evidence.work > 0;
}

CpuLoad cpu_load(const PreparedNest& nest, const Unit& unit, const Choice* choice, const Sizes& sizes) {
  if (choice != nullptr && is_measured(*choice, near)) {
    const auto& e = choice->match.evidence;
    const double seconds = e.tuned_seconds / e.work * tuning_db::work(unit.nest, sizes).value_or(0);
    return {.core = seconds * e.threads, .threads = e.threads > 1};
  }
  const auto load_of = [&](const sdfg::Sdfg& one) {
    return tuning_db::core_load(one, sizes, nest.hardware, nest.hardware.cores);
  };
  auto load = load_of(choice != nullptr ? choice->applied : unit.nest);
  // What is said of memory is a high estimate, the more so of tiles.
  if (choice != nullptr) load.bytes = std::min(load.bytes, load_of(unit.nest).bytes);
  const bool threads = load.regions > 0;
  return {.core = std::max(1e-9 * load.nanoseconds, load.bytes / bytes_of_core),
          .memory = threads ? load.bytes / bytes_of_cores : 0,
          .threads = threads};
}

// The unit's symbols have names of their own.
Sizes sizes_of(const Unit& unit, const Sizes& of_nest) {
  Sizes sizes;
  for (const string& symbol : unit.nest.symbols) {
    const auto original = unit.to_original.symbols.find(symbol);
    const auto size = of_nest.find(original == unit.to_original.symbols.end() ? symbol : original->second);
    if (size != of_nest.end()) sizes[symbol] = size->second;
  }
  return sizes;
}

// The units that the choices are for, or, where there are none, all.
CpuLoad cpu_load(const PreparedNest& nest, const Chosen& cpu, const Sizes& sizes) {
  CpuLoad all;
  const bool whole = nest.units.size() == 1 || (!cpu.choices.empty() && cpu.choices.front().unit == 0);
  for (const Unit& unit : nest.units) {
    if ((unit.index == 0) != whole) continue;
    const auto choice = std::ranges::find(cpu.choices, unit.index, &Choice::unit);
    const CpuLoad one = cpu_load(nest, unit, choice == cpu.choices.end() ? nullptr : &*choice, sizes_of(unit, sizes));
    all.core += one.core;
    all.memory += one.memory;
    all.threads = all.threads || one.threads;
  }
  return all;
}

string milliseconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g ms", 1e3 * seconds);
  return text;
}

}  // namespace

bool Times::gains() const { return gpu * clearly <= cpu || planted(Fault::gpu_whatever_it_costs); }

string Times::in_words() const {
  return "expected to take " + milliseconds(gpu) + " on the GPU, transfers included, and " + milliseconds(cpu) +
         " on the CPU" + (sizes_known ? "" : " where it is large");
}

Times times(const PreparedNest& nest, const Chosen& gpu, const sdfg::Sdfg& applied, const Chosen& cpu,
            const tuning_db::Gpu& device) {
  const Sized sized(nest.normal, nest.sizes, nest.hardware, nest.hardware.cores, For::Threads,
                    tuning_db::Vectors::Perhaps, nest.greatest);
  const Sizes& sizes = sized.usual();
  const double work = std::max(1.0, tuning_db::work(nest.normal, sizes).value_or(1));
  const CpuLoad host = cpu_load(nest, cpu, sizes);
  Times out;
  out.sizes_known = !sized.open();
  out.cpu = std::max(host.core / (host.threads ? std::max(1, nest.hardware.cores) : 1), host.memory);
  targets::Offer& offer = out.offer;
  offer.original = nest.normal.root;
  offer.core_each = host.core / work;
  offer.memory_each = host.memory / work;
  offer.threads = host.threads;
  offer.start = device.start_seconds;
  const bool measured = std::ranges::all_of(gpu.choices, [](const Choice& choice) { return is_measured(choice, 0); });
  const auto load = tuning_db::gpu_load(applied, sizes, device);
  offer.first = seconds_of_kernel * load.kernels;
  if (measured) {  // from end to end
    for (const Choice& choice : gpu.choices) {
      const Unit& unit = nest.unit(choice.unit);
      out.gpu += cpu_load(nest, unit, &choice, sizes_of(unit, sizes)).core;
    }
    offer.kernels_each = out.gpu / work;
    return out;
  }
  offer.kernels_each = load.seconds / work;
  offer.launch = device.launch_seconds;
  offer.run = seconds_of_run + device.round_trip_seconds;
  offer.to_byte = 1 / (share_to * device.to_bytes);
  offer.from_byte = 1 / (share_from * device.from_bytes);
  const auto bus = tuning_db::bus_load(nest.normal, sizes);
  out.gpu =
      offer.run + load.seconds + load.launches * offer.launch + bus.to * offer.to_byte + bus.from * offer.from_byte;
  return out;
}

tuning_db::Gpu offered_gpu() {
  const auto gpus = tuning_db::local_gpus();
  if (gpus.empty()) return tuning_db::typical_gpu(oldest_architecture());
  tuning_db::Gpu gpu = gpus.front();
  if (gpu.measured()) return gpu;
  const tuning_db::Gpu typical = tuning_db::typical_gpu(10 * gpu.major + gpu.minor);
  gpu.launch_seconds = typical.launch_seconds;
  gpu.round_trip_seconds = typical.round_trip_seconds;
  gpu.to_bytes = typical.to_bytes;
  gpu.from_bytes = typical.from_bytes;
  gpu.start_seconds = typical.start_seconds;
  if (!(gpu.bandwidth_bytes > 0)) gpu.bandwidth_bytes = typical.bandwidth_bytes;
  if (!(gpu.fma_f64 > 0)) gpu.fma_f64 = typical.fma_f64;
  if (!(gpu.fma_f32 > 0)) gpu.fma_f32 = typical.fma_f32;
  return gpu;
}

}  // namespace sous::client
