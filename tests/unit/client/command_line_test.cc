#include "client/command_line.h"

#include <gtest/gtest.h>

#include "client/compiler.h"

namespace sous::client {
namespace {

using Words = std::vector<std::string>;

CommandLine read(std::string_view text) {
  return classify(split_words(text), [](const std::string& path) -> std::optional<std::string> {
    if (path == "flags.rsp") return "-O3 -DNAME='\"a b\"' x.c";
    return std::nullopt;
  });
}

TEST(CommandLine, CompilesC) {
  const auto line = read("-O3 -march=native -Iinc -I dir -DX=1 -Wall -std=gnu11 -g -c src/a.c -o out/a.o");
  EXPECT_EQ(line.action, Action::Compile) << line.why;
  EXPECT_EQ(line.preprocess,
            (Words{"-O3", "-march=native", "-Iinc", "-I", "dir", "-DX=1", "-Wall", "-std=gnu11", "-g"}));
  EXPECT_EQ(line.code, (Words{"-O3", "-march=native", "-Wall", "-std=gnu11", "-g"}));
  EXPECT_EQ(line.cpp_code, (Words{"-O3", "-march=native", "-g"}));
  EXPECT_EQ(line.parse, (Words{"-march=native", "-std=gnu11"}));
  EXPECT_EQ(object_path(line, line.inputs[0]), "out/a.o");
  EXPECT_TRUE(line.debug);
}

TEST(CommandLine, WhatIsNoErrorToTheCompilerIsNoneToTheParser) {
  EXPECT_EQ(read("-O2 -Wall -Wno-implicit-int -Wno-error=int-conversion -Werror -ffp-contract=off -c a.c").parse,
            (Words{"-Wno-implicit-int", "-Wno-error=int-conversion"}));
}

TEST(Compiler, LoopsOfWhatIsRewrittenBeginAtLinesUnlessTheUserSaysWhere) {
  const auto options = [](const std::string& compiler, std::string_view flags) {
    return aligned_loops(compiler, read(std::string(flags) + " -c a.c").code);
  };
  EXPECT_EQ(options("clang-19", "-O3 -march=native"),
            (Words{"-falign-loops=32", "-mllvm", "-max-bytes-for-alignment=20"}));
  EXPECT_EQ(options("clang-19", "-O3 -falign-loops=16"), Words{});
  EXPECT_EQ(options("clang-19", "-O3 -fno-align-loops"), Words{});
  EXPECT_EQ(options("gcc-12", "-O3"), Words{});
}

TEST(CommandLine, KindsOfInvocation) {
  EXPECT_EQ(read("-O2 a.c b.c -lm -o prog").action, Action::CompileAndLink);
  EXPECT_EQ(read("-O2 a.c b.o").action, Action::CompileAndLink);
  EXPECT_EQ(read("-O2 -c a.c b.c").action, Action::Compile);
  EXPECT_EQ(read("a.o libx.a -lm -o prog").action, Action::Link);
  EXPECT_EQ(read("-shared a.o -o liba.so").action, Action::Link);
  EXPECT_EQ(read("-x c -O2 -c weird.name").action, Action::Compile);
}

TEST(CommandLine, TheLinkerIsNamedToTheLinkAlone) {
  const auto line = read("-O2 -Werror -fuse-ld=lld a.c b.c -o prog");
  EXPECT_EQ(line.link, Words{"-fuse-ld=lld"});
  EXPECT_EQ(line.preprocess, (Words{"-O2", "-Werror"}));
  EXPECT_EQ(line.compile, (Words{"-O2", "-Werror"}));
}

TEST(CommandLine, PassesThrough) {
  for (const char* text : {"",
                           "--version",
                           "-c a.c",
                           "-O0 -c a.c",
                           "-O3 -O1 -c a.c",
                           "-Os -c a.c",
                           "-O3 -E a.c",
                           "-O3 -S a.c",
                           "-O3 -M a.c",
                           "-O3 -c a.cpp",
                           "-O3 -c a.C",
                           "-O3 -c -",
                           "-O3 -x c++ -c a.c",
                           "-O3 -c a.s",
                           "-O3 -flto -c a.c",
                           "-O3 -fsanitize=address -c a.c",
                           "-O3 -pg -c a.c",
                           "-O3 --coverage -c a.c",
                           "-O3 -m32 -c a.c",
                           "-O3 --target=arm -c a.c",
                           "-O3 -unheard-of -c a.c",
                           "-O3 -save-temps -c a.c",
                           "-O3 -MD a.c -o prog",
                           "-O3 -c a.c b.c -o x.o",
                           "-O3 -v -c a.c",
                           "-O3 -ffreestanding -c a.c",
                           "-O3 -fwrapv -c a.c",
                           "-O3 -fno-strict-overflow -c a.c",
                           "-O3 -finstrument-functions -c a.c",
                           "-O3 -fsingle-precision-constant -c a.c",
                           "-O3 -ffp-eval-method=double -c a.c",
                           "-O3 -fexec-charset=IBM037 -c a.c",
                           "-O3 -fsso-struct=big-endian -c a.c",
                           "-O3 -frecord-command-line -c a.c",
                           "-O3 -g -grecord-command-line -c a.c",
                           "-O3 -ffp-contract=fast-honor-pragmas -c a.c",
                           "-O3 -fstack-usage -c a.c",
                           "-O3 -Wa,-adln=a.lst -c a.c",
                           "-O3 -c a.c -o -",
                           "-O3 -MF a.d -c a.c",
                           "-O3 -c a.c -o",
                           "-O3 -c a.c a.cc"}) {
    const auto line = read(text);
    EXPECT_EQ(line.action, Action::Pass) << text;
    EXPECT_NE(line.why, "") << text;
  }
}

// What the preprocessed text means depends on it; the one that says no, too.
TEST(CommandLine, WhatTheParserIsTold) {
  const auto line = read("-O3 -fpack-struct=1 -fshort-wchar -fno-short-enums -fPIC -fno-plt -Wundef -c a.c");
  EXPECT_EQ(line.parse, (Words{"-fpack-struct=1", "-fshort-wchar", "-fno-short-enums"}));
  EXPECT_EQ(line.cpp_code, (Words{"-O3", "-fshort-wchar", "-fno-short-enums", "-fPIC", "-fno-plt"}));
  EXPECT_EQ(line.preprocess.back(), "-Wundef");  // the preprocessor's own warnings
}

TEST(CommandLine, LastOptimizationWins) {
  EXPECT_EQ(read("-O0 -O2 -c a.c").action, Action::Compile);
  EXPECT_EQ(read("-O3 -Ofast -c a.c").optimization, "-Ofast");
}

// Of the runtime's headers a program would keep hundreds of functions, with what these call.
TEST(CommandLine, GeneratedCodeKeepsNoFunctionThatNothingCalls) {
  EXPECT_EQ(read("-O2 -fkeep-inline-functions -fkeep-static-functions -fno-weak -c a.c").cpp_code, Words{"-O2"});
}

TEST(CommandLine, SignsOfZerosAreGeneratedCodesToo) {
  EXPECT_EQ(read("-O2 -ffast-math -fsigned-zeros -fsigned-char -c a.c").cpp_code,
            (Words{"-O2", "-ffast-math", "-fsigned-zeros"}));
}

TEST(CommandLine, ResponseFiles) {
  const auto line = read("-c @flags.rsp @none -o x.o");
  EXPECT_EQ(line.arguments, (Words{"-c", "-O3", "-DNAME=\"a b\"", "x.c", "@none", "-o", "x.o"}));
}

TEST(CommandLine, DependencyFilesAsTheCompilerNamesThem) {
  auto line = read("-O2 -MD -c src/a.c -o out/a.b.o");
  EXPECT_EQ(dependency_options(line, line.inputs[0]), (Words{"-MD", "-MF", "out/a.b.d", "-MT", "out/a.b.o"}));
  line = read("-O2 -MMD -MP -MF deps -c src/a.c");
  EXPECT_EQ(dependency_options(line, line.inputs[0]), (Words{"-MMD", "-MP", "-MF", "deps", "-MT", "a.o"}));
  line = read("-O2 -c a.c");
  EXPECT_EQ(dependency_options(line, line.inputs[0]), Words{});
}

TEST(CommandLine, WordsAsTheShellSplitsThem) {
  EXPECT_EQ(split_words(R"(a "b c" 'd "e' f\ g "h\"i" "")"), (Words{"a", "b c", "d \"e", "f g", "h\"i", ""}));
  EXPECT_EQ(split_words(R"('a\\b')"), Words{R"(a\\b)"});
  EXPECT_EQ(split_words(R"('a\\b')", Quoting::response_file), Words{R"(a\b)"});
}

}  // namespace
}  // namespace sous::client
