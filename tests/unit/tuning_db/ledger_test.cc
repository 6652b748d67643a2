#include "tuning-db/ledger.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "tests/unit/tuning_db/nests.h"
#include "tests/unit/tuning_db/stores.h"
#include "tuning-db/connection.h"
#include "tuning-db/schema.h"
#include "tuning-db/store.h"

namespace sous::tuning_db {
namespace {

class LedgerTest : public stores::OnEach {
 protected:
  Store store = Store::open({.path = place, .seeds = {}}).value();
  Ledger ledger{place};
};

Token token(const std::string& id, const std::string& name, const std::string& scopes = "read") {
  return {.id = id, .name = name, .hash = "hash of " + id, .scopes = parse_scopes(scopes).value()};
}

TEST(Scopes, AdminIsAllOfThem) {
  const Scopes some = parse_scopes("upload,read").value(), all = parse_scopes("admin").value();
  EXPECT_EQ(to_string(some), "read,upload");
  EXPECT_TRUE(some.has(Scope::upload));
  EXPECT_FALSE(some.has(Scope::work));
  EXPECT_FALSE(some.has(Scope::admin));
  EXPECT_TRUE(all.has(Scope::work));
  EXPECT_FALSE(Scopes{}.has(Scope::read));
  for (const char* wrong : {"", "read,", ",read", "READ", "write", "read upload"})
    EXPECT_EQ(parse_scopes(wrong).error().code, "token.scopes") << wrong;
}

TEST_P(LedgerTest, TokensAreKeptByTheirHash) {
  ledger.add(token("01", "farm", "read,work")).value();
  ledger.add(token("02", "desk")).value();
  const auto found = ledger.token("01").value();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->name, "farm");
  EXPECT_EQ(found->hash, "hash of 01");
  EXPECT_EQ(to_string(found->scopes), "read,work");
  EXPECT_EQ(found->created.size(), 20u);
  EXPECT_EQ(found->revoked, "");
  EXPECT_FALSE(ledger.token("03").value());
  const auto all = ledger.tokens().value();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].name, "desk");
}

TEST_P(LedgerTest, ANameIsRevokedWithAllItsTokens) {
  for (const char* id : {"01", "02"}) ledger.add(token(id, "farm")).value();
  ledger.add(token("03", "desk")).value();
  EXPECT_EQ(ledger.revoke("farm").value(), 2);
  EXPECT_NE(ledger.token("02").value()->revoked, "");
  EXPECT_EQ(ledger.token("03").value()->revoked, "");
  EXPECT_EQ(ledger.revoke("03").value(), 1);
  EXPECT_EQ(ledger.revoke("farm").error().code, "token.not-found");
  EXPECT_EQ(ledger.revoke("nobody").error().code, "token.not-found");
}

TEST_P(LedgerTest, EveryWriteIsNoted) {
  ledger.add(token("01", "farm")).value();
  ledger.revoke("farm").value();
  const auto writes = ledger.writes(10).value();
  ASSERT_EQ(writes.size(), 2u);
  EXPECT_EQ(writes[0].what, "token 01 of farm added: read");
  EXPECT_EQ(writes[1].what, "token 01 of farm revoked");
  EXPECT_EQ(ledger.writes(1).value()[0].what, writes[1].what);
}

TEST_P(LedgerTest, OldNotesAreForgotten) {
  const auto db = open_existing(place).value();
  const auto insert = [&](std::int64_t number, const char* time, const char* who = "farm") {
    Statement(*db, "INSERT INTO writes(number, time, who, what) VALUES(?, ?, ?, 'x')")
        .bind(number)
        .bind(time)
        .bind(who)
        .run()
        .value();
  };
  for (int old = -1000; old < 0; ++old) insert(old, "2001-01-01T00:00:00Z");
  insert(0, "2100-01-01T00:00:00Z");           // too many are behind it
  insert(-2000, "2100-01-01T00:00:00Z", "-");  // what was done to the file itself stays
  insert(most_noted, "2100-01-01T00:00:00Z");  // a multiple of the notes between looks
  for (int n = 0; n < 130; ++n) ledger.add(token(std::to_string(n), "farm")).value();
  const auto writes = ledger.writes(10'000).value();
  ASSERT_EQ(writes.size(), 132u);
  EXPECT_EQ(std::ranges::count(writes, "x", &Write::what), 2);
}

TEST_P(LedgerTest, NamesArePlain) {
  for (const std::string& name :
       {std::string(), std::string("a b"), std::string("-\n"), std::string("\x1b[2J"), std::string(65, 'a')})
    EXPECT_EQ(ledger.add(token("01", name)).error().code, "token.name") << name;
  EXPECT_TRUE(ledger.add(token("01", "ci.build-2_x")));
}

TEST(LedgerOfAFile, AnotherOneIsOpenedOnlyWhenItIsServed) {
  const nests::Folder folder;
  const std::filesystem::path place = folder / "t.db";
  const Store store = Store::open({.path = place, .seeds = {}}).value();
  FileIdentity served = store.identity();
  Ledger other(place, [&] { return served; });
  other.add(token("01", "farm")).value();
  for (const char* part : {"", "-wal", "-shm"})
    std::filesystem::rename(folder / (std::string("t.db") + part), folder / (std::string("aside.db") + part));
  const Store next = Store::open({.path = place, .seeds = {}}).value();
  EXPECT_EQ(other.tokens().error().code, "db.replaced");
  served = next.identity();
  EXPECT_TRUE(other.tokens().value().empty());
}

TEST_P(LedgerTest, ThreadsMayShareOne) {
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 10; ++i) {
        EXPECT_TRUE(ledger.add(token(std::to_string(100 * t + i), "t" + std::to_string(t))));
        EXPECT_TRUE(ledger.token(std::to_string(100 * t + i)).value());
      }
    });
  threads.clear();
  EXPECT_EQ(ledger.tokens()->size(), 40u);
}

SOUS_ON_EACH_STORE(LedgerTest);

}  // namespace
}  // namespace sous::tuning_db
