// A database that someone forged: nothing of it runs, and nothing of it takes for ever.
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include <cstring>
#include <fstream>
#include <iterator>

#include "tests/unit/tuning_db/nests.h"
#include "tuning-db/database.h"
#include "tuning-db/json_reader.h"

namespace sous::tuning_db {
namespace {

using nests::entry;

constexpr std::size_t page_bytes = 4096;

// A database with one entry, then changed by `sql`.
void forge(const std::filesystem::path& path, const std::string& sql) {
  {
    auto store = Store::open({.path = path, .seeds = {}});
    ASSERT_TRUE(store);
    ASSERT_TRUE(store->add(entry(nests::gemm, 500)));
  }
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
  sqlite3_close(db);
}

std::string refusal(const std::filesystem::path& path) {
  const auto store = Store::open({.path = path, .seeds = {}});
  return store ? "" : store.error().code;
}

TEST(HostileDatabase, ASchemaThatIsNotOursIsRefused) {
  for (const char* sql : {
           "CREATE TRIGGER t AFTER DELETE ON entries BEGIN DELETE FROM nests; END",
           "ALTER TABLE entries RENAME TO others; CREATE VIEW entries AS SELECT * FROM others",
           "ALTER TABLE nests ADD COLUMN more TEXT AS (hex(zeroblob(100000000)))",
           "CREATE INDEX mine ON nests(length(json))",
           "CREATE TABLE photos(id)",
           "DROP TABLE embeddings",
       }) {
    const nests::Folder folder;
    forge(folder / "t.db", sql);
    EXPECT_EQ(refusal(folder / "t.db"), "db.foreign") << sql;
  }
  const nests::Folder folder;
  forge(folder / "t.db", "");
  EXPECT_EQ(refusal(folder / "t.db"), "");
}

TEST(OneLine, ControlsOfEveryLengthAreSpaces) {
  EXPECT_EQ(as_one_line("a\x1b[2J\x7f\r\n"), "a [2J   ");
  for (const char* control : {"\u0080", "\u009b", "\u009f", "\u061c", "\u200e", "\u200f", "\u2028", "\u2029", "\u202a",
                              "\u202e", "\u2066", "\u2069"}) {
    EXPECT_FALSE(is_one_line("a" + std::string(control) + "b")) << control;
    EXPECT_EQ(as_one_line("a" + std::string(control) + control + "b"), "a  b") << control;
  }
  for (const char* text :
       {"\u00a0", "\u00e9", "\u061b", "\u200d", "\u2010", "\u2027", "\u202f", "\u2065", "\u206a", "\u20ac", "漢字"}) {
    EXPECT_TRUE(is_one_line(text)) << text;
    EXPECT_EQ(as_one_line(text), text);
  }
  EXPECT_EQ(as_one_line("\xe2\x80"), "\xe2\x80") << "cut off";
}

TEST(HostileDatabase, APipeIsNotWaitedFor) {
  const nests::Folder folder;
  ASSERT_EQ(::mkfifo((folder / "t.db").c_str(), 0600), 0);
  EXPECT_EQ(refusal(folder / "t.db"), "db.open");
}

TEST(HostileDatabase, RowsAreReadAsInput) {
  for (const char* sql : {
           "UPDATE entries SET baseline_seconds = 9e999, tuned_seconds = 9e999",
           "UPDATE entries SET tuned_seconds = -1",
           "UPDATE entries SET threads = 1 << 40",
           "UPDATE entries SET name = char(27) || '[2J'",
           "UPDATE entries SET name = printf('%.*c', 300, 'x')",
           "UPDATE nests SET json = printf('%.*c', 1000000, '[')",
           "UPDATE entries SET sizes = '{\"n0\": 1}, \"more\": {}'",
           "UPDATE entries SET recipe = x'00ff'",
           "UPDATE nests SET json = replace(json, '\"s0\"', '\"\\u001b[2J\"')",
           "UPDATE nests SET json = replace(json, '\"root\"', '\"\\u0007\"')",
       }) {
    const nests::Folder folder;
    forge(folder / "t.db", sql);
    auto store = Store::open({.path = folder / "t.db", .seeds = {}});
    ASSERT_TRUE(store) << sql;
    const auto rows = store->list();
    ASSERT_TRUE(rows) << sql;
    ASSERT_EQ(rows->size(), 1u) << sql;
    const double ratio = rows->front().ratio();
    EXPECT_TRUE(ratio >= -1e300 && ratio <= 1e300) << sql;
    const auto read = store->get(rows->front().id);
    ASSERT_FALSE(read) << sql;
    EXPECT_EQ(read.error().code, "db.entry") << sql;
    EXPECT_TRUE(is_one_line(read.error().to_string())) << sql;
  }
}

TEST(HostileDatabase, ABadEntryDoesNotHideTheOthers) {
  const nests::Folder folder;
  forge(folder / "t.db", "UPDATE entries SET name = char(7)");
  auto database = Database::open({.path = folder / "t.db", .seeds = {}}, nests::machine());
  ASSERT_TRUE(database);
  ASSERT_TRUE((*database)->store().add(entry(nests::gemm, 500, "reverse(loop=i1) -> cpp")));
  const auto found = (*database)->query({nests::asks(nests::gemm, 500)}, 3);
  ASSERT_TRUE(found) << found.error().to_string();
  ASSERT_EQ((*found)[0].size(), 1u);
  EXPECT_EQ((*found)[0][0].name, "test#1");
}

// Interior pages of a table (SQLite's file format, section 1.6): every cell of each leads to the same next page, so
// that a few kilobytes hold 400^6 rows.
TEST(HostileDatabase, ATreeOfPagesThatNeverEnds) {
  const nests::Folder folder;
  const auto path = folder / "t.db";
  forge(path, "PRAGMA journal_mode = DELETE");
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
  int root = 0;
  sqlite3_exec(
      db, "SELECT rootpage FROM sqlite_master WHERE name = 'entries'",
      [](void* to, int, char** values, char**) {
        *static_cast<int*>(to) = std::atoi(values[0]);
        return 0;
      },
      &root, nullptr);
  sqlite3_close(db);

  std::ifstream in(path, std::ios::binary);
  std::string file{std::istreambuf_iterator<char>(in), {}};
  in.close();
  ASSERT_GT(root, 1);
  ASSERT_EQ(file.size() % page_bytes, 0u);
  const auto put = [](char* at, std::size_t bytes, std::size_t value) {
    for (std::size_t k = 0; k < bytes; ++k) at[k] = static_cast<char>(value >> 8 * (bytes - 1 - k));
  };
  const auto interior = [&](std::size_t child) {
    constexpr std::size_t cells = 400;
    std::string page(page_bytes, '\0');
    page[0] = 5;
    put(&page[3], 2, cells);
    put(&page[5], 2, page_bytes - 6 * cells);
    put(&page[8], 4, child);
    for (std::size_t k = 0; k < cells; ++k) {
      const std::size_t at = page_bytes - 6 * (k + 1);
      put(&page[12 + 2 * k], 2, at);
      put(&page[at], 4, child);
      page[at + 4] = static_cast<char>(0x80 | (k >> 7));  // the key, a varint of two bytes
      page[at + 5] = static_cast<char>(k & 0x7f);
    }
    return page;
  };
  const std::string leaf = file.substr((static_cast<std::size_t>(root) - 1) * page_bytes, page_bytes);
  const std::size_t first = file.size() / page_bytes + 1;  // pages count from 1
  file.replace((static_cast<std::size_t>(root) - 1) * page_bytes, page_bytes, interior(first));
  constexpr std::size_t levels = 5;
  for (std::size_t level = 0; level < levels; ++level) file += interior(first + level + 1);
  file += leaf;
  put(&file[28], 4, file.size() / page_bytes);
  std::ofstream(path, std::ios::binary) << file;

  auto store = Store::open({.path = path, .seeds = {}});
  ASSERT_TRUE(store) << store.error().to_string();
  const auto rows = store->list();
  ASSERT_FALSE(rows);
  EXPECT_EQ(rows.error().code, "db.budget") << rows.error().to_string();
}

TEST(HostileDatabase, TextsOnATerminalHoldNoControlCharacters) {
  std::string line = to_json(entry(nests::gemm, 500));
  const std::string from = "test#1";
  line.replace(line.find(from), from.size(), "\\u001b[2J");
  EXPECT_EQ(entry_from_json(line).error().code, "entry.field");
  std::string machine = to_json(nests::machine());
  machine.replace(machine.find("Model"), 5, "\\r");
  EXPECT_EQ(hardware_from_json(machine).error().code, "hardware.field");
}

TEST(HostileDatabase, ClassesOfMachinesThatOverflow) {
  EXPECT_EQ(parse_hardware_class("x:avx2:1c:l2=1099511627776G:l3=1M")->l2_bytes, 0);
  EXPECT_EQ(parse_hardware_class("x:avx2:1c:l2=1024G:l3=1M")->l2_bytes, std::int64_t{1} << 40);
  EXPECT_FALSE(parse_hardware_class("x:avx2:99999999c:l2=1M:l3=1M"));
}

}  // namespace
}  // namespace sous::tuning_db
