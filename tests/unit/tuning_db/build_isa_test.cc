#include "tuning-db/build_isa.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <sstream>

#include "tests/unit/tuning_db/nests.h"

namespace sous::tuning_db {
namespace {

std::vector<std::string> words(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> out;
  for (std::string word; in >> word;) out.push_back(word);
  return out;
}

Isa of(const std::string& options, Isa machine = Isa::avx512) {
  Hardware hardware = nests::machine();
  hardware.isa = machine;
  return build_isa(words(options), hardware);
}

TEST(BuildIsa, IsWhatTheOptionsAllow) {
  EXPECT_EQ(of(""), Isa::sse);
  EXPECT_EQ(of("-O2 -mtune=native"), Isa::sse);
  EXPECT_EQ(of("-O3 -march=native"), Isa::avx512);
  EXPECT_EQ(of("-march=x86-64-v3"), Isa::avx2);
  EXPECT_EQ(of("-march=native -march=x86-64"), Isa::sse);  // the last one
  EXPECT_EQ(of("-mavx2"), Isa::sse);                       // without fma, as the machine's own is
  EXPECT_EQ(of("-mavx2 -mfma"), Isa::sse);                 // for vectors ask for what comes with them
  EXPECT_EQ(of("-mavx2 -mfma -mbmi2 -mf16c"), Isa::avx2);
  EXPECT_EQ(of("-mavx512bw -mavx512dq -mavx512vl -mfma -mbmi2 -mf16c"), Isa::avx512);
  EXPECT_EQ(of("-march=znver5 -mno-avx512vl"), Isa::avx2);
  EXPECT_EQ(of("-mno-avx -march=haswell"), Isa::sse);  // takes away wherever it stands
  EXPECT_EQ(of("-march=of-the-future"), Isa::sse);
}

TEST(BuildIsa, NeverMoreThanTheMachineHas) {
  EXPECT_EQ(of("-march=native", Isa::avx2), Isa::avx2);
  EXPECT_EQ(of("-march=x86-64-v4", Isa::avx2), Isa::avx2);
  Hardware arm = nests::machine();
  arm.architecture = "aarch64";
  arm.isa = Isa::neon;
  EXPECT_EQ(build_isa(words("-O2"), arm), Isa::neon);
}

TEST(BuildIsa, WhatTheMachineHasBeyondTheBuild) {
  Hardware machine = nests::machine();
  machine.isa = Isa::avx512;
  const auto beyond = [&](const std::string& options) { return wider_than_build(words(options), machine); };
  for (const char* options : {"", "-O2", "-march=x86-64-v2", "-march=haswell", "-mavx2"}) {
    std::vector<std::string> all = words(options);
    const auto wider = beyond(options);
    all.insert(all.end(), wider.begin(), wider.end());
    EXPECT_EQ(build_isa(all, machine), Isa::avx512) << options;
  }
  for (const char* options : {"-march=native", "-march=x86-64-v4", "-mno-sse", "-mno-avx512f", "-mgeneral-regs-only"})
    EXPECT_TRUE(beyond(options).empty()) << options;
  machine.isa = Isa::avx2;
  EXPECT_EQ(build_isa(beyond("-O2"), machine), Isa::avx2);
  EXPECT_EQ(std::ranges::count(beyond("-O2"), "-mavx512vl"), 0);
  EXPECT_TRUE(beyond("-march=x86-64-v3").empty());
  machine.isa = Isa::sse;
  EXPECT_TRUE(beyond("-O2").empty());
  machine.architecture = "aarch64";
  machine.isa = Isa::neon;
  EXPECT_TRUE(beyond("-O2").empty());
}

TEST(BuildIsa, OfAStoredClass) {
  const std::string machine = "x86-64:avx512:2c:l2=1M:l3=32M";
  EXPECT_EQ(class_as_built(machine, "-O3 -march=native"), machine);
  EXPECT_EQ(class_as_built(machine, "-O2"), "x86-64:sse:2c:l2=1M:l3=32M");
  EXPECT_EQ(class_as_built(machine, ""), machine);  // options that nobody wrote down
  EXPECT_EQ(class_as_built("no class", "-O2"), "no class");
}

// The slow twin: what the compiler itself defines for the options.
Isa defined_by(const std::string& compiler, const std::string& options) {
  const std::string command = "echo | " + compiler + " " + options + " -dM -E -x c - 2>/dev/null";
  FILE* pipe = ::popen(command.c_str(), "r");
  std::string text;
  char buffer[4096];
  while (const std::size_t n = std::fread(buffer, 1, sizeof buffer, pipe)) text.append(buffer, n);
  ::pclose(pipe);
  if (text.empty()) return Isa::neon;  // the compiler refuses the options
  const auto has = [&](const char* macro) { return text.find(std::string("#define ") + macro + " ") != text.npos; };
  if (!has("__AVX2__") || !has("__FMA__") || !has("__BMI2__") || !has("__F16C__")) return Isa::sse;
  const bool wide = has("__AVX512F__") && has("__AVX512BW__") && has("__AVX512DQ__") && has("__AVX512VL__");
  return wide ? Isa::avx512 : Isa::avx2;
}

TEST(BuildIsa, AsTheCompilersSay) {
  int compared = 0;
  for (const char* options : {"-O2",
                              "-march=x86-64-v2",
                              "-march=x86-64-v3",
                              "-march=x86-64-v4",
                              "-march=haswell",
                              "-march=skylake",
                              "-march=skylake-avx512",
                              "-march=cascadelake",
                              "-march=icelake-server",
                              "-march=sapphirerapids",
                              "-march=knl",
                              "-march=alderlake",
                              "-march=sierraforest",
                              "-march=graniterapids-d",
                              "-march=bdver3",
                              "-march=bdver4",
                              "-march=znver1",
                              "-march=znver3",
                              "-march=znver4",
                              "-march=znver5",
                              "-march=sandybridge",
                              "-march=tigerlake",
                              "-mavx2",
                              "-mfma",
                              "-mavx2 -mfma",
                              "-mavx2 -mfma -mbmi2 -mf16c",
                              "-march=haswell -mno-bmi2",
                              "-march=haswell -mno-f16c",
                              "-march=haswell -mno-avx -mavx2 -mfma",
                              "-mavx512f",
                              "-mavx512vl -mavx512bw",
                              "-march=znver4 -mno-avx2",
                              "-march=znver4 -mno-fma",
                              "-march=znver4 -mno-avx512f",
                              "-mno-avx512bw -march=znver4",
                              "-mavx512dq",
                              "-march=haswell -march=x86-64",
                              "-mno-avx2 -mavx2 -mfma"}) {
    for (const char* compiler : {"clang-19", "gcc-12"}) {
      const Isa expected = defined_by(compiler, options);
      if (expected == Isa::neon) continue;  // not installed, or a name that this one does not know
      // They differ in what the switches of AVX-512 bring along: the least of the two counts.
      if (std::string_view(options).starts_with("-mavx512")) {
        EXPECT_LE(of(options), expected) << compiler << " " << options;
      } else {
        EXPECT_EQ(to_string(of(options)), to_string(expected)) << compiler << " " << options;
      }
      ++compared;
    }
  }
  EXPECT_GT(compared, 30);
}

}  // namespace
}  // namespace sous::tuning_db
