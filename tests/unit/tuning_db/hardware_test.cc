#include "tuning-db/hardware.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "tests/unit/tuning_db/nests.h"
#include "transforms/declaration.h"
#include "tuning-db/files.h"

namespace sous::tuning_db {
namespace {

TEST(Hardware, DescribesThisMachine) {
  const Hardware h = describe();
  EXPECT_FALSE(h.architecture.empty());
  EXPECT_GE(h.cores, 1);
  EXPECT_GT(h.l1_bytes, 0);
  EXPECT_GE(h.l2_bytes, h.l1_bytes);
  EXPECT_FALSE(h.measured());
}

TEST(Hardware, JsonRoundTrip) {
  Hardware h = nests::machine();
  h.fma_f64_core = 1.0 / 3;
  h.triad_bytes = 1e10;
  const auto back = hardware_from_json(to_json(h));
  ASSERT_TRUE(back) << back.error().to_string();
  EXPECT_EQ(*back, h);
  EXPECT_EQ(to_json(h).find("loaded"), std::string::npos);
  h.loaded = true;
  EXPECT_EQ(*hardware_from_json(to_json(h)), h);
}

TEST(Hardware, MalformedJsonIsRefusedWithItsField) {
  const auto code = [](const std::string& json) { return hardware_from_json(json).error().code; };
  EXPECT_EQ(code("{"), "hardware.json");
  EXPECT_EQ(code("[]"), "hardware.field");
  EXPECT_EQ(code("[[[[[[[[[[]]]]]]]]]]"), "hardware.budget");
  std::string json = to_json(nests::machine());
  EXPECT_EQ(code(json.substr(0, json.size() - 1) + ",\"more\":1}"), "hardware.field");
  json.replace(json.find("\"avx2\""), 6, "\"avx9\"");
  EXPECT_EQ(hardware_from_json(json).error().why, "unknown instruction set \"avx9\"");
}

TEST(Hardware, ClassesAreReadBack) {
  const std::string text = "x86-64:avx2:8c:l2=1M:l3=32M";
  EXPECT_EQ(hardware_class(nests::machine(8)), text);
  ASSERT_TRUE(parse_hardware_class(text));
  EXPECT_EQ(hardware_class(*parse_hardware_class(text)), text);
  for (const char* none : {"", "x86-64:avx2:8c:l2=1M", "x86-64:avx9:8c:l2=1M:l3=32M", "x86-64:avx2:0c:l2=1M:l3=32M"})
    EXPECT_FALSE(parse_hardware_class(none)) << none;
}

TEST(Hardware, SizeValuesAreNeverZero) {
  Hardware h = nests::machine();
  h.l3_bytes = 0;
  for (const auto& [name, value] : size_values(h)) EXPECT_GT(value, 0) << name;
  EXPECT_EQ(size_values(h).at("simd_bits"), 256);
  std::vector<std::string_view> names;
  for (const auto& [name, value] : size_values(h)) names.push_back(name);
  EXPECT_TRUE(std::ranges::equal(names, transforms::hardware_names));
  EXPECT_EQ(size_values(h).at("l3_bytes"), h.l2_bytes);
}

TEST(Hardware, MeasuredValuesComeFromTheCacheOfThisMachineOnly) {
  const nests::Folder folder;
  ::setenv("XDG_CACHE_HOME", folder.path().c_str(), 1);
  Hardware h = describe();
  h.triad_bytes = 42;
  ASSERT_TRUE(write_file_atomically(hardware_cache_path(), to_json(h)));
  EXPECT_EQ(local_hardware().triad_bytes, 42);
  h.model += " of another make";
  ASSERT_TRUE(write_file_atomically(hardware_cache_path(), to_json(h)));
  EXPECT_EQ(local_hardware(), describe());
  ASSERT_TRUE(write_file_atomically(hardware_cache_path(), "garbage"));
  EXPECT_EQ(local_hardware(), describe());
  ::unsetenv("XDG_CACHE_HOME");
}

TEST(Hardware, TheCacheHoldsSeveralMachinesAndAffinities) {
  const nests::Folder folder;
  ::setenv("XDG_CACHE_HOME", folder.path().c_str(), 1);
  Hardware here = describe(), pinned = here, other = nests::machine();
  here.triad_bytes = 42;
  pinned.cores = here.cores + 1;
  pinned.triad_bytes = 21;
  other.triad_bytes = 7;
  // One machine alone, as older versions wrote it.
  ASSERT_TRUE(write_file_atomically(hardware_cache_path(), to_json(here) + "\n"));
  ASSERT_TRUE(keep_measured(pinned));
  ASSERT_TRUE(keep_measured(other));
  EXPECT_EQ(local_hardware().triad_bytes, 42);
  here.triad_bytes = 43;
  ASSERT_TRUE(keep_measured(here));
  EXPECT_EQ(local_hardware().triad_bytes, 43);
  EXPECT_EQ(*read_file(hardware_cache_path(), 1 << 16),
            to_json(here) + "\n" + to_json(other) + "\n" + to_json(pinned) + "\n");
  for (int cores = 1000; cores < 1100; ++cores) ASSERT_TRUE((other.cores = cores, keep_measured(other)));
  EXPECT_LT(std::filesystem::file_size(hardware_cache_path()), 64u << 10);
  ::unsetenv("XDG_CACHE_HOME");
}

TEST(Files, AFailedWriteLeavesNothing) {
  const nests::Folder folder;
  ASSERT_TRUE(write_file_atomically(folder / "plain", "x"));
  EXPECT_EQ(write_file_atomically(folder / "plain/below", "x").error().code, "file.write");
  EXPECT_EQ(read_file(folder / "absent", 10).error().code, "file.read");
  EXPECT_EQ(read_file(folder / "plain", 0).error().code, "file.read");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

}  // namespace
}  // namespace sous::tuning_db
