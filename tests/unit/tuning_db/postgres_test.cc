// What only a database that several servers share has to answer for.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <set>
#include <thread>
#include <vector>

#include "tests/unit/tuning_db/nests.h"
#include "tests/unit/tuning_db/stores.h"
#include "tuning-db/database.h"
#include "tuning-db/ledger.h"
#include "tuning-db/migrations.h"
#include "tuning-db/places.h"
#include "tuning-db/schema.h"

namespace sous::tuning_db {
namespace {

using namespace std::chrono_literals;
using nests::entry;

Store opened(const std::filesystem::path& url) { return Store::open({.path = url, .seeds = {}}).value(); }

bool comes(const std::function<bool()>& what) {
  for (int times = 0; times < 3000 && !what(); ++times) std::this_thread::sleep_for(10ms);
  return what();
}

class Postgres : public ::testing::Test {
 protected:
  const std::filesystem::path url = stores::postgres().new_database();
};

TEST_F(Postgres, TwoServersNeverHandOutOneJob) {
  opened(url);
  constexpr int all = 12;
  for (int k = 0; k < all; ++k) {
    const Entry e = nests::normal_entry(nests::gemm, std::int64_t{8} << k);
    Ledger(url)
        .want({{.nest = e.nest, .structural_hash = e.structural_hash, .sizes = e.sizes}}, nests::machine(), "desk")
        .value();
  }
  std::vector<std::string> sizes[4];
  {
    std::vector<std::jthread> servers;
    std::atomic<int> leased = 0;
    for (int s = 0; s < 4; ++s)
      servers.emplace_back([&, s] {
        Ledger ledger(url);
        for (int k = 0; leased < all && k < 1000; ++k) {
          const std::string lease = std::to_string(s) + "-" + std::to_string(k);
          const auto job = ledger.lease({.party = "farm", .hardware = nests::machine(), .targets = {"cpp"}}, lease,
                                        1'800'000'000, 60);
          ASSERT_TRUE(job) << job.error().to_string();
          if (*job) sizes[s].push_back((*job)->sizes_json), ++leased;
        }
      });
  }
  std::multiset<std::string> given;
  for (const auto& one : sizes) given.insert(one.begin(), one.end());
  EXPECT_EQ(given.size(), all);
  EXPECT_EQ(std::set<std::string>(given.begin(), given.end()).size(), all);
}

// Two that confirm each other, sent at the same moment: one of them sees the other.
TEST_F(Postgres, WitnessesThatComeAtOnceConfirmEachOther) {
  opened(url);
  Ledger desk(url), farm(url);
  for (int n = 0; n < 8; ++n) {
    std::jthread first([&] { desk.send({entry(nests::gemm, 500 + n)}, "desk", *static_embedding()).value(); });
    Entry other = entry(nests::gemm, 500 + n);
    other.provenance = "measured again";
    farm.send({other}, "farm", *static_embedding()).value();
  }
  for (const Summary& one : opened(url).list().value()) EXPECT_FALSE(one.only_for) << one.id;
}

TEST_F(Postgres, WhoFollowsIsToldOfWhatAnotherServerStored) {
  const auto database = Database::open({.path = url, .seeds = {}}, nests::machine()).value();
  ASSERT_TRUE(database->follow(10ms));
  Store other = opened(url);
  std::this_thread::sleep_for(300ms);  // it listens
  std::chrono::milliseconds least = 10s;
  for (int n = 1; n <= 5; ++n) {
    const auto begun = std::chrono::steady_clock::now();
    other.add(entry(nests::gemm, 100 * n)).value();
    ASSERT_TRUE(comes([&] { return database->entries().value() == n; }));
    least = std::min(least,
                     std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begun));
  }
  EXPECT_LT(least, 1s) << "as soon as it is told, not when it looks";
}

TEST_F(Postgres, AKilledOneIsSaidAndComesBackWithAllThatWasAcknowledged) {
  support::PostgresServer server;
  const std::filesystem::path place = server.new_database();
  const auto database = Database::open({.path = place, .seeds = {}}, nests::machine()).value();
  ASSERT_TRUE(database->follow(10ms));
  Ledger ledger(place);
  std::int64_t acknowledged = 0;
  for (int round = 0; round < 3; ++round) {
    {
      std::jthread killer([&] {
        std::this_thread::sleep_for(100ms);
        server.kill();
      });
      for (int n = 0;; ++n) {
        const auto sent = ledger.send({entry(nests::gemm, 1000 * (round + 1) + n)}, "desk", *static_embedding());
        if (!sent) {
          EXPECT_EQ(sent.error().code, "db.unreachable") << sent.error().to_string();
          break;
        }
        ++acknowledged;
      }
    }
    EXPECT_TRUE(comes([&] { return !database->sound() && database->sound().error().code == "db.unreachable"; }));
    EXPECT_TRUE(database->query({nests::asks(nests::gemm, 500)}, 3)) << "from what is in memory";
    EXPECT_EQ(ledger.tokens().error().code, "db.unreachable");
    server.start();
    EXPECT_TRUE(comes([&] { return database->sound().has_value(); }));
    EXPECT_TRUE(comes([&] { return ledger.tokens().has_value(); }));
    // One more may have been kept whose answer did not come.
    EXPECT_TRUE(comes([&] { return database->entries().value() >= acknowledged; }));
    EXPECT_LE(database->entries().value(), acknowledged + round + 1);
  }
  EXPECT_TRUE(opened(place).verify()->empty());
  EXPECT_GT(acknowledged, 0);
}

TEST_F(Postgres, OneThatHangsIsNoticedAndHoldsUpNobody) {
  support::PostgresServer server;
  const std::filesystem::path place = server.new_database();
  opened(place).add(entry(nests::gemm, 500)).value();
  opened(place).add(entry(nests::syrk, 500)).value();
  const auto database = Database::open({.path = place, .seeds = {}}, nests::machine()).value();
  ASSERT_TRUE(database->follow(10ms));
  Ledger ledger(place, [&] { return database->identity(); });
  ASSERT_TRUE(ledger.tokens());
  ASSERT_TRUE(database->query({nests::asks(nests::gemm, 500)}, 3));
  server.hang();
  EXPECT_TRUE(comes([&] { return !database->sound(); }));
  EXPECT_EQ(database->sound().error().code, "db.unreachable");
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_EQ(ledger.tokens().error().code, "db.unreachable");
  EXPECT_TRUE(database->query({nests::asks(nests::gemm, 500)}, 3)) << "from what is in memory";
  EXPECT_EQ(database->query({nests::asks(nests::syrk, 500)}, 3).error().code, "db.unreachable");
  EXPECT_LT(std::chrono::steady_clock::now() - begun, 2s) << "it is known, and not tried";
  server.go_on();
  EXPECT_TRUE(comes([&] { return database->sound().has_value(); }));
  EXPECT_TRUE(comes([&] { return ledger.tokens().has_value(); }));
  EXPECT_TRUE(database->query({nests::asks(nests::syrk, 500)}, 3));
}

TEST_F(Postgres, ManyRowsComeInPiecesAndOthersInBetween) {
  opened(url);
  const Handle db = open_existing(url).value();
  auto transaction = Transaction::begin(*db, Turn::read).value();
  for (const int count : {0, 1, 499, 500, 501, 1000, 1700}) {
    Statement rows(*db, "SELECT n FROM generate_series(1::BIGINT, ?) n", Rows::many);
    rows.bind(count);
    int came = 0;
    while (rows.step().value()) {
      EXPECT_EQ(rows.integer(0), ++came);
      if (came % 400 != 0) continue;
      Statement inner(*db, "SELECT n FROM generate_series(1, 600) n", Rows::many);
      int within = 0;
      while (inner.step().value()) ++within;
      EXPECT_EQ(within, 600);
    }
    EXPECT_EQ(came, count);
  }
  ASSERT_TRUE(transaction.commit());
  Statement outside(*db, "SELECT n FROM generate_series(1, 600) n", Rows::many);
  int came = 0;
  while (outside.step().value()) ++came;
  EXPECT_EQ(came, 600);
}

TEST_F(Postgres, AnOlderSchemaIsLeftToWhoSaysSo) {
  opened(url);
  ASSERT_TRUE(migrate_database(url, newest_schema - 1));
  EXPECT_EQ(Store::open({.path = url, .seeds = {}}).error().code, "db.schema-older");
  EXPECT_EQ(Ledger(url).tokens().error().code, "db.schema-older");
  for (int times = 0; times < 2; ++times) ASSERT_TRUE(migrate_database(url, newest_schema));
  EXPECT_TRUE(Ledger(url).tokens());
}

TEST_F(Postgres, WhatBelongsToOthersIsLeftAlone) {
  ASSERT_TRUE(migrate_database(url, newest_schema));
  ASSERT_TRUE(open_existing(url).value()->execute(
      "DROP SCHEMA sous CASCADE; CREATE SCHEMA sous; CREATE TABLE sous.theirs(x INT)"));
  EXPECT_EQ(Store::open({.path = url, .seeds = {}}).error().code, "db.foreign");
}

TEST_F(Postgres, OneThatMayOnlyBeReadIsRead) {
  opened(url).add(entry(nests::gemm, 500)).value();
  auto store = Store::open({.path = url.string() + "&options=-c%20default_transaction_read_only%3Don",
                            .seeds = {SOUS_SOURCE_DIR "/tuning-db/seed/polybench.jsonl"}});
  ASSERT_TRUE(store) << store.error().to_string();
  EXPECT_FALSE(store->seeds_left());
  EXPECT_EQ(store->list()->size(), 1u);
  EXPECT_EQ(store->add(entry(nests::syrk, 500)).error().code, "db.io");
  // Also before anybody who may write has derived what a new schema wants.
  ASSERT_TRUE(open_existing(url).value()->execute("UPDATE nests SET sizeless = ''"));
  ASSERT_TRUE(store->vectors()) << store->vectors().error().to_string();
  EXPECT_EQ(store->vectors()->size(), 1u);
}

TEST_F(Postgres, ACommitThatKeptNothingIsNone) {
  opened(url);
  const Handle db = open_existing(url).value();
  auto transaction = Transaction::begin(*db, Turn::rows).value();
  ASSERT_TRUE(db->execute("INSERT INTO seeds(fingerprint) VALUES('one')"));
  EXPECT_EQ(db->execute("INSERT INTO seeds(fingerprint) VALUES('one')").error().code, "db.io");
  EXPECT_EQ(transaction.commit().error().code, "db.io");
  EXPECT_EQ(number(*db, "SELECT count(*) FROM seeds").value(), 0) << "and the connection goes on";
}

TEST(PostgresUrl, NoPasswordIsShown) {
  EXPECT_EQ(shown("postgres://me:se:cret@host:5433/db?password=x"), "postgres://me@host:5433/db");
  EXPECT_EQ(shown("postgres://me:se?cret@host/db?password=x@y"), "postgres://me@host/db");
  EXPECT_EQ(shown("postgres://me:se/cret@host/db"), "postgres://me@host/db");
  EXPECT_EQ(shown("postgres://host:5433/db?password=se:cr@et"), "postgres://host:5433/db");
  EXPECT_EQ(shown("postgresql:///db?host=/run"), "postgresql:///db");
  EXPECT_EQ(shown("a:b@c.db"), "a:b@c.db");
  EXPECT_FALSE(is_postgres("postgres.db"));
}

TEST(PostgresUrl, NobodyThereIsSaid) {
  EXPECT_EQ(Store::open({.path = "postgres:///x?host=/nowhere", .seeds = {}}).error().code, "db.unreachable");
}

}  // namespace
}  // namespace sous::tuning_db
