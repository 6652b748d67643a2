#include "benchmarks/harness.h"

#include <gtest/gtest.h>

#include <csignal>
#include <memory>

#include "benchmarks/interrupt.h"
#include "benchmarks/launcher_report.h"
#include "benchmarks/session.h"
#include "benchmarks/table.h"
#include "client/process.h"

namespace sous::benchmarks {
namespace {

// A program that says 0.5 seconds and writes VALUE, in a folder of its own.
class OneProgram : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::make_unique<client::TemporaryFolder>(*client::TemporaryFolder::make());
    ASSERT_TRUE(client::write_file(folder_->file("p.c"), R"(
#include <stdio.h>
#include <unistd.h>
#ifndef SLEEP
#define SLEEP 0
#endif
int main(int argc, char** argv) {
  double x = VALUE;
  sleep(SLEEP);
  if (argc > 1) { FILE* f = fopen(argv[1], "wb"); fwrite(&x, 8, 1, f); fclose(f); }
  fprintf(stderr, "library: lib 1.2\n");
  printf("seconds: 0.5\n");
  return 0;
})")
                    .has_value());
    auto suite = parse_suite(R"({"version": 1, "name": "s", "sizes": {"S": []},
      "types": {"double": {"element": "f64", "flags": []}}, "time": {"stream": "stdout", "prefix": "seconds: "},
      "dump": ["{file}"], "programs": [{"name": "p", "sources": ["p.c"], "types": ["double"]}]})",
                             folder_->path());
    ASSERT_TRUE(suite.has_value()) << suite.error().to_string();
    suite_ = std::move(*suite);
    plan_.reference = false;
    plan_.runs = 3;
    test_ = {suite_.programs[0], "S", "double"};
  }
  CaseResult measured() {
    Progress progress(1);
    auto result = measure(suite_, test_, plan_, folder_->path(), progress);
    EXPECT_TRUE(result.has_value()) << result.error().to_string();
    return std::move(*result);
  }
  std::vector<Line> lines(const std::string& session) {
    SessionFacts facts{session, std::vector<std::string>(plan_.compilers.size(), "cc 1")};
    return lines_of(suite_, plan_, measured(), tuning_db::describe(), facts);
  }

  std::unique_ptr<client::TemporaryFolder> folder_;
  Suite suite_;
  Plan plan_;
  Case test_;
};

TEST_F(OneProgram, IsMeasuredInTurnsAndChecked) {
  plan_.compilers = {{"one", {"gcc"}, {"-DVALUE=2.0"}}, {"two", {"gcc"}, {"-DVALUE=3.0"}}, {"three", {"gcc"}, {"-DX"}}};
  const CaseResult result = measured();
  EXPECT_EQ(result.measurements[0].seconds, (std::vector<double>{0.5, 0.5, 0.5}));
  EXPECT_EQ(result.measurements[0].library, "lib 1.2");
  EXPECT_TRUE(is_right(result.measurements[0], test_.program, Element::f64));
  EXPECT_NEAR(result.measurements[1].check.difference, 1.0 / 3, 1e-12);
  Program magnifies = test_.program;
  magnifies.tolerance = 0.4;
  EXPECT_TRUE(is_right(result.measurements[1], magnifies, Element::f64));
  EXPECT_FALSE(is_right(result.measurements[1], test_.program, Element::f64));
  ASSERT_TRUE(result.measurements[2].error.has_value());
  EXPECT_EQ(result.measurements[2].error->code, "bench.build");
}

TEST_F(OneProgram, IsHeldAgainstAnUnoptimizedBuild) {
  plan_.reference = true;
  plan_.reference_flags = {"-O0", "-DVALUE=2.0"};
  plan_.compilers = {{"one", {"gcc"}, {"-DVALUE=2.0"}}, {"two", {"gcc"}, {"-DVALUE=2.5"}}};
  const CaseResult result = measured();
  EXPECT_TRUE(result.measurements[0].check.bit_equal);
  EXPECT_FALSE(is_right(result.measurements[1], test_.program, Element::f64));
}

TEST_F(OneProgram, MayDifferAsMuchAsPlainClang) {
  plan_.reference = true;
  plan_.reference_flags = {"-O0", "-DVALUE=2.0"};
  plan_.compilers = {
      {"clang", {"gcc"}, {"-DVALUE=2.5"}}, {"same", {"gcc"}, {"-DVALUE=2.5"}}, {"more", {"gcc"}, {"-DVALUE=2.6"}}};
  const CaseResult result = measured();
  const double own = own_difference(result);
  EXPECT_NEAR(own, 0.2, 1e-12);
  EXPECT_TRUE(is_right(result.measurements[1], test_.program, Element::f64, own));
  EXPECT_FALSE(is_right(result.measurements[1], test_.program, Element::i64, own)) << "integers must be equal";
  EXPECT_FALSE(is_right(result.measurements[2], test_.program, Element::f64, own));
}

TEST_F(OneProgram, ThatIsMuchSlowerIsStopped) {
  plan_.compilers = {{"one", {"gcc"}, {"-DVALUE=2.0"}}, {"slow", {"gcc"}, {"-DVALUE=2.0", "-DSLEEP=60"}}};
  const CaseResult result = measured();
  ASSERT_TRUE(result.measurements[1].error.has_value());
  EXPECT_EQ(result.measurements[1].error->code, "client.limit");
  EXPECT_GE(result.measurements[1].limit_seconds, 10);
  EXPECT_EQ(result.measurements[0].seconds.size(), 3U);
}

TEST_F(OneProgram, AStoppedSessionKeepsWhatIsThere) {
  plan_.compilers = {{"one", {"gcc"}, {"-DVALUE=2.0"}}};
  const InterruptGuard guard;
  Progress progress(1);
  auto prepared = prepare(suite_, test_, plan_, folder_->path(), progress);
  ASSERT_TRUE(prepared.has_value()) << prepared.error().to_string();
  prepared->result.measurements[0].seconds = {0.25};
  std::raise(SIGINT);
  const auto result = take_turns(suite_, std::move(*prepared), plan_, {3}, progress);
  EXPECT_EQ(result.measurements[0].seconds, (std::vector<double>{0.25}));
  EXPECT_FALSE(result.measurements[0].complete);
}

TEST_F(OneProgram, BuildsOfSeveralStepsHaveAScratchFolder) {
  Compiler compiler{"steps", {}};
  compiler.steps = {{"sh", "-c", "sed s/VALUE/2.0/ {name}.c > {scratch}/{name}.c"},
                    {"gcc", "{flags}", "{scratch}/p.c", "-o", "{output}", "{link}"}};
  plan_.compilers = {{"one", {"gcc"}, {"-DVALUE=2.0"}}, compiler};
  EXPECT_TRUE(measured().measurements[1].check.bit_equal);
}

TEST_F(OneProgram, IsDoneWhenAllOfItWasMeasuredInOneSession) {
  plan_.compilers = {{"one", {"gcc"}, {"-DVALUE=2.0"}}, {"two", {"gcc"}, {"-DVALUE=2.0", "-O1"}}};
  const auto lines = this->lines("monday");
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_TRUE(is_done(suite_, plan_, test_, lines));
  EXPECT_FALSE(is_done(suite_, plan_, test_, {lines[0]})) << "a compiler is missing";
  const auto with = [&](auto edit) {
    auto edited = lines;
    edit(edited[1]);
    return is_done(suite_, plan_, test_, edited);
  };
  EXPECT_FALSE(with([](Line& l) { l.session = "tuesday"; }));
  EXPECT_FALSE(with([](Line& l) { l.complete = false; }));
  EXPECT_FALSE(with([](Line& l) { l.commands = "[]"; }));
  EXPECT_FALSE(with([](Line& l) { l.threads = 7; }));
  EXPECT_FALSE(with([](Line& l) { l.wanted_runs = 9; }));
  EXPECT_FALSE(with([](Line& l) { l.error = Error{"bench.run", "", ""}; })) << "what failed is tried again";
  EXPECT_TRUE(with([](Line& l) {
    l.error = Error{"client.limit", "", ""};
    l.limit_seconds = 9;
  }));
  auto other = tuning_db::describe();
  EXPECT_TRUE(check_machine(lines, other).has_value());
  other.model += " of another make";
  EXPECT_EQ(check_machine(lines, other).error().code, "bench.resume");
}

TEST(Harness, ReadsTheLaunchersReport) {
  const auto report = parse_report(R"json({"file": "a.c", "nests": [
    {"function": "kernel_a", "line": 7, "served": true, "why": "", "target": "openmp", "threads": 2, "later": 1,
     "units": [{"candidates": [{"used": false, "name": "x"}, {"used": true, "name": "gemm#1", "distance": 0.25,
                                "recipe": "tile(loops=[i0])"}], "steps": ["tile(…): applied", "x: refused"]}]},
    {"function": "init", "served": false, "why": "no evidence"}],
    "reasons": [{"code": "c.goto", "why": "a goto", "function": "f"}], "phases": {"lift": 0.01}})json");
  ASSERT_TRUE(report.has_value()) << report.error().to_string();
  EXPECT_EQ(report->served(), 1);
  EXPECT_EQ(report->nests[0].threads, 2);
  ASSERT_EQ(report->nests[0].used.size(), 1U);
  EXPECT_EQ(report->nests[0].used[0].name, "gemm#1");
  EXPECT_EQ(report->nests[0].applied_steps, 1);
  EXPECT_EQ(report->reasons, (std::vector<std::string>{"f: a goto [c.goto]"}));
  EXPECT_EQ(report->phases[0].first, "lift");
  EXPECT_EQ(parse_report("{}").error().code, "bench.report");
  EXPECT_EQ(parse_report("nests").error().code, "bench.report.json");
}

TEST(Harness, ATableHasColumnsOfEqualWidth) {
  Table table({"name", "s"});
  table.add({"a", "1.25"});
  table.add({"±ü", "10"});
  EXPECT_EQ(table.to_string(),
            "name     s\n"
            "----  ----\n"
            "a     1.25\n"
            "±ü      10\n");
}

}  // namespace
}  // namespace sous::benchmarks
