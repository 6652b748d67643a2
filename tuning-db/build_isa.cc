#include "tuning-db/build_isa.h"

#include <algorithm>
#include <array>
#include <sstream>
#include <vector>

#include "sdfg/planted_fault.h"

namespace sous::tuning_db {
namespace {

// What tells the instruction sets apart.
enum Feature : unsigned {
  avx = 1,
  avx2 = 2,
  fma = 4,
  avx512f = 8,
  avx512bw = 16,
  avx512dq = 32,
  avx512vl = 64,
  bmi2 = 128,
  f16c = 256,
};
constexpr unsigned all_avx512 = avx512f | avx512bw | avx512dq | avx512vl;
constexpr unsigned v1 = 0, v3 = avx | avx2 | fma | bmi2 | f16c, v4 = v3 | all_avx512;

struct Processor {
  std::string_view name;
  unsigned features;
};
// -march=: clang 19's and gcc 12's names of more than SSE; sorted. tests/unit/tuning_db/build_isa_test.cc holds it
// against both compilers.
constexpr auto processors = std::to_array<Processor>({
    {"alderlake", v3},      {"arrowlake", v3},      {"arrowlake-s", v3},     {"bdver4", v3},
    {"broadwell", v3},      {"cannonlake", v4},     {"cascadelake", v4},     {"clearwaterforest", v3},
    {"cooperlake", v4},     {"core-avx2", v3},      {"emeraldrapids", v4},   {"gracemont", v3},
    {"grandridge", v3},     {"graniterapids", v4},  {"graniterapids-d", v4}, {"haswell", v3},
    {"icelake-client", v4}, {"icelake-server", v4}, {"knl", v3 | avx512f},   {"knm", v3 | avx512f},
    {"lunarlake", v3},      {"meteorlake", v3},     {"pantherlake", v3},     {"raptorlake", v3},
    {"rocketlake", v4},     {"sapphirerapids", v4}, {"sierraforest", v3},    {"skx", v4},
    {"skylake", v3},        {"skylake-avx512", v4}, {"tigerlake", v4},       {"x86-64-v3", v3},
    {"x86-64-v4", v4},      {"znver1", v3},         {"znver2", v3},          {"znver3", v3},
    {"znver4", v4},         {"znver5", v4},
});

struct Switch {
  std::string_view name;  // behind -m, and behind -mno-
  unsigned on, off;       // what it brings, and what goes without it
};
constexpr unsigned wide = avx | avx2;  // clang adds fma to AVX-512, gcc does not: what both bring
constexpr auto switches = std::to_array<Switch>({
    {"avx", avx, avx | avx2 | fma | f16c | all_avx512},
    {"avx2", avx | avx2, avx2 | all_avx512},
    {"fma", avx | fma, fma | all_avx512},
    {"bmi2", bmi2, bmi2},
    {"f16c", avx | f16c, f16c},
    {"avx512f", wide | avx512f, all_avx512},
    {"avx512bw", wide | avx512f | avx512bw, avx512bw},
    {"avx512dq", wide | avx512f | avx512dq, avx512dq},
    {"avx512vl", wide | avx512f | avx512vl, avx512vl},
});

unsigned features_of(Isa isa) { return isa == Isa::avx512 ? v4 : isa == Isa::avx2 ? v3 : v1; }

Isa isa_of(unsigned features) {
  if ((features & v4) == v4) return Isa::avx512;
  return (features & v3) == v3 ? Isa::avx2 : Isa::sse;
}

unsigned features_of(std::string_view processor, Isa machine) {
  if (processor == "native") return features_of(machine);
  const auto found = std::ranges::find(processors, processor, &Processor::name);
  return found == processors.end() ? v1 : found->features;
}

unsigned allowed(std::span<const std::string> options, Isa machine) {
  unsigned features = v1;
  // The processor first, wherever it stands: both compilers let -m options add to it and take from it.
  for (const std::string_view option : options)
    if (option.starts_with("-march=")) features = features_of(option.substr(7), machine);
  for (const std::string_view option : options) {
    for (const Switch& s : switches) {
      if (option.starts_with("-m") && option.substr(2) == s.name) features |= s.on;
      if (option.starts_with("-mno-") && option.substr(5) == s.name) features &= ~s.off;
    }
  }
  return features;
}

}  // namespace

Isa build_isa(std::span<const std::string> options, const Hardware& machine) {
  if (machine.architecture != "x86-64" || planted(Fault::build_as_wide_as_machine)) return machine.isa;
  return std::min(isa_of(allowed(options, machine.isa)), machine.isa);
}

Hardware as_built(Hardware machine, std::span<const std::string> options) {
  machine.isa = build_isa(options, machine);
  return machine;
}

std::vector<std::string> wider_than_build(std::span<const std::string> options, const Hardware& machine) {
  if (machine.architecture != "x86-64" || build_isa(options, machine) >= machine.isa) return {};
  const auto forbids = [](std::string_view option) {
    return option.starts_with("-mno-") || option == "-mgeneral-regs-only" || option == "-msoft-float";
  };
  if (std::ranges::any_of(options, forbids)) return {};
  std::vector<std::string> out{"-mavx2", "-mfma", "-mbmi", "-mbmi2", "-mf16c", "-mlzcnt", "-mmovbe", "-mpopcnt"};
  if (machine.isa == Isa::avx512)
    for (const char* name : {"-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl", "-mavx512cd"})
      out.emplace_back(name);
  return out;
}

std::string class_as_built(std::string_view hardware_class, std::string_view options) {
  auto parts = parse_hardware_class(hardware_class);
  if (!parts || options.find_first_not_of(' ') == std::string_view::npos) return std::string(hardware_class);
  std::vector<std::string> words;
  std::istringstream in{std::string(options)};
  for (std::string word; in >> word;) words.push_back(word);
  return tuning_db::hardware_class(as_built(*parts, words));
}

}  // namespace sous::tuning_db
