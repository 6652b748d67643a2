#include "client/guard.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "client/process.h"

namespace sous::client {
namespace {

// Runs `fail` under the guard of "echo compiled" in a process of its own; its output, and the log's text.
template <class F>
std::pair<std::string, std::string> guarded(F&& fail) {
  auto folder = TemporaryFolder::make();
  if (!folder) return {};
  const std::string output = folder->file("output"), log = folder->file("log");
  const pid_t child = ::fork();
  if (child == 0) {
    if (std::freopen(output.c_str(), "w", stdout) == nullptr) ::_exit(1);
    ::setenv("SOUS_REPORT", log.c_str(), 1);
    guard_with({"echo", "compiled"}, "a.c");
    fail();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  return {read_file(output).value_or(""), read_file(log).value_or("")};
}

// A depth that the compiler cannot take for a loop.
int overflow(int depth) {  // NOLINT(misc-no-recursion)
  volatile char room[4096];
  room[depth % 4096] = 1;
  return depth < 0 ? 0 : overflow(depth + 1) + room[0];
}

class Guard : public testing::Test {
  void SetUp() override {
    if (!guards()) GTEST_SKIP() << "sanitizers are to see the fault";
  }
};

TEST_F(Guard, TheCompilerRunsAfterAFault) {
  const auto [output, log] = guarded([] { ::raise(SIGSEGV); });
  EXPECT_EQ(output, "compiled\n");
  EXPECT_NE(log.find(R"("fate":"crash","file":"a.c")"), std::string::npos) << log;
}

TEST_F(Guard, TheCompilerRunsAfterAnAbort) {
  EXPECT_EQ(guarded([] { std::abort(); }).first, "compiled\n");
}

TEST_F(Guard, TheCompilerRunsAfterAStackOverflow) {
  EXPECT_EQ(guarded([] { std::printf("%d", overflow(0)); }).first, "compiled\n");
}

TEST_F(Guard, TheCompilerRunsAfterItsTime) {
  EXPECT_EQ(guarded([] { ::raise(SIGPROF); }).first, "compiled\n");
}

TEST_F(Guard, NothingOfItStaysWhereNothingFails) {
  EXPECT_EQ(guarded([] {}).first, "");
}

}  // namespace
}  // namespace sous::client
