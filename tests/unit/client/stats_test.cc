#include "client/stats.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sstream>

#include "client/process.h"
#include "client/report.h"
#include "client/say_once.h"

namespace sous::client {
namespace {

std::string line(const std::string& folder, const std::string& file, int served) {
  Report report;
  report.file = file;
  for (int k = 0; k < 2; ++k) {
    NestReport nest;
    nest.file = file;
    nest.function = "f";
    nest.line = 10 + k;
    nest.work = 1000 * (k + 1);
    nest.served = k < served;
    nest.expected_ratio = nest.served ? 4 : 0;
    nest.why = "too many dependences [isl.budget]";
    report.nests.push_back(nest);
  }
  report.reasons.push_back({"c.goto", "a goto", "g", 3, 1});
  const auto stem = file.substr(0, file.rfind('.'));
  return to_stats_line({.fate = served > 0 ? Fate::Served : Fate::Left,
                        .why = {},
                        .compiler = "cc",
                        .options = {"-O2", "-DX=a b"},
                        .file = file,
                        .object = stem + ".o",
                        .report = to_json(report),
                        .facts = stats_facts(report)},
                       folder, 0.5, 1.5);
}

TEST(Stats, OfEachObjectTheLastEntryBelowTheFolder) {
  const std::string log = line("/p", "a.c", 0) + line("/p/sub", "b.c", 0) + "{\"version\": 1, \"cut o\n" +
                          line("/p", "a.c", 1) + line("/other", "c.c", 2) + "no json\n";
  const auto project = latest_below(log, "/p");
  ASSERT_EQ(project.size(), 2u);
  EXPECT_EQ(project[0].file, "a.c");
  EXPECT_EQ(project[0].served, 1);
  EXPECT_EQ(latest_below(log, "/").size(), 3u);
  EXPECT_EQ(latest_below(log, "/pp").size(), 0u);
  EXPECT_EQ(
      summary_line(project),
      "2 C files, 4 nests lifted, 1 served (promised 4.00 times as fast), 2 loops not lifted; Sous took 1.00 s of "
      "processor time");
}

// A hit in the result cache tells the same of the file's nests as the compile that it spares.
TEST(Stats, AKeptResultSaysTheSameOfItsNests) {
  Report report;
  report.nests.resize(3);
  report.nests[1].served = true;
  report.nests[1].expected_ratio = 7;
  const LogEntry fresh{
      .fate = Fate::Served, .file = "a.c", .object = "a.o", .report = to_json(report), .facts = stats_facts(report)};
  const LogEntry kept{
      .fate = Fate::Served, .file = "a.c", .object = "a.o", .facts = stats_facts(report), .cached = true};
  const auto said = [](const LogEntry& entry) {
    return stats_text(latest_below(to_stats_line(entry, "/p", 1, 2), "/p"));
  };
  EXPECT_EQ(said(kept), said(fresh));
  EXPECT_NE(said(kept).find("3 lifted, 1 served"), std::string::npos);
}

TEST(Stats, TextNamesReasonsAndTheHottest) {
  const auto entries = latest_below(line("/p", "a.c", 0) + line("/p", "b.c", 1), "/p");
  EXPECT_EQ(stats_text(entries),
            "files      2, 2 looked into\n"
            "nests      4 lifted, 1 served; 2 loops not lifted\n"
            "promised   4.00 times as fast where served, geometric mean 4.00\n"
            "time       1.00 s of processor time in Sous, 3.00 s in the compilers that it ran\n"
            "top reasons\n"
            "       3  isl.budget\n"
            "       2  c.goto\n"
            "hottest that got nothing (executions, as far as sizes are known)\n"
            "   2e+03  a.c:11: f: isl.budget\n"
            "   2e+03  b.c:11: f: isl.budget\n"
            "   1e+03  a.c:10: f: isl.budget\n");
}

TEST(Stats, WhatGotNothingComesWithWhatCompilesItsFileOnce) {
  const auto entries = latest_below(line("/p", "a.c", 0) + line("/p", "b.c", 1) + line("/p", "full.c", 2), "/p");
  const auto nests = unserved(entries);
  ASSERT_EQ(nests.size(), 3u);
  EXPECT_EQ(nests[0].nest->line, 11);
  EXPECT_EQ(nests[2].nest->line, 10);
  EXPECT_EQ(nests[0].entry->compiler, "cc");
  EXPECT_EQ(nests[0].entry->options, (std::vector<std::string>{"-O2", "-DX=a b"}));
  EXPECT_TRUE(entries[2].options.empty()) << "nothing to tune, nothing to remember";

  // One header's nest in two objects.
  auto twice = entries;
  twice[1].nests = twice[0].nests;
  EXPECT_EQ(unserved(twice).size(), 2u);
}

TEST(Stats, TheLogIsBoundedAndLosesNoLineOfTheLastOnes) {
  const auto folder = TemporaryFolder::make();
  ASSERT_TRUE(folder);
  const std::string path = folder->file("deep/log");
  constexpr int processes = 4, lines = 1000, bytes = 4000;
  for (int k = 0; k < processes; ++k) {
    if (::fork() != 0) continue;
    for (int n = 0; n < lines; ++n) append_to_stats_log(path, std::string(bytes, static_cast<char>('a' + k)) + "\n");
    ::_exit(0);
  }
  for (int k = 0; k < processes; ++k) ::wait(nullptr);
  const std::string text = read_file(path + ".old").value_or("") + read_file(path).value_or("");
  EXPECT_LT(std::filesystem::file_size(path), longest_log + 2 * bytes * processes);
  std::istringstream in(text);
  int found = 0;
  for (std::string one; std::getline(in, one); ++found) ASSERT_EQ(one, std::string(bytes, one[0]));
  EXPECT_GE(found, longest_log / (bytes + 1));
}

TEST(SayOnce, TheFirstOfManySaysIt) {
  const auto folder = TemporaryFolder::make();
  ASSERT_TRUE(folder);
  const std::filesystem::path stamps = folder->file("said");
  EXPECT_TRUE(first_to_say("a", stamps));
  EXPECT_FALSE(first_to_say("a", stamps));
  EXPECT_TRUE(first_to_say("b", stamps));
  EXPECT_TRUE(first_to_say("a", "/proc/none"));  // no place for stamps: better twice than never
  EXPECT_TRUE(first_to_say("a", "/proc/none"));
  const auto old = std::filesystem::file_time_type::clock::now() - std::chrono::seconds(said_for_seconds + 5);
  for (const auto& stamp : std::filesystem::directory_iterator(stamps)) std::filesystem::last_write_time(stamp, old);
  EXPECT_TRUE(first_to_say("a", stamps));
  EXPECT_FALSE(first_to_say("a", stamps));
}

}  // namespace
}  // namespace sous::client
