#include "client/setup.h"

#include <gtest/gtest.h>

#include "client/measure.h"
#include "client/process.h"
#include "tests/unit/tuning_db/nests.h"

namespace sous::client {
namespace {

using std::string;
using tuning_db::Entry;
namespace nests = tuning_db::nests;

// A database with three entries of another machine, and a measurement that answers at once.
class SetupTest : public ::testing::Test {
 protected:
  nests::Folder folder_;
  tuning_db::Store store_ = tuning_db::Store::open({.path = folder_ / "t.db", .seeds = {}}).value();
  tuning_db::Hardware here_ = nests::machine(2);
  SetupPlan plan_;
  std::atomic<bool> stop_ = false;
  std::vector<string> measured_;
  double clock_ = 0;

  SetupTest() {
    here_.l3_bytes = 300 << 20;
    add("small", 3, 0.1);
    add("large", 30, 5, "reverse(loop=i1) -> cpp");
    add("close", 1.2, 0.1, "reverse(loop=i2) -> cpp");
    add("slower", 0.5, 0.1, "skew(loop=i1, by=i0) -> cpp");
  }
  void add(const string& name, double ratio, double seconds, const string& recipe = "reverse(loop=i0) -> cpp") {
    Entry e = nests::entry(nests::gemm, 500, recipe, ratio);
    e.name = name + "#0";
    e.baseline_seconds = seconds;
    e.tuned_seconds = seconds / ratio;
    ASSERT_TRUE(store_.add(e).value());
  }
  std::vector<SetupTask> tasks() { return setup_tasks(store_, here_, plan_).value(); }
  // Each takes ten seconds, and is twice as fast as the original; "close" cannot be measured.
  SetupRun run(double budget = 0, int stop_after = 99) {
    const auto measure = [&](const Entry& e) -> Result<std::vector<Entry>> {
      clock_ += 10;
      measured_.push_back(e.name);
      if (static_cast<int>(measured_.size()) > stop_after) stop_ = true;
      if (stop_) return fail("client.stopped", "stopped");
      if (e.name == "close#0") return fail("measure.build", "it does not compile");
      Entry own = e;
      own.hardware = here_;
      own.tuned_seconds = own.baseline_seconds / 2 * (1 + 0.001 * clock_);
      return std::vector{own};
    };
    const auto quiet = [](std::size_t, const SetupTask&, const Result<std::vector<Entry>>*) {};
    return run_setup(store_, tasks(), budget, stop_, measure, quiet, [&] { return clock_; }).value();
  }
};

TEST_F(SetupTest, WorthMostFirstAndNothingThatWasNoGain) {
  std::vector<string> names;
  for (const SetupTask& task : tasks()) names.push_back(task.entry.name);
  EXPECT_EQ(names, (std::vector<string>{"large#0", "small#0", "close#0"}));
}

TEST_F(SetupTest, ASecondCallGoesOnWhereTheFirstWasStopped) {
  EXPECT_EQ(run(0, 1).measured, 1);
  EXPECT_EQ(measured_, (std::vector<string>{"large#0", "small#0"}));  // the second was stopped
  stop_ = false;
  measured_.clear();
  const SetupRun second = run();
  EXPECT_EQ(second.measured, 1);
  EXPECT_EQ(second.failed, 1);
  EXPECT_EQ(measured_, (std::vector<string>{"small#0", "close#0"}));
  // What failed is tried again; what is known is not.
  ASSERT_EQ(tasks().size(), 1u);
  EXPECT_EQ(tasks()[0].entry.name, "close#0");
}

TEST_F(SetupTest, TheBudgetIsKept) {
  const SetupRun result = run(25);
  EXPECT_EQ(result.measured, 2);
  EXPECT_EQ(result.left, 1);  // more than is left is expected of it
  EXPECT_LE(clock_, 25);
}

TEST_F(SetupTest, AgainPutsTheNewMeasurementInThePlaceOfTheOld) {
  run();
  const auto before = store_.list()->size();
  EXPECT_TRUE(tasks().size() == 1);
  plan_.again = true;
  EXPECT_EQ(tasks().size(), 3u);
  run();
  EXPECT_EQ(store_.list()->size(), before);
}

TEST_F(SetupTest, OnlyWhatIsNamed) {
  plan_.only = "close,small#0,small#1";
  EXPECT_EQ(tasks().size(), 2u);
  plan_.only = "smal";
  EXPECT_TRUE(tasks().empty());
}

TEST_F(SetupTest, OneQuestionForEachClassOfBuild) {
  run();
  plan_.flags = {"-O2"};  // for SSE2, which nobody has measured
  EXPECT_EQ(tasks().size(), 3u);
  plan_.flags = {"gcc", "-O2", "-march=native"};
  EXPECT_EQ(tasks().size(), 1u);
}

TEST(Setup, OfAnEntryNoFlagIsTakenThatNamesAFile) {
  using Words = std::vector<string>;
  EXPECT_EQ(setup_flags("clang-19", "-O3 -march=native", {}), (Words{"clang-19", "-O3", "-march=native"}));
  EXPECT_EQ(setup_flags("gcc-12", "-O2 -ffast-math -mavx2", {}), (Words{"gcc-12", "-O2", "-ffast-math", "-mavx2"}));
  EXPECT_EQ(setup_flags("/tmp/evil", "-fplugin=/tmp/x.so -o /etc/y @z -wrapper a -B/tmp", {}),
            (Words{"clang-19", "-O3", "-march=native"}));
  EXPECT_EQ(setup_flags("rm", "-O2", {}), (Words{"clang-19", "-O2"}));
  SetupPlan given;
  given.flags = {"gcc", "-O2"};
  EXPECT_EQ(setup_flags("clang-19", "-O3 -march=native", given), (Words{"gcc", "-O2"}));
}

TEST(Setup, TheProgramOfAnEntry) {
  const SetupProgram gemm = setup_program("gemm#2");
  EXPECT_EQ(name_of(gemm.file), "gemm.c");
  EXPECT_EQ(gemm.function, "kernel_gemm");
  const SetupProgram jacobi = setup_program("jacobi-2d-float#0");
  EXPECT_EQ(name_of(jacobi.file), "jacobi-2d.c");
  EXPECT_EQ(jacobi.function, "kernel_jacobi_2d");
  EXPECT_EQ(jacobi.flags.back(), "-DDATA_TYPE=float");
  EXPECT_EQ(jacobi.flags.front(), "-DLARGE");
  EXPECT_EQ(setup_program("gemm-small#0").flags, (std::vector<std::string>{"-DSMALL"}));
  EXPECT_EQ(name_of(setup_program("fdtd-2d-float-medium#0").file), "fdtd-2d.c");
  EXPECT_EQ(setup_program("fdtd-2d-float-medium#0").flags, (std::vector<std::string>{"-DMEDIUM", "-DDATA_TYPE=float"}));
  EXPECT_EQ(setup_program("of-my-own#0").file, "");
  EXPECT_EQ(setup_program("../polybench/gemm#0").file, "");
}

TEST(Setup, FewRunsWhereTheyLeaveNoDoubt) {
  EXPECT_FALSE(decided({9}, {1}));
  EXPECT_TRUE(decided({9, 9.5}, {1, 1.1}));
  EXPECT_TRUE(decided({1, 1.1}, {9, 9.5}));
  EXPECT_FALSE(decided({3, 3}, {2, 2}));
  EXPECT_TRUE(decided({3, 3, 3}, {2, 2, 2}));
  EXPECT_FALSE(decided({4, 12.4}, {1.8, 1.9}));  // twice apart, and of no use: the baseline spreads by half
  EXPECT_FALSE(decided({3, 3, 2.2}, {2, 2, 2}));
}

}  // namespace
}  // namespace sous::client
