// What guards ask of the processor, on processors that are made up.
#include "frontends/c/processor.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <regex>
#include <string>

namespace sous::frontends::c {
namespace {

// Each row of `cases`: the level, leaf 0's eax, leaf 1's ecx, XCR0, leaf 7's ebx, and the answer.
constexpr const char* program = R"(
static const unsigned cases[][6] = {
    {1, 22, 0x18001000u, 0xe7u, 0xc0030128u, 1}, {2, 22, 0x18001000u, 0xe7u, 0xc0030128u, 1},  // all of it
    {1, 22, 0x18001000u, 0x7u, 0x128u, 1},       {2, 22, 0x18001000u, 0x7u, 0x128u, 0},        // AVX2
    {1, 22, 0x18001000u, 0x7u, 0xc0030128u, 1},  {2, 22, 0x18001000u, 0x7u, 0xc0030128u, 0},   // a system without its registers
    {1, 22, 0x18001000u, 0x3u, 0x128u, 0},       {1, 22, 0x10001000u, 0x7u, 0x128u, 0},        // and for AVX; nor any
    {1, 22, 0x18000000u, 0x7u, 0x128u, 0},       {1, 22, 0x18001000u, 0x7u, 0x028u, 0},        // no FMA, no BMI2
    {2, 22, 0x18001000u, 0xe7u, 0x40030128u, 0}, {1, 6, 0x18001000u, 0x7u, 0x128u, 0},         // no VL; no leaf 7
};
int main(void) {
  for (unsigned k = 0; k < sizeof cases / sizeof *cases; ++k) {
    made_up = cases[k];
    if (sous_ask_processor((int)made_up[0]) - 1 != (int)made_up[5]) return 1 + (int)k;
  }
  made_up = cases[1];
  return sous_processor(2) == 1 && sous_processor(2) == 1 ? 0 : 99;
}
)";

TEST(Processor, HasWhatItSaysAndTheSystemSaves) {
  std::string text(processor_function());
  const std::regex cpuid(R"re(__asm__ __volatile__\("cpuid"[^;]*;)re"),
      xgetbv(R"re(__asm__ __volatile__\("xgetbv"[^;]*;)re");
  text = std::regex_replace(text, cpuid, "fake_cpuid(&a, &b, &c, &d);");
  text = std::regex_replace(text, xgetbv, "a = made_up[3];");
  ASSERT_FALSE(text.contains("__asm__"));
  const std::string folder = testing::TempDir(), source = folder + "sous_processor_test.c";
  std::ofstream(source)
      << "static const unsigned *made_up;\n"
         "static void fake_cpuid(unsigned *a, unsigned *b, unsigned *c, unsigned *d) {\n"
         "  unsigned leaf = *a;\n"
         "  *a = made_up[1]; *b = leaf == 7 ? made_up[4] : 0; *c = leaf == 1 ? made_up[2] : 0; *d = 0;\n"
         "}\n"
      << text << program;
  for (const std::string compiler : {"clang-19", "gcc-12"}) {
    const std::string build = compiler + " -std=c99 -pedantic -Wall -Wextra -Wconversion -Werror -O2 -x cpp-output " +
                              source + " -o " + folder + "sous_processor_test";
    ASSERT_EQ(std::system(build.c_str()), 0) << build;
    EXPECT_EQ(std::system((folder + "sous_processor_test").c_str()), 0) << compiler;
  }
}

}  // namespace
}  // namespace sous::frontends::c
