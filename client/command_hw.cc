// sous hw: this machine, and how much of the database speaks for it.
#include <algorithm>
#include <cstdio>

#include "client/commands.h"
#include "client/places.h"
#include "tuning-db/belief.h"
#include "tuning-db/database.h"
#include "tuning-db/gpu.h"
#include "tuning-db/hardware.h"
#include "tuning-db/places.h"

namespace sous::client {
namespace {

using std::string;

// How much of the database speaks for builds with -march=native here.
void say_what_is_believed(const Options& options, const tuning_db::Hardware& hardware) {
  const string path = database_path(options);
  if (path.empty()) return;
  const auto store = tuning_db::Store::open({.path = path, .seeds = tuning_db::seed_files()});
  const auto all = store ? store->list() : Result<std::vector<tuning_db::Summary>>(std::unexpected(store.error()));
  if (!all) {
    std::printf("database      %s\n", all.error().to_string().c_str());
    return;
  }
  const string here = tuning_db::hardware_class(hardware);
  int own = 0, full = 0, part = 0, none = 0;
  for (const auto& entry : *all) {
    const auto belief = tuning_db::believe(entry.ratio(), entry.threads, entry.hardware_class, here);
    ++(belief.own_class ? own : belief.ratio <= 0 ? none : belief.in_full ? full : part);
  }
  std::printf(
      "database      %zu entries: %d measured on this class, %d elsewhere and believed as they are, %d in part, "
      "%d not at all\n",
      all->size(), own, full, part, none);
  if (own == 0 && full + part > 0) std::printf("              sous setup measures here what others measured, once\n");
}

// Measured where that has not been done yet. What fails is said, and no error: the rest of the page is true.
std::vector<tuning_db::Gpu> gpus(bool again) {
  auto found = tuning_db::local_gpus();
  const bool known = std::ranges::all_of(found, [](const tuning_db::Gpu& gpu) { return gpu.measured(); });
  if (found.empty() || (known && !again)) return found;
  auto measured = tuning_db::measure_gpus();
  if (measured) return *measured;
  std::fprintf(stderr, "sous: %s\n", measured.error().to_string().c_str());
  return found;
}

void say(const tuning_db::Gpu& gpu) {
  std::printf("GPU           %s (sm_%d%d), %d multiprocessors, %.1f GiB, L2 %lld MiB, %lld KiB for a block to share\n",
              gpu.name.c_str(), gpu.major, gpu.minor, gpu.multiprocessors,
              static_cast<double>(gpu.memory_bytes) / (1 << 30), static_cast<long long>(gpu.l2_bytes >> 20),
              static_cast<long long>(gpu.shared_bytes >> 10));
  std::printf("              fma peak f64 %.1f TFLOP/s, f32 %.1f; memory %.2f TB/s (as its clocks say)\n",
              gpu.fma_f64 / 1e12, gpu.fma_f32 / 1e12, gpu.bandwidth_bytes / 1e12);
  if (gpu.measured())
    std::printf(
        "              a launch %.1f us, with waiting for it %.1f us; pinned memory %.1f GB/s to it, %.1f from it; the "
        "start "
        "of its driver %.2f s\n",
        1e6 * gpu.launch_seconds, 1e6 * gpu.round_trip_seconds, gpu.to_bytes / 1e9, gpu.from_bytes / 1e9,
        gpu.start_seconds);
}

}  // namespace

Result<int> command_hw(const Invocation& invocation) {
  auto hardware = tuning_db::local_hardware();
  const bool again = !invocation.words.empty() && invocation.words[0] == "measure";
  if (!invocation.words.empty() && !again) {
    return fail("cli.value", "sous hw takes nothing or measure, not " + invocation.words[0]);
  }
  if (again || !hardware.measured()) {
    auto measured = tuning_db::measure_hardware();
    if (measured) {
      hardware = *measured;
    } else {
      std::fprintf(stderr, "sous: %s\n", measured.error().to_string().c_str());
      hardware = tuning_db::run_microbenchmarks(hardware);
    }
  }
  if (invocation.options.emit == "json") {
    std::printf("%s\n", tuning_db::to_json(hardware).c_str());
    return 0;
  }
  std::printf("processor     %s (%s, %s)\n", hardware.model.c_str(), hardware.vendor.c_str(),
              hardware.architecture.c_str());
  std::printf("class         %s\n", tuning_db::hardware_class(hardware).c_str());
  std::printf("cores         %d\n", hardware.cores);
  std::printf("vectors       %s, %d bits\n", string(tuning_db::to_string(hardware.isa)).c_str(),
              tuning_db::simd_bits(hardware.isa));
  std::printf("caches        L1 %lld KiB, L2 %lld KiB, L3 %lld KiB\n", static_cast<long long>(hardware.l1_bytes >> 10),
              static_cast<long long>(hardware.l2_bytes >> 10), static_cast<long long>(hardware.l3_bytes >> 10));
  std::printf("fma peak      f64 %.1f GFLOP/s a core, %.1f all; f32 %.1f, %.1f\n", hardware.fma_f64_core / 1e9,
              hardware.fma_f64_all / 1e9, hardware.fma_f32_core / 1e9, hardware.fma_f32_all / 1e9);
  std::printf("triad         %.1f GB/s on all cores\n", hardware.triad_bytes / 1e9);
  for (const auto& gpu : gpus(again)) say(gpu);
  say_what_is_believed(invocation.options, hardware);
  if (hardware.loaded) {
    std::printf("loaded        other programs ran meanwhile: these peaks are too low, and are not kept\n");
  } else {
    std::printf("kept in       %s\n", tuning_db::hardware_cache_path().c_str());
  }
  return 0;
}

}  // namespace sous::client
