#include "tuning-db/database.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "sdfg/json.h"
#include "sdfg/text.h"
#include "tests/unit/tuning_db/nests.h"
#include "tests/unit/tuning_db/stores.h"
#include "tuning-db/evidence.h"
#include "tuning-db/files.h"
#include "tuning-db/insert.h"
#include "tuning-db/places.h"
#include "tuning-db/schema.h"

namespace sous::tuning_db {
namespace {

using nests::asks;
using nests::entry;
using transforms::Match;

class DatabaseTest : public stores::OnEach {
 protected:
  std::unique_ptr<Database> database = Database::open({.path = place, .seeds = {}}, nests::machine()).value();

  void add(const Entry& e) { ASSERT_TRUE(database->store().add(e).value()); }
  std::vector<Match> query(const transforms::NestQuery& nest, int k = 3) {
    auto result = database->query({nest}, k);
    if (!result) ADD_FAILURE() << result.error().to_string();
    return result ? result->front() : std::vector<Match>{};
  }
};

TEST_P(DatabaseTest, AnEmptyOneFindsNothing) { EXPECT_TRUE(query(asks(nests::gemm, 500)).empty()); }

// Sizes alone, and only those of small nests.
class Small final : public Embedding {
 public:
  std::string version() const override { return "small-1"; }
  double reach() const override { return 0.5; }
  Result<FeatureVector> embed(const sdfg::Sdfg&, const std::map<std::string, std::int64_t>& sizes) const override {
    FeatureVector out;
    for (const auto& [name, size] : sizes) out.push_back(static_cast<float>(size));
    if (!out.empty() && out.front() > 1000) return fail("small.too-large", "a model of small nests");
    out.resize(8);
    return out;
  }
};

TEST(Embeddings, DistancesAreOfTheOneThatTheStoreIsGiven) {
  const nests::Folder folder;
  const auto database = Database::open(
      {.path = folder / "t.db", .seeds = {}, .embedding = std::make_shared<const Small>()}, nests::machine());
  ASSERT_TRUE(database) << database.error().to_string();
  ASSERT_TRUE((*database)->store().add(entry(nests::gemm, 500)).value_or(false));
  ASSERT_TRUE((*database)->store().add(entry(nests::gemm, 5000)).value_or(false));  // which it cannot take
  const auto found = [&](std::int64_t n) { return (*database)->query({asks(nests::gemm, n)}, 3).value().at(0); };
  ASSERT_FALSE(found(500).empty());
  EXPECT_EQ(found(500)[0].embedding, "small-1");
  EXPECT_EQ(found(500)[0].reach, 0.5);
  EXPECT_EQ(found(50).size(), 1u);
  EXPECT_NEAR(found(50)[0].distance, 450 * std::sqrt(3.0), 1e-3);
  ASSERT_FALSE(found(5000).empty());
  EXPECT_EQ(found(5000)[0].distance, 0);  // by its hash
}

TEST(Embeddings, WhatIsOutOfReachIsNamedAndNotReadForWhoeverWantsNoMore) {
  const nests::Folder folder;
  const auto database = Database::open(
      {.path = folder / "t.db", .seeds = {}, .embedding = std::make_shared<const Small>()}, nests::machine());
  ASSERT_TRUE(database) << database.error().to_string();
  ASSERT_TRUE((*database)->store().add(entry(nests::gemm, 500)).value_or(false));
  for (const std::int64_t n : {50, 500}) {
    transforms::NestQuery asked = asks(nests::gemm, n);
    const auto whole = (*database)->query({asked}, 3).value().at(0).at(0);
    asked.in_reach_only = true;
    const auto found = (*database)->query({asked}, 3).value().at(0).at(0);
    EXPECT_EQ(found.distance, whole.distance);
    EXPECT_EQ(found.reach, whole.reach);
    EXPECT_EQ(found.id, whole.id);
    EXPECT_EQ(found.evidence.tuned_seconds, whole.evidence.tuned_seconds);
    EXPECT_EQ(found.recipe.steps.empty(), n == 50);
  }
}

TEST_P(DatabaseTest, TheSameNestAtTheSameSizeIsExact) {
  add(entry(nests::gemm, 500));
  const auto found = query(asks(nests::gemm, 500));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].distance, 0);
  EXPECT_EQ(found[0].origin, transforms::Origin::Database);
  EXPECT_EQ(found[0].id, entry_id(entry(nests::gemm, 500)));
  EXPECT_EQ(found[0].evidence.size_class, "4^11:8");
  EXPECT_EQ(found[0].evidence.compiler, "clang-19 -O3 -march=native");
  EXPECT_EQ(found[0].evidence.work, 500.0 * 500 * 500);
  EXPECT_EQ(found[0].nest, entry(nests::gemm, 500).nest);
}

TEST_P(DatabaseTest, AnotherSizeIsFartherAndUnknownSizesAreNot) {
  add(entry(nests::gemm, 500));
  const double farther = query(asks(nests::gemm, 50))[0].distance;
  EXPECT_GT(farther, 0);
  EXPECT_GT(query(asks(nests::gemm, 5))[0].distance, farther);
  transforms::NestQuery unknown = asks(nests::gemm, 500);
  unknown.sizes.clear();
  EXPECT_EQ(query(unknown)[0].distance, 0);
}

TEST_P(DatabaseTest, TheOwnNestComesBeforeNeighboursOfItsDepth) {
  add(entry(nests::syrk, 500, "interchange(outer=i0, inner=i1) -> cpp"));
  add(entry(nests::jacobi, 500, "reverse(loop=i1) -> cpp"));
  add(entry(nests::gemm, 8));
  const auto found = query(asks(nests::gemm, 500));
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].nest, entry(nests::gemm, 8).nest);
  EXPECT_EQ(found[1].nest, entry(nests::syrk, 500).nest);
  EXPECT_GT(found[1].distance, 0);
}

TEST_P(DatabaseTest, TheSameNestWithItsSizesWrittenOutIsNoFarther) {
  add(entry(nests::gemm, 500));
  const auto found = query(asks(nests::gemm_of_700, 0));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].distance, 0);
  EXPECT_EQ(found[0].nest, entry(nests::gemm, 500).nest);
  // A size that evidence does not speak for is another matter.
  ASSERT_TRUE(database->store().remove(entry_id(entry(nests::gemm, 500))).value());
  add(entry(nests::gemm, 20));
  EXPECT_GT(query(asks(nests::gemm_of_700, 0)).at(0).distance, 0);
}

TEST_P(DatabaseTest, ThresholdsReachDownToSmallerConstants) {
  Entry large = entry(nests::gemm, 8000);
  add(large);
  EXPECT_GT(query(asks(nests::gemm_of_700, 0)).at(0).distance, 0);
  large.least_extents = {100, 100, 100};
  large.least_work = 1e6;
  add(large);
  EXPECT_EQ(query(asks(nests::gemm_of_700, 0)).at(0).distance, 0);
}

TEST_P(DatabaseTest, TheOwnNestThenOtherSizesThenNeighbours) {
  add(entry(nests::syrk, 700, "interchange(outer=i0, inner=i1) -> cpp", 9));
  add(entry(nests::gemm, 700, "reverse(loop=i1) -> cpp", 9));
  add(entry(nests::gemm_of_700, 0, "reverse(loop=i0) -> cpp", 2));
  std::vector<std::string> nests;
  for (const Match& match : query(asks(nests::gemm_of_700, 0), 9)) nests.push_back(sdfg::print(match.nest));
  ASSERT_EQ(nests.size(), 3u);
  EXPECT_EQ(nests[0], nests::gemm_of_700);
  EXPECT_EQ(nests[1], nests::gemm);
  EXPECT_EQ(nests[2], nests::syrk);
}

// A gain measured on matrices of 2000 is larger, but says less of what arrays of 100 can hold.
TEST_P(DatabaseTest, ArraysSuggestTheSizeThatIsNotKnown) {
  add(entry(nests::gemm, 2000, "reverse(loop=i0) -> cpp", 9));
  add(entry(nests::gemm, 100, "reverse(loop=i1) -> cpp", 2));
  transforms::NestQuery in_arrays = asks(nests::gemm_in_arrays_of_100, 100), anywhere = asks(nests::gemm, 100);
  in_arrays.sizes.clear();
  anywhere.sizes.clear();
  EXPECT_NEAR(query(in_arrays).at(0).evidence.ratio(), 2, 1e-9);
  EXPECT_NEAR(query(anywhere).at(0).evidence.ratio(), 9, 1e-9);
}

TEST_P(DatabaseTest, WhereTheSizeIsNotKnownAMeasurementSettlesItsOwn) {
  Entry elsewhere = entry(nests::gemm, 2000, "reverse(loop=i0) -> cpp", 9);
  elsewhere.hardware = nests::machine(64);
  add(elsewhere);
  add(entry(nests::gemm_in_arrays_of_100, 100, "reverse(loop=i0) -> cpp", 0.5));
  transforms::NestQuery unknown = asks(nests::gemm, 1);
  unknown.sizes.clear();
  EXPECT_NEAR(query(unknown).at(0).evidence.ratio(), 9, 1e-9);
  add(entry(nests::gemm, 2000, "reverse(loop=i0) -> cpp", 0.8));
  EXPECT_LT(query(unknown).at(0).evidence.ratio(), 1);
}

TEST_P(DatabaseTest, OwnClassAndSizeComeFirstThenWhatIsBelieved) {
  Entry elsewhere = entry(nests::gemm, 500, "reverse(loop=i1) -> cpp", 9);
  elsewhere.hardware = nests::machine(64);
  add(elsewhere);
  add(entry(nests::gemm, 500, "reverse(loop=i2) -> cpp", 1.5));
  add(entry(nests::gemm, 500, "reverse(loop=i0) -> cpp", 3));
  add(entry(nests::gemm, 4000, "skew(loop=i1, by=i0) -> cpp", 20));
  std::vector<double> ratios;
  for (const Match& match : query(asks(nests::gemm, 500), 9)) ratios.push_back(match.evidence.ratio());
  ASSERT_EQ(ratios.size(), 4u);
  for (std::size_t i = 0; const double expected : {3.0, 1.5, 9.0, 20.0}) EXPECT_NEAR(ratios[i++], expected, 1e-9);
}

TEST_P(DatabaseTest, WhatThisClassMeasuredSettlesWhatOthersFound) {
  Entry elsewhere = entry(nests::gemm, 500, "reverse(loop=i0) -> cpp", 9);
  elsewhere.hardware = nests::machine(64);
  add(elsewhere);
  ASSERT_NEAR(query(asks(nests::gemm, 500))[0].evidence.ratio(), 9, 1e-9);
  add(entry(nests::gemm, 500, "reverse(loop=i0) -> cpp", 0.8));
  const auto found = query(asks(nests::gemm, 500));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NEAR(found[0].evidence.ratio(), 0.8, 1e-9);
  // Of another size it says nothing.
  EXPECT_NEAR(query(asks(nests::gemm, 8000))[0].evidence.ratio(), 9, 1e-9);
}

TEST_P(DatabaseTest, ABuildForLessThanTheMachineIsOfAnotherClass) {
  add(entry(nests::gemm, 500, "reverse(loop=i0) -> cpp", 9));
  Entry plain = entry(nests::gemm, 500, "reverse(loop=i0) -> cpp", 0.8);
  plain.flags = "-O2";
  add(plain);
  Hardware build = nests::machine();
  EXPECT_NEAR(database->query({asks(nests::gemm, 500)}, 3, build)->at(0).at(0).evidence.ratio(), 9, 1e-9);
  build.isa = Isa::sse;
  const auto found = database->query({asks(nests::gemm, 500)}, 3, build)->at(0);
  EXPECT_NEAR(found.at(0).evidence.ratio(), 0.8, 1e-9);
  EXPECT_EQ(found.at(0).evidence.hardware, "x86-64:sse:8c:l2=1M:l3=32M");
}

TEST_P(DatabaseTest, OneRecipeIsGivenOnceAndAtMostKInAll) {
  add(entry(nests::gemm, 500, "reverse(loop=i0) -> cpp", 2));
  add(entry(nests::gemm, 501, "reverse(loop=i0) -> cpp", 3));
  add(entry(nests::gemm, 500, "reverse(loop=i1) -> cpp", 1));
  EXPECT_EQ(query(asks(nests::gemm, 500)).size(), 2u);
  EXPECT_EQ(query(asks(nests::gemm, 500), 1).size(), 1u);
  EXPECT_TRUE(query(asks(nests::gemm, 500), 0).empty());
}

TEST_P(DatabaseTest, NoticesWhatOthersAdd) {
  EXPECT_TRUE(query(asks(nests::gemm, 500)).empty());
  auto other = Store::open({.path = place, .seeds = {}});
  ASSERT_TRUE(other->add(entry(nests::syrk, 500)));
  EXPECT_EQ(query(asks(nests::gemm, 500)).size(), 1u);
}

TEST_P(DatabaseTest, ThreadsTakeTurns) {
  add(entry(nests::gemm, 500));
  add(entry(nests::syrk, 500));
  const auto expected = query(asks(nests::gemm, 400));
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 10; ++i)
        EXPECT_EQ(database->query({asks(nests::gemm, 400)}, 3)->front().size(), expected.size());
    });
}

std::vector<std::pair<std::string, double>> ids(const std::vector<Match>& matches) {
  std::vector<std::pair<std::string, double>> result;
  for (const Match& match : matches) result.emplace_back(match.id, match.distance);
  return result;
}

// Until it is so, which it is after an interval.
template <class Condition>
void wait_until(Condition condition) {
  for (int i = 0; i < 1000 && !condition(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_TRUE(condition());
}
constexpr std::chrono::milliseconds interval(5);

TEST_P(DatabaseTest, AFollowedOneAnswersAsOneThatReadsTheFile) {
  for (const std::int64_t n : {8, 50, 500, 501, 4000})
    for (const auto nest : {nests::gemm, nests::syrk, nests::jacobi})
      for (const char* recipe : {"reverse(loop=i0) -> cpp", "reverse(loop=i1) -> cpp"}) {
        Entry one = entry(nest, n, recipe, n == 50 ? 0.9 : 1 + static_cast<double>(n) / 1000);
        one.hardware = nests::machine(n == 501 ? 64 : 8);
        add(one);
      }
  const auto followed = Database::open({.path = place, .seeds = {}}, nests::machine()).value();
  ASSERT_TRUE(followed->follow(interval));
  EXPECT_EQ(followed->entries().value(), 30);
  for (const auto nest : {nests::gemm, nests::syrk, nests::jacobi})
    for (const std::int64_t n : {0, 7, 40, 500, 5000})
      for (const int k : {1, 3, 32}) {
        transforms::NestQuery asked = asks(nest, n);
        if (n == 0) asked.sizes.clear();
        EXPECT_EQ(ids(followed->query({asked}, k)->front()), ids(query(asked, k)));
      }
}

// What is told of entries is made of what is held of them in memory; a match is read from the file.
TEST_P(DatabaseTest, WhatIsToldIsWhatAQueryAnswers) {
  for (const std::int64_t n : {8, 50, 500, 501, 4000})
    for (const auto nest : {nests::gemm, nests::syrk, nests::jacobi})
      for (const char* recipe : {"reverse(loop=i0) -> cpp", "reverse(loop=i1) -> cpp"}) {
        Entry one = entry(nest, n, recipe, 1 + static_cast<double>(n) / 1000);
        if (n == 50) one.least_extents = {7, 8.5}, one.least_work = 9;
        if (n == 501) one.hardware = nests::machine(64), one.flags = "-O2 -mavx2";
        add(one);
      }
  ASSERT_TRUE(database->follow(interval));
  const auto compare = [&](const transforms::NestQuery& asked) {
    const auto expected = query(asked, 32);
    const auto ranked = database->rank({asked}, 32, nests::machine()).value();
    ASSERT_EQ(ranked.nests[0].size(), expected.size());
    for (std::size_t k = 0; k < expected.size(); ++k) {
      const auto told = database->tell(*ranked.nests[0][k].entry).value();
      ASSERT_TRUE(told);
      EXPECT_EQ(told->match.id, expected[k].id);
      EXPECT_EQ(told->match.name, expected[k].name);
      EXPECT_EQ(told->match.recipe, expected[k].recipe);
      EXPECT_EQ(told->match.embedding, expected[k].embedding);
      EXPECT_EQ(told->match.reach, expected[k].reach);
      EXPECT_EQ(evidence_json(told->match.evidence), evidence_json(expected[k].evidence));
      EXPECT_EQ(ranked.nests[0][k].distance, expected[k].distance);
      EXPECT_EQ(*told->nest, sdfg::to_json(expected[k].nest));
    }
  };
  auto other = Store::open({.path = place, .seeds = {}});
  // A loss, of a recipe that gains elsewhere: nobody is answered with it.
  std::jthread writer([&](const std::stop_token& stop) {
    const Entry coming = entry(nests::gemm, 700, "reverse(loop=i0) -> cpp", 0.5);
    while (!stop.stop_requested()) EXPECT_TRUE(other->add(coming) && other->remove(entry_id(coming)));
  });
  for (const auto nest : {nests::gemm, nests::syrk, nests::jacobi})
    for (const std::int64_t n : {7, 40, 500, 5000}) compare(asks(nest, n));
}

TEST_P(DatabaseTest, WhatCannotBeReadIsNotTold) {
  add(entry(nests::gemm, 500));
  add(entry(nests::syrk, 500));
  const Handle writer = open_existing(place).value();
  ASSERT_TRUE(
      writer->execute("UPDATE entries SET sizes = 'nonsense' WHERE id = '" + entry_id(entry(nests::gemm, 500)) + "'"));
  ASSERT_TRUE(database->follow(interval));
  const auto ranked = database->rank({asks(nests::gemm, 500)}, 3, nests::machine()).value();
  ASSERT_FALSE(ranked.nests[0].empty());
  for (const auto& one : ranked.nests[0])
    EXPECT_EQ(database->tell(*one.entry).value().has_value(), one.entry->id != entry_id(entry(nests::gemm, 500)));
}

TEST_P(DatabaseTest, AFollowedOneNoticesWhatOthersAddAndTakeAway) {
  ASSERT_TRUE(database->follow(interval));
  auto other = Store::open({.path = place, .seeds = {}});
  ASSERT_TRUE(other->add(entry(nests::syrk, 500)));
  wait_until([&] { return query(asks(nests::gemm, 500)).size() == 1; });
  ASSERT_TRUE(other->remove(entry_id(entry(nests::syrk, 500))).value());
  wait_until([&] { return query(asks(nests::gemm, 500)).empty(); });
}

TEST_P(DatabaseTest, ReadersOfAFollowedOneDoNotWaitForAWriter) {
  add(entry(nests::gemm, 500));
  ASSERT_TRUE(database->follow(interval));
  const Handle writer = open_existing(place).value();
  auto writing = Transaction::begin(*writer, Turn::write).value();
  ASSERT_TRUE(writer->execute("DELETE FROM entries"));
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 10; ++i) EXPECT_EQ(query(asks(nests::gemm, 400)).size(), 1u);
    });
  threads.clear();
  EXPECT_TRUE(database->sound());
  ASSERT_TRUE(note_change(*writer));
  ASSERT_TRUE(writing.commit());
  wait_until([&] { return query(asks(nests::gemm, 400)).empty(); });
}

// Else the next program that is done with the file removes the log that this one goes on writing.
TEST_P(DatabaseTest, LookingWhetherItIsSoundLeavesSqliteItsLocks) {
  if (GetParam() != stores::Kind::sqlite) return;  // which alone is a file
  add(entry(nests::gemm, 500));
  const auto seen = [&] {
    const std::string inode = ":" + std::to_string(identity_of(place).inode) + " ";
    std::ifstream file("/proc/locks");
    int count = 0;
    for (std::string line; std::getline(file, line);)
      count += line.find(" " + std::to_string(::getpid()) + " ") != std::string::npos &&
               line.find(inode) != std::string::npos;
    return count;
  };
  // The file is read in pieces while others take locks and give them back: a line may be missed, or read twice.
  const auto locks = [&] {
    std::vector<int> counts(15);
    std::ranges::generate(counts, seen);
    std::ranges::nth_element(counts, counts.begin() + 7);
    return counts[7];
  };
  const int before = locks();
  EXPECT_GT(before, 0);
  for (int times = 0; times < 3; ++times) EXPECT_TRUE(database->sound());
  EXPECT_EQ(locks(), before);
}

TEST_P(DatabaseTest, AFollowedOneTakesTheFileThatTakesItsPlace) {
  namespace fs = std::filesystem;
  if (GetParam() != stores::Kind::sqlite) return;  // which alone is a file
  add(entry(nests::gemm, 500));
  ASSERT_TRUE(database->follow(interval));
  add(entry(nests::jacobi, 500));  // in the log of the old file
  const fs::path path = folder / "t.db", other = folder / "other.db", aside = folder / "aside.db";
  ASSERT_TRUE(Store::open({.path = other, .seeds = {}})->add(entry(nests::syrk, 700)));
  fs::rename(path, aside);
  EXPECT_EQ(database->sound().error().code, "db.gone");
  EXPECT_FALSE(query(asks(nests::gemm, 500)).empty());
  fs::rename(other, path);
  wait_until([&] { return database->sound().has_value(); });
  EXPECT_EQ(database->entries().value(), 1);
  EXPECT_EQ(query(asks(nests::gemm, 500)).at(0).id, entry_id(entry(nests::syrk, 700)));
  EXPECT_TRUE(database->get(entry_id(entry(nests::syrk, 700))).value());
  EXPECT_FALSE(database->get(entry_id(entry(nests::gemm, 500))).value());
  // The old log is not played into the new file, and is not lost.
  EXPECT_TRUE(Store::open({.path = path, .seeds = {}})->verify()->empty());
  fs::rename(path.string() + "-wal.of-replaced-1", aside.string() + "-wal");
  EXPECT_TRUE(Store::open({.path = aside, .seeds = {}})->get(entry_id(entry(nests::jacobi, 500))).value());
  ASSERT_TRUE(write_file_atomically(path, "no database"));
  wait_until([&] { return !database->sound() && database->sound().error().code == "db.corrupt"; });
  EXPECT_EQ(query(asks(nests::gemm, 500)).size(), 1u);
}

// The nearest of many may all say the same.
TEST_P(DatabaseTest, ManyMeasurementsOfOneRecipeHideNoOther) {
  for (int n = 0; n < 60; ++n) add(entry(nests::syrk, 500 + n));
  add(entry(nests::syrk, 20, "reverse(loop=i1) -> cpp"));
  add(entry(nests::syrk, 9, "reverse(loop=i2) -> cpp"));
  const auto recipes = [&](int k) { return query(asks(nests::gemm, 500), k).size(); };
  EXPECT_EQ(recipes(2), 2u);
  EXPECT_EQ(recipes(8), 3u);
  ASSERT_TRUE(database->follow(interval));
  EXPECT_EQ(recipes(2), 2u);
  EXPECT_EQ(recipes(8), 3u);
}

TEST_P(DatabaseTest, OfANestEveryMeasurementCounts) {
  std::string lines;
  const auto one = [](int i, const char* recipe, double ratio) {
    Entry e = entry(nests::gemm, 500, recipe, ratio);
    e.provenance = std::to_string(i);
    return e;
  };
  for (int i = 0; i < 1100; ++i) lines += to_json(one(i, "reverse(loop=i0) -> cpp", 2)) + "\n";
  // The best one has the last id.
  Entry best;
  for (int i = 0; entry_id(best = one(i, "reverse(loop=i1) -> cpp", 5)) < "ff"; ++i) continue;
  lines += to_json(best) + "\n";
  ASSERT_TRUE(database->store().import_lines(lines, "lines"));
  EXPECT_EQ(query(asks(nests::gemm, 500)).at(0).id, entry_id(best));
  ASSERT_TRUE(database->follow(interval));
  EXPECT_EQ(query(asks(nests::gemm, 500)).at(0).id, entry_id(best));
}

TEST(Seeds, TheEnvironmentNamesTheFolder) {
  const nests::Folder folder;
  for (const char* name : {"b.jsonl", "a.jsonl", "c.txt"}) ASSERT_TRUE(write_file_atomically(folder / name, ""));
  ::setenv("SOUS_SEED_DIR", folder.path().c_str(), 1);
  EXPECT_EQ(seed_files(), (std::vector<std::filesystem::path>{folder / "a.jsonl", folder / "b.jsonl"}));
  ::setenv("SOUS_SEED_DIR", (folder / "absent").c_str(), 1);
  EXPECT_TRUE(seed_files().empty());
  ::unsetenv("SOUS_SEED_DIR");
}

SOUS_ON_EACH_STORE(DatabaseTest);

}  // namespace
}  // namespace sous::tuning_db
