#include "tuning-db/backup.h"

#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <sstream>
#include <thread>

#include "tests/unit/tuning_db/nests.h"
#include "tuning-db/database.h"

namespace sous::tuning_db {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

class Backup : public testing::Test {
 protected:
  nests::Folder folder;
  const fs::path path = folder / "t.db", copy = folder / "copy.db";
  Store open(const fs::path& file) const { return Store::open({.path = file, .seeds = {}}).value(); }
  std::size_t entries(const fs::path& file) const { return open(file).list().value().size(); }
  static std::string bytes(const fs::path& file) {
    std::ostringstream out;
    out << std::ifstream(file, std::ios::binary).rdbuf();
    return out.str();
  }
};

TEST_F(Backup, OneMomentOfADatabaseThatIsWritten) {
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

TEST_F(Backup, WhoServesItSeesWhatWasRestored) {
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
    EXPECT_EQ(kept->filename(), "t.db.before-restore-" + std::to_string(times));
    EXPECT_EQ(entries(*kept), 2U);
    EXPECT_TRUE(sees(1));
    EXPECT_TRUE(open(path).verify().value().empty());
    EXPECT_EQ(bytes(copy), backup) << "it is left as it is";
    // Who had it open goes on with what is there now.
    EXPECT_TRUE(store.add(nests::entry(nests::jacobi, 100)).value());
    EXPECT_TRUE(sees(2));
  }
  int files = 0;
  for (const auto& file : fs::directory_iterator(path.parent_path()))
    files += file.path().string().find(".new-") != std::string::npos;
  EXPECT_EQ(files, 0) << "nothing is left behind";
}

TEST_F(Backup, WhatIsNoDatabaseOfOursIsRefused) {
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
  EXPECT_FALSE(fs::exists(path.string() + ".before-restore-1"));
}

TEST_F(Backup, ADatabaseThatIsDamagedOrNotThereGivesWay) {
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

}  // namespace
}  // namespace sous::tuning_db
