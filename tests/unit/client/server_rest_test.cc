#include "client/server_rest.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <thread>

#include "client/guard.h"
#include "tests/unit/tuning_db/nests.h"

namespace sous::client {
namespace {

namespace fs = std::filesystem;
namespace nests = tuning_db::nests;

// Answers as it is told, and counts.
struct Server final : transforms::RecipeSource {
  std::string code;
  int asked = 0;
  std::chrono::milliseconds takes{0};
  Result<std::vector<std::vector<transforms::Match>>> query(const std::vector<transforms::NestQuery>& nests,
                                                            int) override {
    ++asked;
    std::this_thread::sleep_for(takes);
    if (!code.empty()) return fail(code, "as told");
    return std::vector<std::vector<transforms::Match>>(nests.size());
  }
};

class ServerRestTest : public ::testing::Test {
 protected:
  nests::Folder folder;
  std::shared_ptr<Server> server = std::make_shared<Server>();

  // As a compiler of its own would ask.
  std::string ask() {
    const auto source = resting(server, ServerRest(folder.path(), "http://x 2"), "http://x", time());
    const auto answer = source->query({nests::asks(nests::gemm, 500)}, 3);
    return answer ? "" : answer.error().code;
  }
  static std::shared_ptr<ServerTime> time(std::chrono::milliseconds deadline = std::chrono::seconds(60)) {
    return std::make_shared<ServerTime>(deadline);
  }
  void seconds_pass(int seconds) {
    for (const auto& stamp : fs::directory_iterator(folder.path()))
      fs::last_write_time(stamp, fs::last_write_time(stamp) - std::chrono::seconds(seconds));
  }
};

TEST_F(ServerRestTest, OfAWholeBuildOneFileWaits) {
  server->code = "http.timeout";
  EXPECT_EQ(ask(), "http.timeout");
  for (int file = 0; file < 30; ++file) EXPECT_EQ(ask(), "http.resting");
  EXPECT_EQ(server->asked, 1);
  ServerRest other(folder.path(), "http://y 2");
  EXPECT_TRUE(other.may_ask());
}

TEST_F(ServerRestTest, TheRestDoublesUntilItAnswers) {
  server->code = "http.connect";
  EXPECT_EQ(ask(), "http.connect");
  seconds_pass(ServerRest::first_seconds);
  EXPECT_EQ(ask(), "http.connect");
  seconds_pass(ServerRest::first_seconds);
  EXPECT_EQ(ask(), "http.resting");
  seconds_pass(ServerRest::first_seconds);
  server->code.clear();
  EXPECT_EQ(ask(), "");
  EXPECT_TRUE(fs::is_empty(folder.path()));
  seconds_pass(ServerRest::first_seconds);
  EXPECT_EQ(ask(), "");
  EXPECT_EQ(server->asked, 4);
}

TEST_F(ServerRestTest, OneTriesWhileTheOthersRest) {
  server->code = "http.timeout";
  EXPECT_EQ(ask(), "http.timeout");
  seconds_pass(ServerRest::first_seconds);
  ServerRest first(folder.path(), "http://x 2"), second(folder.path(), "http://x 2");
  EXPECT_TRUE(first.may_ask());
  EXPECT_FALSE(second.may_ask());
}

TEST_F(ServerRestTest, WhoAnswersThoughBadlyIsAskedAgain) {
  for (const char* code : {"http.status", "http.malformed", "reply.field", "http.request"}) {
    server->code = code;
    EXPECT_EQ(ask(), code);
    EXPECT_EQ(ask(), code);
  }
}

TEST_F(ServerRestTest, WhoTakesTheBuildsTimeIsLeftAlone) {
  const auto asked_within = [&](std::chrono::milliseconds deadline, std::chrono::milliseconds trying) {
    const auto taken = time(deadline);
    const auto source = resting(server, ServerRest(folder.path(), "http://x 2"), "http://x", taken);
    const auto answer = source->query({nests::asks(nests::gemm, 500)}, 3);
    const transforms::Patience::Counting counting(taken->patience);
    std::this_thread::sleep_for(trying);
    return answer ? "" : answer.error().code;
  };
  using std::chrono::milliseconds;
  EXPECT_EQ(asked_within(milliseconds(20), milliseconds(50)), "") << "what it said is used";
  EXPECT_EQ(ask(), "http.resting") << "trying it took more than twice the deadline";
  seconds_pass(ServerRest::first_seconds);
  server->takes = milliseconds(60);
  EXPECT_EQ(asked_within(milliseconds(100), milliseconds(0)), "");
  EXPECT_EQ(ask(), "http.resting") << "the answer took more than half of it";
  seconds_pass(ServerRest::first_seconds);
  EXPECT_EQ(ask(), "http.resting") << "for longer this time";
  seconds_pass(ServerRest::first_seconds);
  EXPECT_EQ(ask(), "");
  EXPECT_EQ(ask(), "");
}

TEST_F(ServerRestTest, WhoTakesLongToSayNothingIsLeftAlone) {
  const auto ask_taking = [&](std::chrono::milliseconds asking, std::size_t matches) {
    ServerRest rest(folder.path(), "http://x 2");
    if (!rest.may_ask()) return false;
    matches > 0 ? rest.said_something() : rest.said_nothing(asking, std::chrono::seconds(2));
    return true;
  };
  using std::chrono::milliseconds;
  for (int file = 0; file < 100; ++file) EXPECT_TRUE(ask_taking(milliseconds(200), 0)) << "a tenth of the deadline";
  for (int file = 0; file < 10; ++file) {
    EXPECT_TRUE(ask_taking(milliseconds(900), 0));
    EXPECT_TRUE(ask_taking(milliseconds(900), 0));
    EXPECT_TRUE(ask_taking(milliseconds(900), 1)) << "it has something to say";
  }
  for (int file = 0; file < 3; ++file) EXPECT_TRUE(ask_taking(milliseconds(900), 0));
  EXPECT_FALSE(ask_taking(milliseconds(900), 0)) << "2.1 s for nothing";
  seconds_pass(ServerRest::first_seconds);
  for (int file = 0; file < 2; ++file) EXPECT_TRUE(ask_taking(milliseconds(900), 0));
  seconds_pass(ServerRest::longest_seconds);
  for (int file = 0; file < 2; ++file) EXPECT_TRUE(ask_taking(milliseconds(900), 0)) << "long ago";
}

// The compiler takes the process over, and nothing of it runs any more.
TEST_F(ServerRestTest, WhoDiesOfTheAnswerLeavesItAlone) {
  if (!guards()) GTEST_SKIP() << "this build has no guard";
  struct Deadly final : transforms::RecipeSource {
    Result<std::vector<std::vector<transforms::Match>>> query(const std::vector<transforms::NestQuery>&, int) override {
      ::raise(SIGSEGV);
      return fail("http.io", "not reached");
    }
  };
  const pid_t child = ::fork();
  if (child == 0) {
    ::unsetenv("SOUS_GUARD");
    guard_with({"/bin/true"}, "file.c");
    const auto source =
        resting(std::make_shared<Deadly>(), ServerRest(folder.path(), "http://x 2"), "http://x", time());
    static_cast<void>(source->query({nests::asks(nests::gemm, 500)}, 3));
    ::_exit(1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(ask(), "http.resting");
  EXPECT_EQ(server->asked, 0);
}

TEST_F(ServerRestTest, StampsThatMakeNoSenseDoNoHarm) {
  server->code = "http.timeout";
  EXPECT_EQ(ask(), "http.timeout");
  for (const auto& stamp : fs::directory_iterator(folder.path())) std::ofstream(stamp.path()) << "-99999999999 x";
  EXPECT_EQ(ask(), "http.resting");
  seconds_pass(ServerRest::longest_seconds);
  EXPECT_EQ(ask(), "http.timeout");
  seconds_pass(-3600);  // the clock was set back
  EXPECT_EQ(ask(), "http.timeout");
  // Nowhere to write it down.
  const auto source = resting(server, ServerRest({}, "x"), "x", time());
  EXPECT_EQ(source->query({nests::asks(nests::gemm, 5)}, 3).error().code, "http.timeout");
  EXPECT_EQ(source->query({nests::asks(nests::gemm, 5)}, 3).error().code, "http.timeout");
}

}  // namespace
}  // namespace sous::client
