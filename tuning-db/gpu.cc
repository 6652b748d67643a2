#include "tuning-db/gpu.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <sstream>

#include "tuning-db/cuda_driver.h"
#include "tuning-db/files.h"
#include "tuning-db/hardware.h"
#include "tuning-db/json_reader.h"

namespace sous::tuning_db {
namespace {

using Driver = CudaDriver;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// Pipes for single precision in a multiprocessor, by compute capability (CUDA Programming Guide, "Arithmetic
// Instructions"); 0: not known.
int f32_pipes(int major, int minor) {
  if (major == 6) return minor == 0 ? 64 : 128;
  if (major == 7) return 64;
  if (major == 8) return minor == 0 ? 64 : 128;
  return major >= 9 && major <= 12 ? 128 : 0;
}

Gpu described(const Driver& driver, Driver::Device device) {
  const auto attribute = [&](int which) {
    int value = 0;
    return driver.attribute(&value, which, device) == 0 ? value : 0;
  };
  Gpu gpu;
  char name[256] = {};
  if (driver.name(name, sizeof name - 1, device) == 0) gpu.name = as_one_line(name);
  std::size_t bytes = 0;
  if (driver.memory(&bytes, device) == 0) gpu.memory_bytes = static_cast<std::int64_t>(bytes);
  gpu.multiprocessors = attribute(Driver::multiprocessors);
  gpu.major = attribute(Driver::major);
  gpu.minor = attribute(Driver::minor);
  gpu.l2_bytes = attribute(Driver::l2_bytes);
  gpu.shared_bytes = attribute(Driver::shared_bytes);
  gpu.bandwidth_bytes = 2e3 * attribute(Driver::memory_clock_khz) * (attribute(Driver::memory_bits) / 8.0);
  gpu.fma_f32 =
      2e3 * attribute(Driver::clock_khz) * gpu.multiprocessors * static_cast<double>(f32_pipes(gpu.major, gpu.minor));
  if (const int ratio = attribute(Driver::f32_for_each_f64); ratio > 0) gpu.fma_f64 = gpu.fma_f32 / ratio;
  return gpu;
}

std::vector<Driver::Device> devices_of(const Driver& driver) {
  int count = 0;
  std::vector<Driver::Device> devices;
  if (driver.count(&count) != 0) return devices;
  for (int k = 0; k < count; ++k)
    if (Driver::Device device = 0; driver.device(&device, k) == 0) devices.push_back(device);
  return devices;
}

// The shortest of some runs, in seconds. Negative: one failed.
double shortest(int runs, const std::function<bool()>& run) {
  double best = -1;
  for (int k = 0; k < runs; ++k) {
    const double begin = now();
    if (!run()) return -1;
    const double seconds = now() - begin;
    best = best < 0 ? seconds : std::min(best, seconds);
  }
  return best;
}

bool measure_launches(const Driver& driver, Gpu& gpu) {
  // A kernel that does nothing, in the driver's assembly language.
  constexpr const char* nothing =
      ".version 6.0\n.target sm_50\n.address_size 64\n.visible .entry nothing() {\n  ret;\n}\n";
  constexpr int launches = 1000;
  Driver::Module module = nullptr;
  Driver::Function kernel = nullptr;
  if (driver.load(&module, nothing) != 0) return false;
  const auto launch = [&] { return driver.launch(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr) == 0; };
  const auto one = [&] { return launch() && driver.wait() == 0; };
  const auto many = [&] {
    for (int k = 0; k < launches; ++k)
      if (!launch()) return false;
    return driver.wait() == 0;
  };
  const bool found = driver.function(&kernel, module, "nothing") == 0 && one();
  const double single = found ? shortest(20, one) : -1, all = found ? shortest(5, many) : -1;
  driver.unload(module);
  gpu.round_trip_seconds = single;
  gpu.launch_seconds = all / launches;
  return single > 0 && all > 0;
}

bool measure_transfers(const Driver& driver, Gpu& gpu) {
  constexpr std::size_t bytes = std::size_t{32} << 20;
  Driver::Address there = 0;
  void* here = nullptr;
  double to = -1, from = -1;
  if (driver.allocate(&there, bytes) == 0) {
    if (driver.allocate_host(&here, bytes) == 0) {
      to = shortest(5, [&] { return driver.copy_to(there, here, bytes) == 0; });
      from = shortest(5, [&] { return driver.copy_from(here, there, bytes) == 0; });
      driver.release_host(here);
    }
    driver.release(there);
  }
  gpu.to_bytes = static_cast<double>(bytes) / to;
  gpu.from_bytes = static_cast<double>(bytes) / from;
  return to > 0 && from > 0;
}

std::filesystem::path cache_path() {
  const std::filesystem::path path = hardware_cache_path();
  return path.empty() ? path : path.parent_path() / "gpus.json";
}

// What the measured values belong to.
bool same_gpu(const Gpu& a, const Gpu& b) { return a.name == b.name && a.memory_bytes == b.memory_bytes; }

// A line that cannot be read is no error: this is a cache.
std::vector<Gpu> read_cache() {
  std::vector<Gpu> gpus;
  const auto text = read_file(cache_path(), 64 << 10);
  std::istringstream lines(text ? *text : "");
  for (std::string line; std::getline(lines, line);)
    if (auto gpu = gpu_from_json(line)) gpus.push_back(std::move(*gpu));
  return gpus;
}

Result<void> keep(const std::vector<Gpu>& measured) {
  constexpr std::size_t most = 32;
  const auto path = cache_path();
  if (path.empty() || measured.empty()) return {};
  std::vector<Gpu> all = measured;
  for (Gpu& gpu : read_cache())
    if (std::ranges::none_of(all, [&](const Gpu& other) { return same_gpu(other, gpu); }))
      all.push_back(std::move(gpu));
  if (all.size() > most) all.resize(most);
  std::string lines;
  for (const Gpu& gpu : all) lines += to_json(gpu) + "\n";
  if (auto written = write_file_atomically(path, lines); !written)
    return fail("hardware.cache", written.error().why, path.string());
  return {};
}

}  // namespace

std::vector<Gpu> describe_gpus() {
  std::vector<Gpu> gpus;
  if (const auto driver = cuda_driver())
    for (const Driver::Device device : devices_of(*driver)) gpus.push_back(described(*driver, device));
  return gpus;
}

std::vector<Gpu> local_gpus() {
  std::vector<Gpu> gpus = describe_gpus();
  const std::vector<Gpu> kept = gpus.empty() ? gpus : read_cache();
  for (Gpu& gpu : gpus)
    for (const Gpu& other : kept)
      if (same_gpu(gpu, other)) gpu = other;
  return gpus;
}

Gpu typical_gpu(int architecture) {
  Gpu gpu{
      .name = "a GPU of sm_" + std::to_string(architecture), .major = architecture / 10, .minor = architecture % 10};
  gpu.launch_seconds = 5e-6;
  gpu.round_trip_seconds = 15e-6;
  gpu.start_seconds = 0.25;
  const bool hopper = architecture >= 90;  // H100 and A100, both SXM
  gpu.multiprocessors = hopper ? 132 : 108;
  gpu.memory_bytes = std::int64_t{hopper ? 80 : 40} << 30;
  gpu.l2_bytes = std::int64_t{hopper ? 50 : 40} << 20;
  gpu.bandwidth_bytes = hopper ? 3.35e12 : 1.55e12;
  gpu.fma_f64 = hopper ? 33.5e12 : 9.7e12;
  gpu.fma_f32 = 2 * gpu.fma_f64;
  gpu.to_bytes = gpu.from_bytes = hopper ? 50e9 : 24e9;  // PCI Express of the fifth and of the fourth generation
  return gpu;
}

Result<std::vector<Gpu>> measure_gpus() {
  std::vector<Gpu> gpus;
  double begin = now();
  const auto driver = cuda_driver();
  if (!driver) return gpus;
  for (const Driver::Device device : devices_of(*driver)) {
    Gpu gpu = described(*driver, device);
    Driver::Context context = nullptr;
    if (driver->retain_context(&context, device) != 0 || driver->use_context(context) != 0)
      return fail("hardware.gpu", "the driver gives no access to it", gpu.name);
    gpu.start_seconds = now() - begin;
    const bool well = measure_launches(*driver, gpu) && measure_transfers(*driver, gpu);
    driver->use_context(nullptr);
    driver->release_context(device);
    if (!well) return fail("hardware.gpu", "the driver launches or copies nothing", gpu.name);
    gpus.push_back(std::move(gpu));
    begin = now();
  }
  TRY_VOID(keep(gpus));
  return gpus;
}

std::string to_json(const Gpu& g) {
  return dump(Json{{"name", g.name},
                   {"multiprocessors", g.multiprocessors},
                   {"major", g.major},
                   {"minor", g.minor},
                   {"memory_bytes", g.memory_bytes},
                   {"l2_bytes", g.l2_bytes},
                   {"shared_bytes", g.shared_bytes},
                   {"bandwidth_bytes", g.bandwidth_bytes},
                   {"fma_f64", g.fma_f64},
                   {"fma_f32", g.fma_f32},
                   {"launch_seconds", g.launch_seconds},
                   {"round_trip_seconds", g.round_trip_seconds},
                   {"to_bytes", g.to_bytes},
                   {"from_bytes", g.from_bytes},
                   {"start_seconds", g.start_seconds}});
}

Result<Gpu> gpu_from_json(std::string_view text) {
  constexpr std::int64_t largest = std::int64_t{1} << 50;
  TRY(const Json json, parse_json(text, "hardware", {.bytes = 64 << 10, .depth = 8}));
  TRY(auto in, ObjectReader::of(json, "hardware", "gpu"));
  Gpu g;
  TRY(g.name, in.line("name", 256));
  TRY(const std::int64_t multiprocessors, in.integer("multiprocessors", 0, 1 << 16));
  TRY(const std::int64_t major, in.integer("major", 0, 1000));
  TRY(const std::int64_t minor, in.integer("minor", 0, 1000));
  g.multiprocessors = static_cast<int>(multiprocessors);
  g.major = static_cast<int>(major);
  g.minor = static_cast<int>(minor);
  TRY(g.memory_bytes, in.integer("memory_bytes", 0, largest));
  TRY(g.l2_bytes, in.integer("l2_bytes", 0, largest));
  TRY(g.shared_bytes, in.integer("shared_bytes", 0, largest));
  TRY(g.bandwidth_bytes, in.number("bandwidth_bytes", 0, 1e18));
  TRY(g.fma_f64, in.number("fma_f64", 0, 1e18));
  TRY(g.fma_f32, in.number("fma_f32", 0, 1e18));
  TRY(g.launch_seconds, in.number("launch_seconds", 0, 1e6));
  TRY(g.round_trip_seconds, in.number("round_trip_seconds", 0, 1e6));
  TRY(g.to_bytes, in.number("to_bytes", 0, 1e18));
  TRY(g.from_bytes, in.number("from_bytes", 0, 1e18));
  TRY(g.start_seconds, in.number("start_seconds", 0, 1e6));
  TRY_VOID(in.done());
  return g;
}

}  // namespace sous::tuning_db
