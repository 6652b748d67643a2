#include "client/system_headers.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "client/process.h"

namespace sous::client {
namespace {

namespace fs = std::filesystem;

std::optional<std::string> read_file_if_there(const std::string& path) {
  auto text = read_file(path);
  return text ? std::optional(std::move(*text)) : std::nullopt;
}

std::vector<std::string> folders(const std::string& compiler, std::vector<std::string> words = {}) {
  words.insert(words.end(), {"-c", "a.c"});
  return system_header_folders(classify(words, read_file_if_there), compiler);
}

bool finds(const std::vector<std::string>& in, const std::string& header) {
  return std::ranges::any_of(in, [&](const std::string& folder) { return fs::exists(fs::path(folder) / header); });
}

TEST(SystemHeaders, ThoseOfTheCompilerAndOfTheSystem) {
  const auto found = folders("clang-19");
  EXPECT_TRUE(finds(found, "immintrin.h")) << "the compiler's own";
  EXPECT_TRUE(finds(found, "stdio.h"));
  EXPECT_TRUE(finds(found, "bits/types.h")) << "of the machine";
  EXPECT_FALSE(finds(found, "windows.h"));
  if (fs::exists("/usr/bin/gcc-12")) EXPECT_TRUE(finds(folders("gcc-12"), "immintrin.h"));
}

TEST(SystemHeaders, AreNotKnownWhereSomethingElseDecides) {
  EXPECT_TRUE(folders("no-such-clang").empty());
  for (const char* option : {"--sysroot=/opt/arm", "-nostdinc", "-B/opt"})
    EXPECT_TRUE(folders("clang-19", {option}).empty()) << option;
  // A script may give options of its own.
  const auto script = fs::path(::testing::TempDir()) / ("sous-script-" + std::to_string(::getpid())) / "clang-19";
  fs::create_directories(script.parent_path());
  ASSERT_TRUE(write_file(script.string(), "#!/bin/sh\nexec clang-19 -I/opt/include \"$@\"\n"));
  fs::permissions(script, fs::perms::owner_all);
  EXPECT_TRUE(folders(script.string()).empty());
  fs::remove_all(script.parent_path());
}

}  // namespace
}  // namespace sous::client
