#include "client/build_log.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>

#include "client/process.h"
#include "client/report.h"

namespace sous::client {
namespace {

TEST(BuildLog, ALineIsOneJsonObject) {
  Report report;
  report.file = "a.c";
  report.functions_with_loops = 3;
  report.reasons.push_back({"c.goto", "a \"goto\"\nor a label", "f", 3, 1});
  const std::string line = to_line({.fate = Fate::Left,
                                    .why = "nothing is served",
                                    .compiler = "cc",
                                    .file = "a.c",
                                    .object = "a.o",
                                    .report = to_json(report)},
                                   "/tmp", 0.5, 0);
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  const auto json = nlohmann::json::parse(line);
  EXPECT_EQ(json["fate"], "left");
  EXPECT_EQ(json["report"]["functions_with_loops"], 3);
  EXPECT_EQ(json["report"]["reasons"][0]["why"], "a \"goto\"\nor a label");
}

TEST(BuildLog, LinesOfProcessesThatRunAtOnceDoNotMix) {
  const auto folder = TemporaryFolder::make();
  ASSERT_TRUE(folder);
  const std::string path = folder->file("log");
  ::setenv("SOUS_REPORT", path.c_str(), 1);
  constexpr int processes = 4, lines = 200;
  for (int k = 0; k < processes; ++k) {
    if (::fork() != 0) continue;
    for (int n = 0; n < lines; ++n) append_to_build_log({.why = std::string(3000, static_cast<char>('a' + k))});
    ::_exit(0);
  }
  for (int k = 0; k < processes; ++k) ::wait(nullptr);
  ::unsetenv("SOUS_REPORT");
  std::istringstream text(read_file(path).value_or(""));
  int found = 0;
  for (std::string line; std::getline(text, line); ++found) EXPECT_TRUE(nlohmann::json::accept(line));
  EXPECT_EQ(found, processes * lines);
}

TEST(BuildLog, APipeIsNotWaitedFor) {
  const auto folder = TemporaryFolder::make();
  ASSERT_TRUE(folder);
  const std::string path = folder->file("pipe");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  ::setenv("SOUS_REPORT", path.c_str(), 1);
  append_to_build_log({.why = "nobody reads"});
  const int reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  ASSERT_GE(reader, 0);
  for (int n = 0; n < 30; ++n) append_to_build_log({.why = std::string(3000, 'x')});  // more than a pipe holds
  ::unsetenv("SOUS_REPORT");
  ::close(reader);
}

}  // namespace
}  // namespace sous::client
