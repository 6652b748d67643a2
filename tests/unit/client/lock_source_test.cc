#include "client/lock_source.h"

#include <gtest/gtest.h>

#include "client/process.h"
#include "tuning-db/size_class.h"

namespace sous::client {
namespace {

transforms::Match match(const std::string& name) {
  transforms::Match m;
  m.recipe = {1, "openmp", {{"parallelize", {{"loop", std::string("i0")}}}}};
  m.name = name;
  m.id = "id-" + name;
  m.evidence = {"4^10:8", 2, 1, 0.01, 0.02, 1e6, 2, "x86-64:avx2:2c:l2=1M:l3=32M", "clang-19"};
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
  EXPECT_EQ((*found)[0][0].source, "lock");
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

}  // namespace
}  // namespace sous::client
