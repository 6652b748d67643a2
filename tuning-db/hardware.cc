#include "tuning-db/hardware.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <vector>

#include "tuning-db/files.h"
#include "tuning-db/json_reader.h"

namespace sous::tuning_db {
namespace {

std::string first_line(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return line;
}

// "48K", "1M", "1024" -> bytes; 0 if it is none of these.
std::int64_t parse_bytes(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  const int shift = unit == "K" ? 10 : unit == "M" ? 20 : unit == "G" ? 30 : 0;
  // Classes come from outside: no value that two of them could not be compared with.
  if (error != std::errc() || value < 0 || value > (std::int64_t{1} << 40) >> shift) return 0;
  return unit.empty() || shift > 0 ? value << shift : 0;
}

std::string print_bytes(std::int64_t bytes) {
  if (bytes >= 1 << 20 && bytes % (1 << 20) == 0) return std::to_string(bytes >> 20) + "M";
  if (bytes >= 1 << 10 && bytes % (1 << 10) == 0) return std::to_string(bytes >> 10) + "K";
  return std::to_string(bytes);
}

std::vector<int> allowed_cpus() {
  std::vector<int> cpus;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  return cpus;
}

// Whole cores that the control groups of this process grant, or a large number. Version 2 has one tree; a quota may
// stand on every level of it. Version 1 keeps it under the cpu controller.
int cgroup_cores() {
  constexpr int unlimited = 1 << 20;
  int cores = unlimited;
  const auto limit = [&](double quota, double period) {
    if (quota > 0 && period > 0) cores = std::min(cores, std::max(1, static_cast<int>(std::ceil(quota / period))));
  };
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const bool version2 = controllers.empty();
    if (!version2 && controllers.find("cpu") == std::string::npos) continue;
    const std::filesystem::path root = version2 ? "/sys/fs/cgroup" : "/sys/fs/cgroup/cpu";
    for (std::filesystem::path group = line.substr(second + 1);; group = group.parent_path()) {
      const std::filesystem::path folder = root / group.relative_path();
      if (version2) {
        std::istringstream in(first_line(folder / "cpu.max"));
        double quota = 0, period = 0;
        if (in >> quota >> period) limit(quota, period);
      } else {
        limit(std::atof(first_line(folder / "cpu.cfs_quota_us").c_str()),
              std::atof(first_line(folder / "cpu.cfs_period_us").c_str()));
      }
      if (group == group.root_path() || group.empty()) break;
    }
  }
  return cores;
}

void read_caches(Hardware& hardware, int cpu) {
  const std::filesystem::path folder = "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cache";
  for (int index = 0; index < 8; ++index) {
    const auto cache = folder / ("index" + std::to_string(index));
    const std::string level = first_line(cache / "level"), type = first_line(cache / "type");
    const std::int64_t bytes = parse_bytes(first_line(cache / "size"));
    if (bytes == 0 || type == "Instruction") continue;
    if (level == "1") hardware.l1_bytes = bytes;
    if (level == "2") hardware.l2_bytes = bytes;
    if (level == "3") hardware.l3_bytes = bytes;
  }
}

void read_processor(Hardware& hardware) {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line) && (hardware.vendor.empty() || hardware.model.empty());) {
    const std::size_t colon = line.find(": ");
    if (colon == std::string::npos) continue;
    if (line.starts_with("vendor_id")) hardware.vendor = line.substr(colon + 2);
    if (line.starts_with("model name")) hardware.model = line.substr(colon + 2);
  }
}

// What the measured values in the cache belong to.
bool same_machine(const Hardware& a, const Hardware& b) {
  return a.architecture == b.architecture && a.vendor == b.vendor && a.model == b.model && a.isa == b.isa &&
         a.cores == b.cores;
}

}  // namespace

std::string_view to_string(Isa isa) {
  switch (isa) {
#define X(e, text, bits) \
  case Isa::e:           \
    return text;
    SOUS_ISAS(X)
#undef X
  }
  __builtin_unreachable();
}

std::optional<Isa> parse_isa(std::string_view text) {
#define X(e, name, bits) \
  if (text == name) return Isa::e;
  SOUS_ISAS(X)
#undef X
  return std::nullopt;
}

int simd_bits(Isa isa) {
  switch (isa) {
#define X(e, text, bits) \
  case Isa::e:           \
    return bits;
    SOUS_ISAS(X)
#undef X
  }
  __builtin_unreachable();
}

Hardware describe() {
  Hardware hardware;
#if defined(__x86_64__)
  hardware.architecture = "x86-64";
  hardware.isa = Isa::sse;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) hardware.isa = Isa::avx2;
  if (hardware.isa == Isa::avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    hardware.isa = Isa::avx512;
#elif defined(__aarch64__)
  hardware.architecture = "aarch64";
  hardware.isa = Isa::neon;
#else
  hardware.architecture = "other";
#endif
  read_processor(hardware);
  const std::vector<int> cpus = allowed_cpus();
  hardware.cores = std::min(std::max(1, static_cast<int>(cpus.size())), cgroup_cores());
  read_caches(hardware, cpus.empty() ? 0 : cpus.front());
  return hardware;
}

std::filesystem::path hardware_cache_path() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache && *cache)
    return std::filesystem::path(cache) / "sous" / "hardware.json";
  if (const char* home = std::getenv("HOME"); home && *home)
    return std::filesystem::path(home) / ".cache" / "sous" / "hardware.json";
  return {};
}

namespace {

// A home that several machines share, and one machine with several affinities, have a line each. A line that cannot be
// read is no error: this is a cache.
std::vector<Hardware> read_cache() {
  std::vector<Hardware> machines;
  const auto text = read_file(hardware_cache_path(), 64 << 10);
  std::istringstream lines(text ? *text : "");
  for (std::string line; std::getline(lines, line);)
    if (auto hardware = hardware_from_json(line)) machines.push_back(std::move(*hardware));
  return machines;
}

}  // namespace

Hardware local_hardware() {
  const Hardware here = describe();
  for (Hardware& cached : read_cache())
    if (same_machine(cached, here)) return std::move(cached);
  return here;
}

Result<void> keep_measured(const Hardware& hardware) {
  constexpr std::size_t most = 32;  // the longest of lines still fit into what is read
  const auto path = hardware_cache_path();
  if (path.empty()) return {};
  std::vector<Hardware> machines = read_cache();
  std::erase_if(machines, [&](const Hardware& other) { return same_machine(other, hardware); });
  machines.insert(machines.begin(), hardware);
  if (machines.size() > most) machines.resize(most);
  std::string lines;
  for (const Hardware& machine : machines) lines += to_json(machine) + "\n";
  if (auto written = write_file_atomically(path, lines); !written)
    return fail("hardware.cache", written.error().why, path.string());
  return {};
}

Result<Hardware> measure_hardware() {
  Hardware hardware = run_microbenchmarks_until_settled(describe());
  if (!hardware.loaded) TRY_VOID(keep_measured(hardware));
  return hardware;
}

std::string to_json(const Hardware& h) {
  Json out{{"architecture", h.architecture},
           {"vendor", h.vendor},
           {"model", h.model},
           {"isa", to_string(h.isa)},
           {"cores", h.cores},
           {"l1_bytes", h.l1_bytes},
           {"l2_bytes", h.l2_bytes},
           {"l3_bytes", h.l3_bytes},
           {"fma_f64_core", h.fma_f64_core},
           {"fma_f64_all", h.fma_f64_all},
           {"fma_f32_core", h.fma_f32_core},
           {"fma_f32_all", h.fma_f32_all},
           {"triad_bytes", h.triad_bytes}};
  if (h.loaded) out["loaded"] = true;
  return dump(out);
}

Result<Hardware> hardware_from_json(std::string_view text) {
  constexpr std::int64_t largest_cache = std::int64_t{1} << 40;
  TRY(const Json json, parse_json(text, "hardware", {.bytes = 64 << 10, .depth = 8}));
  TRY(auto in, ObjectReader::of(json, "hardware", "hardware"));
  Hardware h;
  TRY(h.architecture, in.line("architecture", 64));
  TRY(h.vendor, in.line("vendor", 256));
  TRY(h.model, in.line("model", 256));
  TRY(const std::string isa, in.line("isa", 64));
  const auto known = parse_isa(isa);
  if (!known) return in.refuse("unknown instruction set \"" + isa + "\"");
  h.isa = *known;
  TRY(const std::int64_t cores, in.integer("cores", 1, 1 << 16));
  h.cores = static_cast<int>(cores);
  TRY(h.l1_bytes, in.integer("l1_bytes", 1, largest_cache));
  TRY(h.l2_bytes, in.integer("l2_bytes", 1, largest_cache));
  TRY(h.l3_bytes, in.integer("l3_bytes", 0, largest_cache));
  TRY(h.fma_f64_core, in.number("fma_f64_core", 0, 1e18));
  TRY(h.fma_f64_all, in.number("fma_f64_all", 0, 1e18));
  TRY(h.fma_f32_core, in.number("fma_f32_core", 0, 1e18));
  TRY(h.fma_f32_all, in.number("fma_f32_all", 0, 1e18));
  TRY(h.triad_bytes, in.number("triad_bytes", 0, 1e18));
  if (in.has("loaded")) {
    TRY(h.loaded, in.boolean("loaded"));
  }
  TRY_VOID(in.done());
  return h;
}

std::string hardware_class(const Hardware& h) {
  return h.architecture + ":" + std::string(to_string(h.isa)) + ":" + std::to_string(h.cores) +
         "c:l2=" + print_bytes(h.l2_bytes) + ":l3=" + print_bytes(h.l3_bytes);
}

std::optional<Hardware> parse_hardware_class(std::string_view text) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t colon = text.find(':');
    parts.push_back(text.substr(0, colon));
    if (colon == std::string_view::npos) break;
    text.remove_prefix(colon + 1);
  }
  if (parts.size() != 5 || !parts[2].ends_with('c') || !parts[3].starts_with("l2=") || !parts[4].starts_with("l3="))
    return std::nullopt;
  const auto isa = parse_isa(parts[1]);
  const std::int64_t cores = parse_bytes(parts[2].substr(0, parts[2].size() - 1));
  if (!isa || cores < 1 || cores > 1 << 16) return std::nullopt;
  Hardware hardware;
  hardware.architecture = parts[0];
  hardware.isa = *isa;
  hardware.cores = static_cast<int>(cores);
  hardware.l2_bytes = parse_bytes(parts[3].substr(3));
  hardware.l3_bytes = parse_bytes(parts[4].substr(3));
  return hardware;
}

std::map<std::string, std::int64_t> size_values(const Hardware& h) {
  return {{"l1_bytes", h.l1_bytes},
          {"l2_bytes", h.l2_bytes},
          {"l3_bytes", h.l3_bytes > 0 ? h.l3_bytes : h.l2_bytes},
          {"simd_bits", simd_bits(h.isa)},
          {"cores", h.cores}};
}

sdfg::CacheSets l1_sets(const Hardware& h) {
  constexpr std::int64_t page = 4096, ways_elsewhere = 4;
  const std::int64_t way = h.architecture == "x86-64" ? page : h.l1_bytes / ways_elsewhere;
  const auto sets = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(way / sdfg::line_bytes)));
  if (sets < 1 || h.l1_bytes < way) return {};
  return {.sets = sets, .ways = h.l1_bytes / (sets * sdfg::line_bytes), .vector_bytes = simd_bits(h.isa) / 8};
}

}  // namespace sous::tuning_db
