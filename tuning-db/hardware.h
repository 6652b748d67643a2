// What a recipe's measurement, and its sizes, depend on: the machine as this process may use it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "sdfg/cache_sets.h"
#include "sdfg/result.h"

namespace sous::tuning_db {

//   enumerator, text, vector bits
#define SOUS_ISAS(X)       \
  X(scalar, "scalar", 64)  \
  X(sse, "sse", 128)       \
  X(avx2, "avx2", 256)     \
  X(avx512, "avx512", 512) \
  X(neon, "neon", 128)

enum class Isa : std::uint8_t {
#define X(e, ...) e,
  SOUS_ISAS(X)
#undef X
};
std::string_view to_string(Isa isa);
std::optional<Isa> parse_isa(std::string_view text);
int simd_bits(Isa isa);

struct Hardware {
  std::string architecture;  // "x86-64", "aarch64"
  std::string vendor;        // "AuthenticAMD"
  std::string model;         // "AMD EPYC"
  Isa isa = Isa::scalar;     // the widest that this processor and this build know; avx512 means F, BW, DQ and VL
  int cores = 1;             // that this process may use: affinity and the quotas of its control groups
  std::int64_t l1_bytes = 32 << 10;  // of one core, data
  std::int64_t l2_bytes = 512 << 10;
  std::int64_t l3_bytes = 0;  // shared; 0: none
  // Measured by `measure`; 0: not measured.
  double fma_f64_core = 0, fma_f64_all = 0;  // floating-point operations per second, an fma counting as two
  double fma_f32_core = 0, fma_f32_all = 0;
  double triad_bytes = 0;  // bytes per second of a[i] = b[i] + s*c[i] on all cores, three streams counted
  bool loaded = false;     // other programs ran meanwhile: the peaks are too low
  bool measured() const { return triad_bytes > 0; }
  bool operator==(const Hardware&) const = default;
};

// The machine without the measured values: from /proc and /sys, well under a millisecond.
Hardware describe();
// The same, with the measured values where the cache has them. What a compiler call uses.
Hardware local_hardware();
// Runs the microbenchmarks until they settle (two to six seconds) and writes the cache, unless the machine was loaded.
// Errors: hardware.cache (the file cannot be written).
Result<Hardware> measure_hardware();

// Puts a machine's measured values into the cache: a line for each machine and number of cores, the last measured
// first. Error: hardware.cache.
Result<void> keep_measured(const Hardware& hardware);

// $XDG_CACHE_HOME/sous/hardware.json, or ~/.cache/sous/hardware.json; empty if there is no home.
std::filesystem::path hardware_cache_path();

// One line, keys sorted.
std::string to_json(const Hardware& hardware);
// Errors: hardware.json, hardware.budget, hardware.field.
Result<Hardware> hardware_from_json(std::string_view json);

// Coarse class, what evidence carries: "x86-64:avx512:2c:l2=1M:l3=32M". How far evidence of one class speaks for
// another: tuning-db/belief.h.
std::string hardware_class(const Hardware& hardware);
// A machine of which only what the class says is known; nothing if the text is no class.
std::optional<Hardware> parse_hardware_class(std::string_view text);

// The named values of size expressions in recipes: l1_bytes, l2_bytes, l3_bytes (l2's where there is no third level),
// simd_bits, cores. None is zero.
std::map<std::string, std::int64_t> size_values(const Hardware& hardware);

// The cache of first level, and what a vector holds. A way is as large as a page where the cache is looked up while the
// address is translated, as on every x86-64; elsewhere four ways are taken for granted.
sdfg::CacheSets l1_sets(const Hardware& hardware);

// The microbenchmarks alone, one pass (half a second): fills the measured values.
Hardware run_microbenchmarks(Hardware hardware);
// Pass after pass, until two without other load agree; after six without that, the best with `loaded`.
Hardware run_microbenchmarks_until_settled(Hardware hardware);

}  // namespace sous::tuning_db
