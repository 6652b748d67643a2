#include "server/limited_process.h"

#include <gtest/gtest.h>

#include <fstream>

#include "server/confinement.h"
#include "tests/unit/tuning_db/nests.h"

namespace sous::server {
namespace {

using namespace std::chrono_literals;

class LimitedProcess : public ::testing::Test {
 protected:
  tuning_db::nests::Folder own, other;
  ProcessLimits limits{.processor = 2s, .time = 5s, .output = 1 << 16};

  void SetUp() override {
    if (const auto kernel = Confinement::of("/bin/sh", own / ""); !kernel) GTEST_SKIP() << kernel.error().to_string();
    std::ofstream(own / "own") << "mine\n";
    std::ofstream(other / "other") << "theirs\n";
  }
  Result<Ended> shell(const std::string& script) { return run_limited("/bin/sh", {"-c", script}, own / "", limits); }
  static std::string code(const Result<Ended>& result) { return result ? "" : result.error().code; }
};

TEST_F(LimitedProcess, ReadsItsFolderAndNoOther) {
  const auto said = shell("read a < own; echo $a; read b < " + (other / "other").string() + "; echo $b");
  ASSERT_TRUE(said) << said.error().to_string();
  EXPECT_EQ(said->output, "mine\n\n");
  EXPECT_NE(said->errors.find("ermission denied"), std::string::npos) << said->errors;
  EXPECT_EQ(shell("read a < /etc/passwd")->status, 2);
  EXPECT_EQ(shell("exit 7")->status, 7);
}

TEST_F(LimitedProcess, ChangesNothing) {
  for (const char* script : {"echo x > own", "echo x >> own", "echo x > new", "echo x > /tmp/sous-new"})
    EXPECT_EQ(shell(script)->status, 2) << script;
  std::string line;
  std::getline(std::ifstream(own / "own") >> std::ws, line);
  EXPECT_EQ(line, "mine");
}

TEST_F(LimitedProcess, StartsNoOtherProgram) {
  EXPECT_EQ(shell("exec /usr/bin/env")->status, 126);
  EXPECT_NE(shell("(exit 0)")->status, 0);
}

TEST_F(LimitedProcess, KnowsNothingOfTheServer) {
  ::setenv("SOUS_SECRET", "token", 1);
  EXPECT_EQ(shell("echo $SOUS_SECRET")->output, "\n");
  ::unsetenv("SOUS_SECRET");
}

TEST_F(LimitedProcess, HasNoNetworkAndReachesNoProcess) {
  limits.time = 20s;
  const auto said = run_limited("/usr/bin/python3", {"-c", R"(
import os, socket
for attempt in (lambda: socket.socket(), lambda: socket.socketpair(), lambda: os.kill(os.getppid(), 0),
                lambda: os.truncate('own', 0), lambda: os.chmod('own', 0o777), lambda: os.fork()):
    try: attempt(); print('done')
    except OSError: print('refused')
)"},
                                own / "", limits);
  ASSERT_TRUE(said) << said.error().to_string();
  EXPECT_EQ(said->output, "refused\nrefused\nrefused\nrefused\nrefused\nrefused\n") << said->errors;
}

TEST_F(LimitedProcess, IsKilledWhenItTakesTooMuch) {
  limits.time = 300ms;
  EXPECT_EQ(code(shell("read a < /dev/zero; while :; do :; done")), "process.time");
  EXPECT_EQ(code(shell("while :; do echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; done")), "process.output");
  limits = {.processor = 1s, .time = 60s};
  EXPECT_EQ(shell("while :; do :; done")->status, 128 + 9);
}

TEST_F(LimitedProcess, ThatIsNotThere) {
  EXPECT_EQ(run_limited("/nowhere/program", {}, own / "", limits)->status, 127);
}

}  // namespace
}  // namespace sous::server
