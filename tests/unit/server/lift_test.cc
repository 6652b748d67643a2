#include "server/lift.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <future>

#include "server/confinement.h"
#include "server/limited_process.h"
#include "tests/unit/server/raw_client.h"
#include "tests/unit/tuning_db/nests.h"

namespace sous::server {
namespace {

namespace nests = tuning_db::nests;

// With a program in the place of sous-core that does what the text says.
class LiftTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const auto kernel = Confinement::of("/bin/sh", "/"); !kernel) GTEST_SKIP() << kernel.error().to_string();
  }
  static Result<LiftedSource> lift(const std::string& says, const std::string& errors = "", int status = 0) {
    return Lifter(SOUS_FAKE_CORE).lift(std::to_string(status) + "\n" + says + "\n---\n" + errors);
  }
  static std::string code(const Result<LiftedSource>& result) { return result ? "" : result.error().code; }
  static std::string answer(const std::string& units) {
    const QueryRequest request{.hardware = nests::machine(), .k = 3, .nests = {nests::asks(nests::gemm, 500)}};
    std::string text = to_json(request), quoted;
    for (const char c : text) quoted += c == '"' ? "\\\"" : std::string(1, c);
    return R"({"nests":[{"function":"f","line":3,"units":[)" + units +
           R"(]}],"reasons":[{"code":"c.goto","why":"goto","function":"g","line":9}],"request":")" + quoted + "\"}";
  }
};

TEST_F(LiftTest, WhatIsLifted) {
  const auto lifted = lift(answer(R"("the nest")"));
  ASSERT_TRUE(lifted) << lifted.error().to_string();
  ASSERT_EQ(lifted->nests.size(), 1u);
  EXPECT_EQ(lifted->nests[0].function, "f");
  EXPECT_EQ(lifted->nests[0].units, std::vector<std::string>{"the nest"});
  ASSERT_EQ(lifted->request.nests.size(), 1u);
  EXPECT_EQ(lifted->request.nests[0].nest, nests::parsed(nests::gemm));
  EXPECT_EQ(lifted->reasons.at(0).code, "c.goto");
}

// A text may have taken the program over.
TEST_F(LiftTest, WhatIsSaidIsReadAsStrictlyAsWhatStrangersSay) {
  EXPECT_EQ(code(lift(answer(""))), "lift.failed") << "a nest without a name";
  EXPECT_EQ(code(lift(answer(R"("a","b")"))), "lift.failed");
  EXPECT_EQ(code(lift(answer("7"))), "lift.failed");
  for (const char* other : {"", "{", "[]", "{}", R"({"nests":[],"reasons":[],"request":"{}"})"})
    EXPECT_EQ(code(lift(other)), "lift.failed") << other;
}

// Where the system takes something from the process by which it would confine itself.
TEST_F(LiftTest, AProgramThatWasNotBegunIsNoFaultOfTheText) {
  for (const int status : {not_run, not_run + 1}) {
    const auto refused = lift("", "Operation not permitted", status);
    EXPECT_EQ(code(refused), "lift.failed");
    EXPECT_NE(refused.error().why.find("Operation not permitted"), std::string::npos);
  }
}

// The unit that is installed lets through what a child does of itself.
TEST(Service, TheUnitAllowsWhatConfines) {
  std::ifstream file(SOUS_SOURCE_DIR "/server/sous-serve.service");
  std::string allowed;
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("SystemCallFilter=") && !line.starts_with("SystemCallFilter=~"))
      allowed += line.substr(17) + " ";
  for (const char* call : {"landlock_create_ruleset ", "landlock_add_rule ", "landlock_restrict_self ", "setpriority "})
    EXPECT_NE(allowed.find(call), std::string::npos) << call;
}

TEST_F(LiftTest, WhatTheCompilerSaysIsOneLine) {
  const auto refused = lift("", "a note\nsous: pasted.c:3:1: expected \x1b[31m';' [c.parse]", 1);
  EXPECT_EQ(code(refused), "lift.source");
  EXPECT_EQ(refused.error().why, "pasted.c:3:1: expected  [31m';' [c.parse]");
  EXPECT_EQ(code(lift("", "", 99)), "lift.limit");
}

TEST_F(LiftTest, IsOffWithoutAProgram) {
  EXPECT_EQ(code(Lifter({}).lift("")), "lift.off");
  EXPECT_EQ(code(Lifter("/nowhere/sous-core").lift("")), "lift.off");
}

TEST_F(LiftTest, TakesNoLongerThanItMayAndLeavesNothing) {
  const nests::Folder folder;
  ::setenv("TMPDIR", (folder / "").c_str(), 1);
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_EQ(code(Lifter(SOUS_FAKE_CORE, {.time = 200ms}).lift("wait")), "lift.limit");
  EXPECT_GE(std::chrono::steady_clock::now() - begun, 200ms);
  ::unsetenv("TMPDIR");
  EXPECT_TRUE(std::filesystem::is_empty(folder / ""));
}

TEST(LiftLane, OneIsLookedAtAndAFewWait) {
  std::promise<void> open;
  std::atomic<int> begun = 0;
  Service service{.handle = [&, go = open.get_future().share()](const Request& request) -> Response {
                    if (request.method == "POST") ++begun, go.wait();
                    return {.body = "done"};
                  },
                  .lane = [](const Request& r) { return r.method == "POST" ? Lane::lift : Lane::ask; }};
  const Served served(service, {.lift_queue = 1, .workers = 1});
  Client first = served.client(), second = served.client();
  first.say(post("1"));
  while (begun == 0) std::this_thread::sleep_for(1ms);
  second.say(post("2"));
  // Who asks does not wait for it.
  EXPECT_EQ(body_of(served.ask(get("/x"))), "done");
  EXPECT_EQ(status(served.ask(post("3"))), 503);
  EXPECT_EQ(begun, 1);
  open.set_value();
  EXPECT_EQ(body_of(first.answer()), "done");
  EXPECT_EQ(body_of(second.answer()), "done");
}

}  // namespace
}  // namespace sous::server
