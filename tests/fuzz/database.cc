// A database file opened as found: every function either answers or refuses, in bounded time and memory, and nothing
// but the file and what SQLite keeps beside it is touched.
#include "tuning-db/database.h"

#include <filesystem>
#include <fstream>
#include <set>

#include "sdfg/text.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/nests.h"
#include "transforms/normal_form.h"

using namespace sous;
namespace fs = std::filesystem;

namespace {

void use(tuning_db::Store store) {
  if (const auto all = store.list())
    for (const auto& summary : *all) {
      (void)store.get(summary.id);
      (void)store.with_hash(summary.structural_hash);
    }
  (void)store.stats();
  (void)store.verify();
  (void)store.export_lines();
  (void)store.generation();
  const auto nest = sdfg::parse(fuzz::product);
  const std::string hash = transforms::structural_hash(*nest);
  auto database = tuning_db::Database::over(std::move(store), tuning_db::Hardware{});
  (void)database->query({{*nest, hash, {}}, {*nest, hash, {{"n0", 100}, {"n1", 100}, {"n2", 100}}}}, 3);
  (void)database->store().rebuild_embeddings();
  (void)database->query({{*nest, hash, {}}}, 3);
  (void)database->store().remove("0000");
}

}  // namespace

SOUS_FUZZ_TARGET(input) {
  const fs::path folder = fs::path(fuzz::scratch_folder()) / "database";
  fs::remove_all(folder);
  fs::create_directories(folder);
  const fs::path path = folder / "tuning.db";
  std::ofstream(path, std::ios::binary) << input;
  if (auto store = tuning_db::Store::open({.path = path, .seeds = {}})) use(std::move(*store));
  const std::set<std::string> may_be_there = {"tuning.db", "tuning.db-wal", "tuning.db-shm", "tuning.db-journal"};
  for (const auto& entry : fs::directory_iterator(folder)) SOUS_ASSERT(may_be_there.contains(entry.path().filename()));
}
