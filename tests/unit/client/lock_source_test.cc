#include "client/lock_source.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "client/process.h"
#include "tuning-db/size_class.h"

namespace sous::client {
namespace {

transforms::Match match(const std::string& name) {
  transforms::Match m;
  m.recipe = {1, "openmp", {{"parallelize", {{"loop", std::string("i0")}}}}};
  m.name = name;
  m.id = "id-" + name;
  m.evidence = {.size_class = "4^10:8",
                .baseline_seconds = 2,
                .tuned_seconds = 1,
                .baseline_spread = 0.01,
                .tuned_spread = 0.02,
                .work = 1e6,
                .extents = {100, 100},
                .least_extents = {10, 20},
                .least_work = 1000,
                .threads = 2,
                .hardware = "x86-64:avx2:2c:l2=1M:l3=32M",
                .compiler = "clang-19"};
  return m;
}

TEST(LockSource, WhatIsPutIsFoundAgainAndTheFileIsSorted) {
  const auto folder = TemporaryFolder::make();
  ASSERT_TRUE(folder);
  const std::string path = folder->file("sous.lock");
  auto lock = LockSource::open(path);
  ASSERT_TRUE(lock);
  lock->put("bb", "unknown:8", match("second"));
  lock->put("aa", "unknown:8", match("first"));
  ASSERT_TRUE(lock->save());
  const auto text = read_file(path);
  ASSERT_TRUE(text);
  EXPECT_LT(text->find("\"aa\""), text->find("\"bb\""));

  transforms::NestQuery query;
  query.structural_hash = "bb";
  const std::string size = to_string(tuning_db::size_class(query.nest, query.sizes));
  auto again = LockSource::open(path);
  ASSERT_TRUE(again);
  again->put("bb", size, match("second"));
  ASSERT_TRUE(again->save());
  const auto found = LockSource::open(path)->query({query}, 3);
  ASSERT_TRUE(found);
  ASSERT_EQ((*found)[0].size(), 1u);
  EXPECT_EQ((*found)[0][0].origin, transforms::Origin::Lock);
  EXPECT_EQ((*found)[0][0].recipe, match("second").recipe);
  EXPECT_EQ((*found)[0][0].evidence.hardware, match("second").evidence.hardware);
}

TEST(LockSource, TwoCompilersBesideEachOtherLoseNothing) {
  const auto folder = TemporaryFolder::make();
  ASSERT_TRUE(folder);
  const std::string path = folder->file("sous.lock");
  auto one = LockSource::open(path), two = LockSource::open(path);
  one->put("aa", "unknown:8", match("first"));
  two->put("bb", "unknown:8", match("second"));
  ASSERT_TRUE(one->save() && two->save());
  const auto text = read_file(path);
  EXPECT_NE(text->find("\"aa\""), std::string::npos);
  EXPECT_NE(text->find("\"bb\""), std::string::npos);
}

TEST(LockSource, CorruptIsRefusedAndLeftAlone) {
  const auto folder = TemporaryFolder::make();
  ASSERT_TRUE(folder);
  const std::string path = folder->file("sous.lock");
  for (const std::string text : {"", "{", "[]", "{\"version\": 2, \"nests\": []}", "{\"version\": 1, \"nests\": [{}]}",
                                 "{\"version\": 1, \"nests\": 3}"}) {
    ASSERT_TRUE(write_file(path, text));
    const auto lock = LockSource::open(path);
    ASSERT_FALSE(lock) << text;
    EXPECT_EQ(lock.error().code, "lock.corrupt");
    EXPECT_EQ(*read_file(path), text);
  }
}

TEST(LockSource, AForgedFileIsRefused) {
  const auto folder = TemporaryFolder::make();
  ASSERT_TRUE(folder);
  const std::string path = folder->file("sous.lock");
  auto lock = LockSource::open(path);
  lock->put("aa", "unknown:8", match("first"));
  ASSERT_TRUE(lock->save());
  const std::string good = *read_file(path);
  EXPECT_EQ(LockSource::from_text(good)->text(), good);
  const auto code = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return LockSource::from_text(text).error().code;
  };
  EXPECT_EQ(code("\"first\"", "\"\\u001b[2J\""), "lock.field");
  EXPECT_EQ(code("\"threads\": 2", "\"threads\": 0"), "lock.field");
  EXPECT_EQ(code("\"work\": 1000000.0", "\"work\": \"much\""), "lock.field");
  EXPECT_EQ(code("\"parallelize\"", "\"explode\""), "recipe.unknown-step");
  EXPECT_EQ(code("\"version\": 1\n}", "\"version\": 2}"), "lock.corrupt");
  EXPECT_EQ(LockSource::from_text(std::string(100'000, '[')).error().code, "lock.budget");
  EXPECT_EQ(LockSource::from_text("{").error().code, "lock.json");
}

TEST(LockSource, APipeInItsPlaceIsNotWaitedFor) {
  const auto folder = TemporaryFolder::make();
  ASSERT_TRUE(folder);
  const std::string path = folder->file("sous.lock");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(LockSource::open(path).error().code, "lock.corrupt");
}

TEST(LockSource, ALockOnTheFolderIsNotWaitedForForEver) {
  const auto folder = TemporaryFolder::make();
  ASSERT_TRUE(folder);
  const std::string path = folder->file("sous.lock");
  auto lock = LockSource::open(path);
  ASSERT_TRUE(lock);
  lock->put("aa", "unknown:8", match("first"));
  const int held = ::open(std::filesystem::path(path).parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  ASSERT_EQ(::flock(held, LOCK_EX), 0);
  EXPECT_EQ(lock->save(std::chrono::milliseconds(20)).error().code, "lock.busy");
  EXPECT_FALSE(read_file(path));
  ::close(held);
  EXPECT_TRUE(lock->save());
  EXPECT_TRUE(read_file(path));
}

TEST(LockSource, ANameThatIsNotUtf8IsWritten) {
  const auto folder = TemporaryFolder::make();
  ASSERT_TRUE(folder);
  auto lock = LockSource::open(folder->file("sous.lock"));
  lock->put("aa", "unknown:8", match("\xff\xfe"));
  EXPECT_TRUE(lock->save());
  EXPECT_TRUE(LockSource::open(folder->file("sous.lock")));
}

}  // namespace
}  // namespace sous::client
