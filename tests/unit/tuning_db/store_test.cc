#include "tuning-db/store.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <fstream>
#include <set>
#include <thread>

#include "tests/unit/tuning_db/nests.h"
#include "tests/unit/tuning_db/stores.h"
#include "tuning-db/files.h"
#include "tuning-db/ledger.h"
#include "tuning-db/migrations.h"
#include "tuning-db/schema.h"
#include "tuning-db/sqlite.h"

namespace sous::tuning_db {
namespace {

using nests::entry;

Store opened(const std::filesystem::path& path, std::vector<std::filesystem::path> seeds = {}) {
  auto store = Store::open({.path = path, .seeds = std::move(seeds)});
  if (!store) ADD_FAILURE() << store.error().to_string();
  SOUS_ASSERT(store);
  return std::move(*store);
}

// Who waited in vain for others who write may come again, which a server says (503).
TEST(Sqlite, AFileThatOthersHoldIsBusy) {
  const nests::Folder folder;
  const auto open = [&] {
    auto db = SqliteConnection::open(folder / "t.db", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE).value();
    sqlite3_busy_timeout(db->raw(), 0);
    return db;
  };
  const auto one = open(), other = open();
  ASSERT_TRUE(one->execute("CREATE TABLE t(x); BEGIN IMMEDIATE"));
  EXPECT_EQ(other->execute("BEGIN IMMEDIATE").error().code, "db.busy");
  EXPECT_EQ(Statement(*other, "INSERT INTO t VALUES(1)").run().error().code, "db.busy");
  ASSERT_TRUE(one->execute("COMMIT"));
  EXPECT_TRUE(Statement(*other, "INSERT INTO t VALUES(1)").run());
  EXPECT_EQ(other->execute("INSERT INTO none VALUES(1)").error().code, "db.io");
}

std::set<std::string> names_in(const nests::Folder& folder) {
  std::set<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(folder.path())) names.insert(file.path().filename());
  return names;
}

void sql(const std::filesystem::path& path, const char* text) {
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(db, text, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
  sqlite3_close(db);
}

class StoreTest : public stores::OnEach {};
SOUS_ON_EACH_STORE(StoreTest);

TEST(Entry, JsonRoundTripAndStableId) {
  const Entry e = entry(nests::gemm, 500);
  const auto back = entry_from_json(to_json(e));
  ASSERT_TRUE(back) << back.error().to_string();
  EXPECT_EQ(*back, e);
  EXPECT_EQ(entry_id(*back), entry_id(e));
  EXPECT_EQ(to_json(*back), to_json(e));
  EXPECT_NE(entry_id(entry(nests::gemm, 501)), entry_id(e));
}

TEST(Entry, ChangedContentIsRefused) {
  const std::string line = to_json(entry(nests::gemm, 500));
  const auto code = [&](const std::string& from, const std::string& to) {
    std::string changed = line;
    const std::size_t at = changed.find(from);
    SOUS_ASSERT(at != std::string::npos);
    return entry_from_json(changed.replace(at, from.size(), to)).error().code;
  };
  EXPECT_EQ(code("test#1", "test#2"), "entry.id");
  EXPECT_EQ(code("\"threads\":2", "\"threads\":0"), "entry.field");
  EXPECT_EQ(code("\"schema\":1,\"sizes\"", "\"schema\":9,\"sizes\""), "entry.schema");
  EXPECT_EQ(code("\"reverse\"", "\"rewind\""), "recipe.unknown-step");
  EXPECT_EQ(code("\"structural_hash\":\"", "\"structural_hash\":\"0"), "entry.hash");
  EXPECT_EQ(code("}", ""), "entry.json");
}

TEST_P(StoreTest, AddGetListRemove) {
  Store store = opened(place);
  const Entry e = entry(nests::gemm, 500);
  EXPECT_EQ(store.add(e).value(), true);
  EXPECT_EQ(store.add(e).value(), false);
  const std::string id = entry_id(e);
  EXPECT_EQ(store.get(id).value(), e);
  EXPECT_EQ(store.get(id.substr(0, 6)).value(), e);
  EXPECT_EQ(store.get(id.substr(0, 2)).value(), std::nullopt);
  EXPECT_EQ(store.get("' OR 1=1 --").value(), std::nullopt);
  ASSERT_EQ(store.list()->size(), 1u);
  EXPECT_EQ(store.list()->front().hardware_class, "x86-64:avx2:8c:l2=1M:l3=32M");
  EXPECT_DOUBLE_EQ(store.list()->front().ratio(), 2);
  EXPECT_EQ(store.with_hash(e.structural_hash)->size(), 1u);
  EXPECT_EQ(store.vectors()->size(), 1u);
  EXPECT_EQ(store.remove(id).value(), true);
  EXPECT_EQ(store.remove(id).value(), false);
  EXPECT_TRUE(store.vectors()->empty());
}

TEST_P(StoreTest, SurvivesClosing) {
  const Entry e = entry(nests::syrk, 300);
  opened(place).add(e).value();
  EXPECT_EQ(opened(place).get(entry_id(e)).value(), e);
  const auto stats = opened(place).stats();
  EXPECT_EQ(stats->entries, 1);
  EXPECT_EQ(stats->by_target, (std::vector<std::pair<std::string, std::int64_t>>{{"cpp", 1}}));
}

TEST_P(StoreTest, ExportIsSortedAndImportIdempotent) {
  Store a = opened(new_place("a.db")), b = opened(new_place("b.db"));
  for (const auto nest : {nests::gemm, nests::syrk, nests::jacobi}) a.add(entry(nest, 400)).value();
  for (const auto nest : {nests::jacobi, nests::gemm, nests::syrk}) b.add(entry(nest, 400)).value();
  const std::string lines = a.export_lines().value();
  EXPECT_EQ(lines, b.export_lines().value());
  Store c = opened(new_place("c.db"));
  EXPECT_EQ(c.import_lines(lines, "x")->added, 3);
  EXPECT_EQ(c.import_lines(lines, "x")->known, 3);
  EXPECT_EQ(c.export_lines().value(), lines);
  EXPECT_TRUE(c.verify()->empty());
}

TEST_P(StoreTest, AnImportIsAllOrNothing) {
  Store store = opened(place);
  const auto result = store.import_lines(to_json(entry(nests::gemm, 1)) + "\n{}\n", "more.jsonl");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, "db.import");
  EXPECT_EQ(result.error().where, "more.jsonl:2");
  EXPECT_TRUE(store.list()->empty());
}

TEST_P(StoreTest, AnImportReadsBeforeItWaitsForItsTurn) {
  Store store = opened(place);
  const Handle writer = open_existing(place).value();
  const auto writing = Transaction::begin(*writer, Turn::write).value();
  EXPECT_EQ(store.import_lines("{}", "bad.jsonl").error().code, "db.import");
}

TEST_P(StoreTest, TwoImportsAtOnceBothSucceed) {
  opened(place);
  std::vector<std::jthread> threads;
  for (int t = 0; t < 2; ++t)
    threads.emplace_back([&, t] {
      std::string lines;
      for (int n = 0; n < 200; ++n) lines += to_json(entry(nests::gemm, 2 + 200 * t + n)) + "\n";
      const auto imported = opened(place).import_lines(lines, "lines");
      ASSERT_TRUE(imported) << imported.error().to_string();
      EXPECT_EQ(imported->added, 200);
    });
  threads.clear();
  EXPECT_EQ(opened(place).stats()->entries, 400);
}

TEST(Store, ANewDatabaseIsMadeFromSeeds) {
  const nests::Folder folder;
  ASSERT_TRUE(write_file_atomically(folder / "s.jsonl", to_json(entry(nests::gemm, 500)) + "\n"));
  EXPECT_EQ(opened(folder / "sub/t.db", {folder / "s.jsonl"}).list()->size(), 1u);
}

std::set<std::string> names(const Store& store) {
  std::set<std::string> result;
  const auto all = store.list().value();
  for (const Summary& s : all) result.insert(s.name);
  return result;
}

TEST_P(StoreTest, NewSeedsReplaceOldOnesAndNothingElse) {
  const auto named = [](std::string_view nest, const std::string& name) {
    Entry e = entry(nest, 500);
    e.name = name;
    return e;
  };
  const auto write = [&](const std::vector<Entry>& seeds) {
    std::string lines;
    for (const Entry& e : seeds) lines += to_json(e) + "\n";
    ASSERT_TRUE(write_file_atomically(folder / "s.jsonl", lines));
  };
  const auto store = [&] { return opened(place, {folder / "s.jsonl"}); };
  write({named(nests::gemm, "first"), named(nests::syrk, "both")});
  store().add(named(nests::jacobi, "own")).value();
  EXPECT_EQ(names(store()), (std::set<std::string>{"both", "first", "own"}));

  write({named(nests::syrk, "both"), named(nests::gemm, "second")});
  EXPECT_EQ(names(store()), (std::set<std::string>{"both", "own", "second"}));
  EXPECT_EQ(store().vectors()->size(), 3u);
  EXPECT_TRUE(store().verify()->empty());

  // What somebody removes stays away while the seeds are the same.
  Store changed = store();
  const auto summaries = changed.list().value();
  for (const Summary& s : summaries)
    if (s.name == "both") changed.remove(s.id).value();
  EXPECT_EQ(names(store()), (std::set<std::string>{"own", "second"}));
  // Seeds that cannot be read leave the old ones, and that is said.
  EXPECT_FALSE(store().seeds_left());
  ASSERT_TRUE(write_file_atomically(folder / "s.jsonl", std::string("{\n")));
  const Store older = store();
  EXPECT_EQ(names(older), (std::set<std::string>{"own", "second"}));
  ASSERT_TRUE(older.seeds_left());
  EXPECT_EQ(older.seeds_left()->code, "db.seed");
  // Without seeds nothing goes.
  EXPECT_EQ(names(opened(place)), (std::set<std::string>{"own", "second"}));
}

constexpr const char* back_to_the_first_schema =
    "DROP INDEX entries_by_gain; DROP INDEX nests_by_sizeless; ALTER TABLE nests DROP COLUMN sizeless; DROP TABLE "
    "jobs; DROP TABLE wanted; DROP "
    "TABLE senders; DROP TABLE changes; DROP INDEX entries_unconfirmed; ALTER "
    "TABLE entries "
    "DROP COLUMN sent; "
    "DROP TABLE tokens; DROP TABLE writes; DROP TABLE seeds; ALTER TABLE entries DROP COLUMN least; "
    "ALTER TABLE entries DROP COLUMN seeded; PRAGMA user_version = 1";

TEST(Store, TheFirstSchemaIsBroughtUpToDate) {
  const nests::Folder folder;
  opened(folder / "t.db").add(entry(nests::gemm, 500)).value();
  sql(folder / "t.db", back_to_the_first_schema);
  EXPECT_EQ(opened(folder / "t.db").list()->size(), 1u);
  EXPECT_EQ(opened(folder / "t.db").stats()->schema, 9);
}

TEST_P(StoreTest, WhatIsDerivedOfOlderNestsIsMadeUp) {
  const auto all = {nests::gemm, nests::syrk, nests::jacobi};
  Store store = opened(place);
  for (const auto nest : all) store.add(entry(nest, 500)).value();
  std::set<std::string> hashes;
  for (const Summary& one : store.list().value()) hashes.insert(one.sizeless);
  EXPECT_EQ(hashes.size(), all.size());
  for (const char* older : {"UPDATE nests SET sizeless = ''", "UPDATE nests SET sizeless = '0:an older one'"}) {
    ASSERT_TRUE(open_existing(place).value()->execute(older));
    for (const std::string& one : hashes) EXPECT_TRUE(store.with_sizeless(one)->empty());
    ASSERT_TRUE(store.vectors());
    for (const std::string& one : hashes) EXPECT_EQ(store.with_sizeless(one)->size(), 1u);
  }
}

// Servers that start after a migration, and builds.
TEST_P(StoreTest, ManyMayDeriveAtOnce) {
  Store store = opened(place);
  for (int n = 0; n < 40; ++n) store.add(entry(nests::gemm, 500 + n)).value();
  for (const auto nest : {nests::gemm_of_700, nests::syrk, nests::jacobi}) store.add(entry(nest, 500)).value();
  ASSERT_TRUE(open_existing(place).value()->execute("UPDATE nests SET sizeless = ''"));
  {
    std::vector<std::jthread> others;
    for (int k = 0; k < 4; ++k)
      others.emplace_back([&] {
        const auto vectors = opened(place).vectors();
        EXPECT_TRUE(vectors) << vectors.error().to_string();
      });
  }
  for (const Summary& one : store.list().value()) EXPECT_TRUE(one.sizeless.starts_with("1:")) << one.id;
}

TEST(Store, ManyBuildsMayBringOneDatabaseUpToDate) {
  const nests::Folder folder;
  for (int round = 0; round < 5; ++round) {
    const auto path = folder / ("t" + std::to_string(round) + ".db");
    opened(path).add(entry(nests::gemm, 500)).value();
    sql(path, back_to_the_first_schema);
    {
      std::vector<std::jthread> builds;
      for (int i = 0; i < 8; ++i)
        builds.emplace_back([&] {
          std::filesystem::path aside;
          auto store = Store::open_or_recreate({.path = path, .seeds = {}}, aside);
          EXPECT_TRUE(store) << store.error().to_string();
          EXPECT_EQ(aside, "");
        });
    }
    EXPECT_EQ(opened(path).list()->size(), 1u);
  }
}

TEST(Store, AnImpossibleSchemaIsForeign) {
  const nests::Folder folder;
  opened(folder / "t.db");
  sql(folder / "t.db", "PRAGMA user_version = -1000000");
  EXPECT_EQ(Store::open({.path = folder / "t.db", .seeds = {}}).error().code, "db.foreign");
}

TEST_P(StoreTest, BadSeedsLeaveAnExistingDatabaseInUse) {
  opened(place).add(entry(nests::gemm, 500)).value();
  ASSERT_TRUE(write_file_atomically(folder / "s.jsonl", "{}\n"));
  EXPECT_EQ(opened(place, {folder / "s.jsonl"}).list()->size(), 1u);
}

TEST(Store, ABadSeedLeavesNothing) {
  const nests::Folder folder;
  ASSERT_TRUE(write_file_atomically(folder / "s.jsonl", "{}\n"));
  const auto store = Store::open({.path = folder / "t.db", .seeds = {folder / "s.jsonl"}});
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, "db.seed");
  EXPECT_EQ(names_in(folder), std::set<std::string>{"s.jsonl"});
}

TEST(Store, CorruptFilesAreKeptAsideOnlyOnRequest) {
  const nests::Folder folder;
  for (const char* n : {"1", "2"}) {
    const std::string garbage = "this is not a database, number " + std::string(n);
    ASSERT_TRUE(write_file_atomically(folder / "t.db", garbage));
    EXPECT_EQ(Store::open({.path = folder / "t.db", .seeds = {}}).error().code, "db.corrupt");
    EXPECT_EQ(read_file(folder / "t.db", 1000).value(), garbage);
    std::filesystem::path aside;
    {
      const auto store = Store::open_or_recreate({.path = folder / "t.db", .seeds = {}}, aside);
      ASSERT_TRUE(store) << store.error().to_string();
      EXPECT_EQ(aside, folder / ("t.db.corrupt-" + std::string(n)));
      EXPECT_EQ(read_file(aside, 1000).value(), garbage);
    }
    EXPECT_TRUE(Store::open_or_recreate({.path = folder / "t.db", .seeds = {}}, aside));
    EXPECT_TRUE(aside.empty());
    for (const char* file : {"t.db", "t.db-wal", "t.db-shm"}) std::filesystem::remove(folder / file);
  }
}

TEST(Store, ATruncatedDatabaseIsCorrupt) {
  const nests::Folder folder;
  opened(folder / "t.db").add(entry(nests::gemm, 500)).value();
  std::filesystem::resize_file(folder / "t.db", 700);
  EXPECT_EQ(Store::open({.path = folder / "t.db", .seeds = {}}).error().code, "db.corrupt");
}

TEST(Store, ADatabaseDamagedInsideIsNamed) {
  const nests::Folder folder;
  opened(folder / "t.db").add(entry(nests::gemm, 500)).value();
  // What opening looks at is whole.
  const auto page =
      number(*open_existing(folder / "t.db").value(), "SELECT rootpage FROM sqlite_master WHERE name = 'entries'");
  ASSERT_GT(page.value(), 1);
  std::fstream file(folder / "t.db", std::ios::in | std::ios::out | std::ios::binary);
  file.seekp((page.value() - 1) * 4096);
  file << std::string(4096, '\x5a');
  file.close();
  const auto listed = opened(folder / "t.db").list();
  ASSERT_FALSE(listed);
  EXPECT_EQ(listed.error().code, "db.corrupt");
  EXPECT_NE(listed.error().where.find("t.db"), std::string::npos) << listed.error().to_string();
}

TEST(Store, ForeignAndNewerDatabasesAreRefused) {
  const nests::Folder folder;
  sql(folder / "foreign.db", "CREATE TABLE photos(id)");
  EXPECT_EQ(Store::open({.path = folder / "foreign.db", .seeds = {}}).error().code, "db.foreign");
  opened(folder / "newer.db");
  sql(folder / "newer.db", "PRAGMA user_version = 1000");
  std::filesystem::path aside;
  EXPECT_EQ(Store::open_or_recreate({.path = folder / "newer.db", .seeds = {}}, aside).error().code, "db.schema-newer");
  EXPECT_EQ(Store::open({.path = folder.path(), .seeds = {}}).error().code, "db.open");
}

TEST_P(StoreTest, VerifyFindsWhatSomeoneChanged) {
  opened(place).add(entry(nests::gemm, 500)).value();
  ASSERT_TRUE(open_existing(place).value()->execute("UPDATE entries SET tuned_seconds = 1e-9"));
  const auto changed = opened(place).verify();
  ASSERT_EQ(changed->size(), 1u);
  EXPECT_EQ(changed->front().code, "entry.id");
  ASSERT_TRUE(open_existing(place).value()->execute("UPDATE nests SET json = '{}'"));
  const auto broken = opened(place).verify();
  ASSERT_EQ(broken->size(), 1u);
  EXPECT_EQ(broken->front().code, "db.entry");
  EXPECT_EQ(opened(place).export_lines().error().code, "db.entry");
}

TEST_P(StoreTest, VectorsOfAnotherEmbeddingAreMadeAnew) {
  opened(place).add(entry(nests::gemm, 500)).value();
  ASSERT_TRUE(open_existing(place).value()->execute("UPDATE embeddings SET version = 'older'"));
  Store store = opened(place);
  ASSERT_EQ(store.vectors()->size(), 1u);
  EXPECT_EQ(store.vectors()->front().vector.size(), feature_count);
}

TEST_P(StoreTest, ManyBuildsMayMakeAndFillOneDatabase) {
  ASSERT_TRUE(write_file_atomically(folder / "s.jsonl", to_json(entry(nests::gemm, 500)) + "\n"));
  {
    std::vector<std::jthread> builds;
    for (int i = 0; i < 4; ++i)
      builds.emplace_back([&, i] {
        auto store = Store::open({.path = place, .seeds = {folder / "s.jsonl"}});
        ASSERT_TRUE(store) << store.error().to_string();
        const auto added = store->add(entry(nests::syrk, 100 + i));
        EXPECT_TRUE(added) << added.error().to_string();
      });
  }
  EXPECT_EQ(opened(place).list()->size(), 5u);
}

// It would be embedded anew for ever, and be news to all others each time.
TEST_P(StoreTest, WhatCannotBeReadIsLookedAtOnce) {
  auto store = opened(place);
  for (const auto nest : {nests::gemm, nests::syrk, nests::jacobi}) ASSERT_TRUE(store.add(entry(nest, 500)));
  const std::string bad = entry_id(entry(nests::syrk, 500)), lost = entry_id(entry(nests::gemm, 500));
  ASSERT_TRUE(open_existing(place).value()->execute("UPDATE entries SET tuned_seconds = -1 WHERE id = '" + bad + "'; " +
                                                    "DELETE FROM embeddings WHERE entry IN ('" + bad + "', '" + lost +
                                                    "')"));
  const std::string before = store.generation().value();
  EXPECT_EQ(store.vectors()->size(), 2u);
  const std::string after = store.generation().value();
  EXPECT_NE(after, before) << "one was embedded";
  EXPECT_EQ(store.vectors()->size(), 2u);
  EXPECT_EQ(opened(place).vectors()->size(), 2u);
  EXPECT_EQ(store.generation().value(), after);
}

// Each schema is exactly what the migrations make of the one before, whichever way it was come to.
TEST_P(StoreTest, EverySchemaCanBeLeftInBothDirections) {
  opened(place).add(entry(nests::gemm, 500)).value();
  for (int older = newest_schema - 1; older >= 1; --older) {
    ASSERT_TRUE(migrate_database(place, older)) << older;
    ASSERT_TRUE(migrate_database(place, newest_schema)) << older;
    EXPECT_EQ(opened(place).list()->size(), 1u);
    EXPECT_TRUE(opened(place).verify()->empty());
  }
  EXPECT_EQ(opened(place).stats()->schema, newest_schema);
}

// What one party alone vouches for would serve everyone in a schema that does not know of parties.
TEST_P(StoreTest, GoingBackTakesWhatAnOlderSchemaWouldBelieve) {
  opened(place);
  ASSERT_TRUE(Ledger(place).send({entry(nests::gemm, 500)}, "desk", *static_embedding()));
  EXPECT_EQ(opened(place).list()->size(), 1u);
  ASSERT_TRUE(migrate_database(place, 4));
  ASSERT_TRUE(migrate_database(place, newest_schema));
  EXPECT_TRUE(opened(place).list()->empty());
}

}  // namespace
}  // namespace sous::tuning_db
