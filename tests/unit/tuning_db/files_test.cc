#include "tuning-db/files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/unit/tuning_db/nests.h"

namespace sous::tuning_db {
namespace {

TEST(Files, OnlyWhatIsAFileIsRead) {
  const nests::Folder folder;
  ASSERT_TRUE(write_file_atomically(folder / "file", "text"));
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(read_file(folder / "file", 4).value(), "text");
  EXPECT_EQ(read_file(folder / "file", 3).error().code, "file.read");
  // Nobody writes into the pipe: who waited for it would wait for ever.
  for (const auto& none : {folder / "pipe", folder.path(), folder / "none", std::filesystem::path()})
    EXPECT_EQ(read_file(none, 4).error().code, "file.read") << none;
}

}  // namespace
}  // namespace sous::tuning_db
