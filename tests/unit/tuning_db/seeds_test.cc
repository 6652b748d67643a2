// The entries that Sous brings along.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "transforms/normal_form.h"
#include "tuning-db/entry.h"

namespace sous::tuning_db {
namespace {

// Otherwise no build finds it, whose nests are in normal form, and no server takes it.
TEST(Seeds, EachIsTheNormalFormOfItself) {
  int entries = 0;
  for (const auto& file : std::filesystem::directory_iterator(SOUS_SOURCE_DIR "/tuning-db/seed")) {
    if (file.path().extension() != ".jsonl") continue;
    std::ifstream lines(file.path());
    for (std::string line; std::getline(lines, line); ++entries) {
      const auto entry = entry_from_json(line);
      ASSERT_TRUE(entry) << entry.error().to_string();
      const auto is_itself = [&](bool reassociate) {
        const auto form = transforms::normalize(entry->nest, {.reassociate = reassociate, .budget = {}});
        return form && std::ranges::any_of(form->units, [&](const auto& unit) { return unit.nest == entry->nest; });
      };
      EXPECT_TRUE(is_itself(false) || is_itself(true)) << entry->name;
    }
  }
  EXPECT_GT(entries, 100);
}

}  // namespace
}  // namespace sous::tuning_db
