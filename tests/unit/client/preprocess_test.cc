// The slow twin of Clang's libraries is clang itself.
#include "frontends/c/preprocess.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <vector>

#include "client/process.h"
#include "frontends/c/own_clang.h"

namespace sous::client {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

class Preprocess : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(folder_);
    write("h.h", "#define CUBE(x) ((x) * (x) * (x))\n#ifdef __AVX2__\nint vectors;\n#endif\n");
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string write(const std::string& name, const std::string& text) const {
    EXPECT_TRUE(write_file((folder_ / name).string(), text));
    return (folder_ / name).string();
  }
  // Both ways of the same command, and the dependency files that they write.
  void compare(Words words, const std::string& text) const {
    const std::string dependencies = (folder_ / "main.d").string();
    words.insert(words.begin(), "clang-19");
    words.insert(words.end(), {"-MD", "-MF", dependencies, "-MT", "main.o", "-E", "-x", "c", write("main.c", text)});
    const auto by_clang = run(words, {.capture_output = true, .capture_errors = true});
    ASSERT_TRUE(by_clang);
    const auto expected = read_file(dependencies);
    fs::remove(dependencies);
    const auto here = frontends::c::preprocess(words, program_path("clang-19"));
    EXPECT_EQ(here.has_value(), by_clang->status == 0) << words[1];
    EXPECT_EQ(here ? here->messages : here.error().why, by_clang->errors) << words[1];
    if (!here) return;
    EXPECT_EQ(here->text, by_clang->output) << words[1];
    const auto found = read_file(dependencies);
    EXPECT_EQ(found.value_or("none"), expected.value_or("none")) << words[1];
  }
  const fs::path folder_ = fs::path(::testing::TempDir()) / ("sous-preprocess-" + std::to_string(::getpid()));
};

TEST_F(Preprocess, GivesWhatClangPutsOut) {
  const std::string text =
      "#include <math.h>\n#include \"h.h\"\n#warning odd\n#ifdef N\nint n = CUBE(N);\n#endif\n\?\?=define Q\n"
      "_Pragma(\"omp parallel for\")\nchar *f = __FILE__;\n#if __STDC_VERSION__ > 199901L\nint later;\n#endif\n";
  for (const Words& words : std::initializer_list<Words>{{"-O2"},
                                                         {"-O3", "-march=native"},
                                                         {"-std=c89", "-trigraphs"},
                                                         {"-DN=3", "-fopenmp", "-g"},
                                                         {"-include", "stdint.h", "-w"},
                                                         {"-Werror"},
                                                         {"-no-canonical-prefixes"},
                                                         {"-fno-such-option"},
                                                         {"-nostdinc"}})
    compare(words, text);
}

TEST_F(Preprocess, SaysWhatClangSays) {
  compare({"-O2"}, "#include \"nothing.h\"\n");
  compare({"-O2"}, "#error no\nint x;\n");
  compare({"-O2"}, "#if 1\nint x;\n");
  compare({"-O2"}, "");
}

TEST(OwnClang, IsTheOneWhoseLibrariesAreUsed) {
  EXPECT_TRUE(frontends::c::is_own_clang(program_path("clang-19")));
  EXPECT_FALSE(frontends::c::is_own_clang(program_path("sh")));
  EXPECT_FALSE(frontends::c::is_own_clang("no-such-clang"));
  EXPECT_FALSE(frontends::c::is_own_clang(""));
}

TEST(OwnClang, IsNoneAnyMoreThatWasReplaced) {
  const TemporaryFolder folder = TemporaryFolder::make().value();
  const std::string path = folder.file("clang");
  ASSERT_TRUE(write_file(path, "19.1.7"));
  struct stat now;
  ASSERT_EQ(::stat(path.c_str(), &now), 0);
  using Files = std::vector<frontends::c::BuiltWith>;
  const Files same{{path.c_str(), now.st_size, now.st_mtime}};
  EXPECT_TRUE(frontends::c::unchanged(same));
  EXPECT_FALSE(frontends::c::unchanged(Files{{path.c_str(), now.st_size + 1, now.st_mtime}}));
  EXPECT_FALSE(frontends::c::unchanged(Files{{path.c_str(), now.st_size, now.st_mtime - 1}}));
  EXPECT_FALSE(frontends::c::unchanged(Files{same[0], {"no-such-file", 0, 0}}));
}

}  // namespace
}  // namespace sous::client
