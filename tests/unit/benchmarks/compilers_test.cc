#include "benchmarks/compilers.h"

#include <gtest/gtest.h>

namespace sous::benchmarks {
namespace {

std::string file(const std::string& row) { return R"({"version": 1, "compilers": [)" + row + "]}"; }
constexpr const char* icx =
    R"({"name": "icx", "command": ["icx"], "flags": ["-q"], "fast_math": ["-fp-model=fast"], "threads": "all"})";

std::vector<CompilerRow> known() {
  return *parse_compiler_file(file(std::string(icx) + R"(, {"name": "cc", "command": ["cc"]})"));
}

TEST(Compilers, ANameWithFastMathAndThreads) {
  const auto asked = parse_compilers("cc,icx,icx+fast-math@1,icx@3,mine=cc -O2 -x", known(), 8);
  ASSERT_TRUE(asked.has_value()) << asked.error().to_string();
  EXPECT_EQ((*asked)[0].threads, 1);
  EXPECT_EQ((*asked)[1].threads, 8);
  EXPECT_EQ((*asked)[2].name, "icx+fast-math@1");
  EXPECT_EQ((*asked)[2].flags, (Words{"-q", "-fp-model=fast"}));
  EXPECT_TRUE((*asked)[2].fast_math);
  EXPECT_EQ((*asked)[2].threads, 1);
  EXPECT_EQ((*asked)[3].threads, 3);
  EXPECT_EQ((*asked)[4].command, (Words{"cc", "-O2", "-x"}));
}

TEST(Compilers, WhatMakesNoSenseIsRefused) {
  for (const char* text : {"iccx", "icx,icx", "x=", "", "icx@0", "icx@", "icx@x", "icx@1+fast-math", "icx+fast"}) {
    const auto asked = parse_compilers(text, known(), 2);
    ASSERT_FALSE(asked.has_value()) << text;
    EXPECT_EQ(asked.error().code, "bench.compiler") << text;
  }
  EXPECT_NE(parse_compilers("iccx", known(), 2).error().why.find("did you mean icx?"), std::string::npos);
}

TEST(Compilers, AFileIsReadStrictly) {
  const auto code = [](const std::string& json) {
    const auto rows = parse_compiler_file(json);
    return rows ? std::string() : rows.error().code;
  };
  EXPECT_EQ(code(file(icx)), "");
  EXPECT_EQ(code("{"), "compilers.json");
  EXPECT_EQ(code(R"({"version": 2, "compilers": []})"), "compilers.version");
  for (const char* row :
       {R"({"name": "a"})", R"({"name": "a@1", "command": ["a"]})", R"({"name": "a", "command": []})",
        R"({"name": "a", "command": ["a"], "more": 1})", R"({"name": "a", "command": ["a"], "threads": "most"})",
        R"({"name": "a", "command": ["a"], "threads": 0})", R"({"name": "a", "steps": [["a"]]})",
        R"({"name": "a", "command": ["a"], "steps": [["a", "{output}"]]})",
        R"({"name": "a", "command": ["a"], "environment": {"X": 1}})",
        R"({"name": "a", "command": ["a"], "needs": [{"file": "x"}]})",
        R"({"name": "a", "command": ["a"]}, {"name": "a", "command": ["b"]})"}) {
    EXPECT_EQ(code(file(row)), "compilers.field") << row;
  }
}

TEST(Compilers, ThoseThatComeWithSousAreUnderstood) {
  const auto rows = known_compilers("");
  ASSERT_TRUE(rows.has_value()) << rows.error().to_string();
  const auto all =
      parse_compilers("clang,gcc,sous,sous-gcc,polly,polly-parallel,openblas,openblas-avx512,blis", *rows, 2);
  ASSERT_TRUE(all.has_value()) << all.error().to_string();
  EXPECT_TRUE(is_sous((*all)[2]));
  EXPECT_EQ(reporting((*all)[2], "r").command, (Words{"{sous}", "--report=r", "clang-19"}));
  EXPECT_EQ((*all)[6].sources, "blas");
}

TEST(Compilers, WhatIsMissingIsNamedWithItsPackage) {
  auto rows = known();
  rows[0].compiler.needs = {{"/no/such/file.so", "libno-dev"}, {"sh", "dash"}};
  const auto asked = parse_compilers("icx", rows, 2);
  EXPECT_EQ(missing(*asked).find("icx needs /no/such/file.so (Debian package libno-dev)\n"), 0U);
  EXPECT_NE(missing(*asked).find("apt-get install libno-dev"), std::string::npos);
  rows[0].compiler.needs = {{"sh", "dash"}};
  EXPECT_EQ(missing(*parse_compilers("icx", rows, 2)), "");
}

}  // namespace
}  // namespace sous::benchmarks
