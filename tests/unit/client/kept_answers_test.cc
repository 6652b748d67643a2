#include "client/kept_answers.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "client/process.h"
#include "tuning-db/hash.h"

namespace sous::client {
namespace {

class KeptAnswersTest : public ::testing::Test {
 protected:
  static Options at(const std::string& server, int seconds = 600) {
    Options options;
    options.server = server;
    options.answers = seconds;
    return options;
  }
  KeptAnswers kept(std::int64_t now, const Options& options = at("http://a")) const { return {cache, options, now}; }

  TemporaryFolder folder = TemporaryFolder::make().value();
  ResultCache cache{folder.path(), 1 << 20};
};

TEST_F(KeptAnswersTest, AreFoundUntilTheyAreOld) {
  const auto then = kept(1000);
  const std::string key = then.key("asked");
  then.keep(key, "said");
  EXPECT_EQ(then.find(key), "said");
  EXPECT_EQ(then.find(then.key("asked otherwise")), std::nullopt);
  EXPECT_EQ(kept(1599).find(key), "said");
  EXPECT_EQ(kept(1600).find(key), std::nullopt);
  EXPECT_EQ(kept(999).find(key), std::nullopt) << "of the future: the clock was set back";
  EXPECT_EQ(kept(1599, at("http://a", 60)).find(key), std::nullopt);
  EXPECT_EQ(kept(1000, at("http://a", 0)).find(key), std::nullopt);
}

TEST_F(KeptAnswersTest, AreOfTheServerAndOfWhoAsks) {
  const std::string key = kept(0).key("asked");
  EXPECT_NE(kept(0, at("http://b")).key("asked"), key);
  for (const char* who : {"SOUS_TOKEN", "SOUS_CA_FILE"}) {
    ASSERT_EQ(::setenv(who, "other", 1), 0);
    EXPECT_NE(kept(0).key("asked"), key) << who;
    ::unsetenv(who);
  }
  EXPECT_EQ(kept(0).key("asked"), key);
}

TEST_F(KeptAnswersTest, OneThatIsDamagedIsNone) {
  const auto now = kept(1000);
  const std::string key = now.key("asked"), file = folder.file(key.substr(0, 2) + "/" + key.substr(2));
  now.keep(key, "said");
  struct stat state{};
  ASSERT_EQ(::stat(file.c_str(), &state), 0);
  EXPECT_EQ(state.st_mode & 077, 0U) << "others have no token";
  const std::string whole = *read_file(file);
  for (std::size_t k = 0; k < whole.size(); ++k) {
    std::string damaged = whole;
    damaged[k] = static_cast<char>(damaged[k] ^ 1);
    ASSERT_TRUE(write_file(file, damaged));
    EXPECT_EQ(now.find(key), std::nullopt) << k;
  }
  cache.keep_texts(key, {"soon", "said"});
  EXPECT_EQ(now.find(key), std::nullopt);
  cache.keep_texts(key, {"1000"});
  EXPECT_EQ(now.find(key), std::nullopt);
  now.keep(key, std::string(KeptAnswers::longest + 1, ' '));
  EXPECT_EQ(now.find(key), std::nullopt);
}

TEST_F(KeptAnswersTest, ResultsRestOnThem) {
  const auto now = kept(1000);
  const Asked one{now.key("asked"), tuning_db::content_hash("said"), "asked"};
  EXPECT_TRUE(now.hold({}));
  EXPECT_FALSE(now.hold({one}));
  now.keep(one.key, "said");
  EXPECT_TRUE(now.hold({one}));
  EXPECT_FALSE(now.hold({one, {now.key("more"), tuning_db::content_hash("said"), "more"}}));
  now.keep(one.key, "said otherwise");
  EXPECT_FALSE(now.hold({one}));
}

TEST_F(KeptAnswersTest, WhatAFileDiesOfIsNotKept) {
  FileAnswers file(kept(1000));
  file.answered("asked", "said");
  file.answered("cannot be read", "{");
  EXPECT_EQ(file.said("asked"), "said");
  EXPECT_EQ(file.find("asked"), std::nullopt) << "only what lies there";
  file.used("asked", "said");
  EXPECT_EQ(FileAnswers(kept(1000)).find("asked"), std::nullopt) << "it is not through with it yet";
  EXPECT_EQ(file.keep(), (std::vector<Asked>{{kept(1000).key("asked"), tuning_db::content_hash("said"), "asked"}}));
  EXPECT_EQ(FileAnswers(kept(1000)).find("asked"), "said");
  EXPECT_EQ(FileAnswers(kept(1000)).find("cannot be read"), std::nullopt);
  // Used again, it is as old as it was.
  FileAnswers second(kept(1500));
  second.used("asked", *second.find("asked"));
  EXPECT_EQ(second.keep().size(), 1U);
  EXPECT_EQ(FileAnswers(kept(1600)).find("asked"), std::nullopt);
}

}  // namespace
}  // namespace sous::client
