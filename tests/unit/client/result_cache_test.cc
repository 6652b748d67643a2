#include "client/result_cache.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "client/cache_prefix.h"
#include "client/compiler.h"
#include "client/header_states.h"
#include "client/process.h"

namespace sous::client {
namespace {

namespace fs = std::filesystem;

std::string key(char c) { return std::string(32, c); }

TEST(WarningOptions, AreThoseBehindWarnings) {
  using Options = std::set<std::string>;
  EXPECT_EQ(warning_options("a.c:2:7: warning: unused variable 'x' [-Wunused-variable]\n    2 |  int x;\n"
                            "a.c:3:1: warning: too large (8) [-Wframe-larger-than=]\n2 warnings generated.\n"),
            (Options{"-Wunused-variable", "-Wframe-larger-than"}));
  EXPECT_EQ(warning_options("a.c:1:1: warning: odd\n"), Options{"?"});
  EXPECT_EQ(warning_options("a.c:1:1: remark: inlined [-Rpass=inline]\n"), Options{"?"});
  EXPECT_EQ(warning_options("what -ftime-report says\n"), Options{"?"});
  EXPECT_EQ(warning_options(""), Options{});
}

TEST(ResultCache, GivesWhatWasKept) {
  const auto folder = TemporaryFolder::make();
  const ResultCache cache(folder->file("results"), 1 << 20);
  EXPECT_EQ(cache.find(key('a')), std::nullopt);
  const KeptResult served{
      true, true, "-Wunused ", "{\"file\": \"a.c\"}", "{\"lifted\":1}", std::string("ob\0ject\n", 8), "a.h:1:2.3\n"},
      left{false, false, "", "{}", "{}", ""};
  cache.keep(key('a'), served);
  cache.keep(key('b'), left);
  EXPECT_EQ(cache.find(key('a')), served);
  EXPECT_EQ(cache.find(key('b')), left);
  EXPECT_EQ(cache.contents().results, 2);
  cache.clear();
  EXPECT_EQ(cache.find(key('a')), std::nullopt);
  EXPECT_EQ(cache.contents().results, 0);
}

TEST(ResultCache, HeadersThatChangeAreNoticed) {
  using Files = std::vector<std::string>;
  EXPECT_EQ(prerequisites("t/team.cpp.o: t/team.cpp /usr/include/a.h \\\n  s/my\\ own.h b\\#.h \\\n $$c.h\n"),
            (Files{"t/team.cpp", "/usr/include/a.h", "s/my own.h", "b#.h", "$c.h"}));
  EXPECT_EQ(prerequisites(""), Files{});
  const auto folder = TemporaryFolder::make(), headers = TemporaryFolder::make();
  const std::string one = headers->file("one.h"), two = headers->file("two.h");
  ASSERT_TRUE(write_file(one, "1"));
  ASSERT_TRUE(write_file(two, "2"));
  ASSERT_TRUE(write_file(folder->file("a.cpp.d"), "a.cpp.o: " + folder->file("a.cpp") + " " + one + "\n"));
  ASSERT_TRUE(write_file(folder->file("b.cpp.d"), "b.cpp.o: " + two + " \\\n  " + one + "\n"));
  const std::string states =
      header_states({folder->file("a.cpp.o"), folder->file("b.cpp.o"), folder->file("none.o")}, *folder);
  EXPECT_EQ(states, file_state(one) + "\n" + file_state(two) + "\n");
  EXPECT_TRUE(headers_unchanged(states));
  EXPECT_TRUE(headers_unchanged(""));
  ASSERT_TRUE(write_file(two, "another"));
  EXPECT_FALSE(headers_unchanged(states));
  EXPECT_FALSE(headers_unchanged("/no/such/file:1:2.3\n"));
}

TEST(ResultCache, WhatIsForThisProcessorIsOfIt) {
  EXPECT_EQ(native_state({"-O2", "-march=x86-64-v3"}), "");
  EXPECT_EQ(native_state({"-O2", "-march=native"}), native_state({"-mtune=native"}));
  EXPECT_FALSE(native_state({"-march=native"}).empty());
  const std::string one = "processor\t: 0\nvendor_id\t: A\nmodel\t\t: 17\ncpu MHz\t\t: 2595\nflags\t\t: fpu avx512f\n";
  EXPECT_EQ(processor_state(one + "\nprocessor\t: 1\nmodel\t\t: 18\n"),
            "vendor_id\t: A\nmodel\t\t: 17\nflags\t\t: fpu avx512f\n");
}

TEST(ResultCache, WhatIsDamagedIsNone) {
  const auto folder = TemporaryFolder::make();
  const ResultCache cache(folder->path(), 1 << 20);
  cache.keep(key('a'), {true, false, "", "{}", "{}", "object"});
  const std::string file = folder->file("aa/" + std::string(30, 'a'));
  const std::string whole = *read_file(file);
  for (std::size_t k = 0; k < whole.size(); ++k) {
    std::string damaged = whole;
    damaged[k] = static_cast<char>(damaged[k] ^ 1);
    ASSERT_TRUE(write_file(file, damaged));
    EXPECT_EQ(cache.find(key('a')), std::nullopt) << k;
    ASSERT_TRUE(write_file(file, whole.substr(0, k)));
    EXPECT_EQ(cache.find(key('a')), std::nullopt) << k;
  }
}

TEST(ResultCache, TheLeastRecentlyUsedGo) {
  const auto folder = TemporaryFolder::make();
  const ResultCache cache(folder->path(), 5000);
  const auto now = fs::file_time_type::clock::now();
  for (int k = 0; k < 8; ++k) {
    cache.keep(key(static_cast<char>('a' + k)), {true, false, "", "", "", std::string(1000, 'x')});
    const std::string name(30, static_cast<char>('a' + k));
    fs::last_write_time(folder->file(name.substr(0, 2) + "/" + name), now - std::chrono::hours(20 - k));
  }
  EXPECT_TRUE(cache.find(key('a')));  // used now: the youngest
  cache.trim();
  EXPECT_LE(cache.contents().bytes, 4500);
  EXPECT_GE(cache.contents().results, 3);
  EXPECT_TRUE(cache.find(key('a')));
  EXPECT_TRUE(cache.find(key('h')));
  EXPECT_FALSE(cache.find(key('b')));
}

TEST(ResultCache, PiecesDoNotRunIntoEachOther) {
  EXPECT_NE(result_key({"ab", "c"}), result_key({"a", "bc"}));
  EXPECT_NE(result_key({"a", ""}), result_key({"a"}));
  EXPECT_EQ(result_key({"a", "b"}), result_key({"a", "b"}));
}

TEST(CachePrefix, CompilerCachesInFront) {
  EXPECT_EQ(cache_prefix({"clang-19", "-c", "a.c"}), 0U);
  EXPECT_EQ(cache_prefix({"ccache", "clang-19", "-c", "a.c"}), 1U);
  EXPECT_EQ(cache_prefix({"/usr/bin/ccache", "gcc"}), 1U);
  EXPECT_EQ(cache_prefix({"ccache", "compiler_check=content", "gcc"}), 2U);
  EXPECT_EQ(cache_prefix({"ccache", "distcc", "gcc"}), 2U);
  EXPECT_EQ(cache_prefix({"ccache", "-s"}), 0U);
  EXPECT_EQ(cache_prefix({"ccache"}), 0U);
}

}  // namespace
}  // namespace sous::client
