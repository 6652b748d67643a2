#include "tuning-db/backup.h"

#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <set>
#include <sstream>
#include <thread>

#include "tests/unit/tuning_db/nests.h"
#include "tests/unit/tuning_db/stores.h"
#include "tuning-db/database.h"
#include "tuning-db/ledger.h"
#include "tuning-db/migrations.h"
#include "tuning-db/schema.h"
#include "tuning-db/tables.h"

namespace sous::tuning_db {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

class Backup : public stores::OnEach {
 protected:
  const fs::path& path = place;
  const fs::path copy = folder / "copy.db";
  Store open(const fs::path& file) const { return Store::open({.path = file, .seeds = {}}).value(); }
  std::size_t entries(const fs::path& file) const { return open(file).list().value().size(); }
  static std::string bytes(const fs::path& file) {
    std::ostringstream out;
    out << std::ifstream(file, std::ios::binary).rdbuf();
    return out.str();
  }
};

TEST_P(Backup, OneMomentOfADatabaseThatIsWritten) {
  Store store = open(path);
  for (int n = 1; n <= 5; ++n) store.add(nests::entry(nests::gemm, 100 * n)).value();
  std::atomic<bool> stop = false;
  std::atomic<int> added = 5;
  std::jthread writer([&] {
    Store other = open(path);
    for (int n = 6; !stop; ++n, ++added) other.add(nests::entry(nests::gemm, 100 * n)).value();
  });
  while (added < 7) std::this_thread::sleep_for(1ms);
  const int before = added;
  ASSERT_TRUE(back_up(path, copy));
  const int after = added + 1;
  stop = true;
  writer.join();
  const auto held = static_cast<int>(entries(copy));
  EXPECT_GE(held, before);
  EXPECT_LE(held, after);
  EXPECT_TRUE(open(copy).verify().value().empty());
  EXPECT_EQ(back_up(path, copy).error().code, "db.exists");
}

TEST_P(Backup, WhoServesItSeesWhatWasRestored) {
  const auto serving = Database::open({.path = path, .seeds = {}}, nests::machine()).value();
  ASSERT_TRUE(serving->follow(5ms));
  const auto sees = [&](std::int64_t count) {
    for (int times = 0; times < 1000 && serving->entries().value() != count; ++times) std::this_thread::sleep_for(5ms);
    return serving->entries().value() == count && serving->sound().has_value();
  };
  Store store = open(path);
  store.add(nests::entry(nests::gemm, 100)).value();
  ASSERT_TRUE(back_up(path, copy));
  const std::string backup = bytes(copy);
  store.add(nests::entry(nests::syrk, 100)).value();
  EXPECT_TRUE(sees(2));
  for (int times = 1; times <= 2; ++times) {
    const auto kept = restore(copy, path);
    ASSERT_TRUE(kept) << kept.error().to_string();
    const std::string beside = GetParam() == stores::Kind::sqlite ? "t.db" : "copy.db";
    EXPECT_EQ(kept->filename(), beside + ".before-restore-" + std::to_string(times));
    EXPECT_EQ(entries(*kept), 2U);
    EXPECT_TRUE(sees(1));
    EXPECT_TRUE(open(path).verify().value().empty());
    EXPECT_EQ(bytes(copy), backup) << "it is left as it is";
    // Who had it open goes on with what is there now.
    EXPECT_TRUE(store.add(nests::entry(nests::jacobi, 100)).value());
    EXPECT_TRUE(sees(2));
  }
  int files = 0;
  for (const auto& file : fs::directory_iterator(copy.parent_path()))
    files += file.path().string().find(".new-") != std::string::npos;
  EXPECT_EQ(files, 0) << "nothing is left behind";
}

// Every row of every table, by its own table's order, but for what counts changes.
std::string all_rows(const fs::path& place) {
  const auto model = SqliteConnection::open(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY).value();
  fill_file(*model, newest_schema).value();
  const Handle db = open_existing(place).value();
  std::string text;
  for (const Table& table : tables_of(*model).value()) {
    if (table.name == "changes") continue;
    std::set<std::string> lines;
    std::string columns;
    for (const Table::Column& column : table.columns) columns += (columns.empty() ? "" : ", ") + column.name;
    Statement rows(*db, "SELECT " + columns + " FROM " + table.name);
    while (rows.step().value()) {
      std::string line = table.name;
      for (int k = 0; const Table::Column& column : table.columns) {
        const int at = k++;
        line += " | ";
        std::ostringstream value;
        value.precision(17);
        if (column.holds == Table::Column::Holds::vector)
          for (const float number : rows.vector(at)) value << number << ' ';
        else if (column.holds == Table::Column::Holds::real)
          value << rows.real(at);  // of which each store has a text of its own
        else
          value << rows.text(at);
        line += value.str();
      }
      lines.insert(line);
    }
    for (const std::string& line : lines) text += line + "\n";
  }
  return text;
}

// Something in every table.
void fill_all_tables(const fs::path& place) {
  Store store = Store::open({.path = place, .seeds = {SOUS_SOURCE_DIR "/tuning-db/seed/polybench.jsonl"}}).value();
  for (int n = 1; n <= 5; ++n) store.add(nests::entry(nests::gemm, 100 * n)).value();
  Ledger ledger(place);
  ledger.add({.id = "01", .name = "desk", .hash = "x", .scopes = {.bits = 7}}).value();
  ledger.send({nests::entry(nests::syrk, 300)}, "desk", *static_embedding()).value();
  const Entry lacks = nests::normal_entry(nests::gemm, 64);
  ledger
      .want({{.nest = lacks.nest, .structural_hash = lacks.structural_hash, .sizes = lacks.sizes}}, nests::machine(),
            "desk")
      .value();
  ASSERT_TRUE(ledger.lease({.party = "farm", .hardware = nests::machine(), .targets = {"cpp"}}, "l", 1'800'000'000, 60)
                  .value());
}

TEST_P(Backup, AllOfItGoesIntoEitherKindOfStore) {
  fill_all_tables(path);
  const std::string before = all_rows(path);
  for (const char* table :
       {"nests", "hardware", "entries", "embeddings", "seeds", "tokens", "writes", "senders", "wanted", "jobs"})
    EXPECT_NE(before.find("\n" + std::string(table) + " | "), std::string::npos) << table;
  ASSERT_TRUE(back_up(path, copy));
  EXPECT_TRUE(all_rows(copy) == before);
  const fs::path other = new_place("other.db"), file = folder / "file.db";
  for (const fs::path& to : {other, file}) {
    EXPECT_EQ(restore(copy, to).value(), "") << "nothing was there";
    EXPECT_TRUE(all_rows(to) == before) << to;
    EXPECT_TRUE(open(to).verify().value().empty());
    Ledger(to).add({.id = "02", .name = "farm", .hash = "y", .scopes = {.bits = 1}}).value();
  }
}

TEST_P(Backup, OneOfAnOlderSchemaIsTakenAsItIsAndRestoredAsThisOne) {
  fill_all_tables(path);
  ASSERT_TRUE(migrate_database(path, newest_schema - 1));
  ASSERT_TRUE(back_up(path, copy));
  ASSERT_TRUE(migrate_database(path, newest_schema));
  ASSERT_TRUE(restore(copy, path));
  open(path).vectors().value();
  EXPECT_TRUE(open(path).verify().value().empty());
  EXPECT_EQ(Ledger(path).tokens()->size(), 1U);
}

TEST_P(Backup, WhatIsNoDatabaseOfOursIsRefused) {
  open(path).add(nests::entry(nests::gemm, 100)).value();
  std::ofstream(folder / "text") << std::string(10'000, 'x');
  fs::create_directories(folder / "dir");
  ASSERT_TRUE(back_up(path, copy));
  const std::string whole = bytes(copy);
  std::ofstream(folder / "cut", std::ios::binary) << whole.substr(0, whole.size() / 2);
  std::string changed = whole;
  changed.replace(changed.find("CREATE TABLE hardware"), 21, "CREATE TABLE hArdware");
  std::ofstream(folder / "foreign", std::ios::binary) << changed;
  for (const auto& [file, code] :
       {std::pair{"text", "db."}, {"none", "db.open"}, {"dir", "db.open"}, {"cut", "db."}, {"foreign", "db.foreign"}}) {
    const auto refused = restore(folder / file, path);
    ASSERT_FALSE(refused) << file;
    EXPECT_TRUE(refused.error().code.starts_with(code)) << refused.error().to_string();
    EXPECT_EQ(entries(path), 1U);
  }
  for (const auto& file : fs::directory_iterator(copy.parent_path()))
    EXPECT_EQ(file.path().string().find(".before-restore-"), std::string::npos) << file.path();
}

TEST_P(Backup, ADatabaseThatIsDamagedOrNotThereGivesWay) {
  if (GetParam() != stores::Kind::sqlite) return;  // which alone is a file
  open(path).add(nests::entry(nests::gemm, 100)).value();
  ASSERT_TRUE(back_up(path, copy));
  fs::remove(path);
  EXPECT_EQ(restore(copy, path).value(), "");
  EXPECT_EQ(entries(path), 1U);
  for (const char* suffix : {"-wal", "-shm"}) fs::remove(path.string() + suffix);
  std::ofstream(path, std::ios::binary) << std::string(10'000, 'x');
  const fs::path kept = restore(copy, path).value();
  EXPECT_EQ(bytes(kept), std::string(10'000, 'x'));
  EXPECT_EQ(entries(path), 1U);
}

SOUS_ON_EACH_STORE(Backup);

}  // namespace
}  // namespace sous::tuning_db
