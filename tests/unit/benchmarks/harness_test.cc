#include "benchmarks/harness.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include "benchmarks/launcher_report.h"
#include "benchmarks/table.h"
#include "client/process.h"

namespace sous::benchmarks {
namespace {

TEST(Harness, MeasuresAProgramOfASuiteInTurns) {
  const auto folder = client::TemporaryFolder::make();
  ASSERT_TRUE(folder.has_value());
  ASSERT_TRUE(client::write_file(folder->file("p.c"), R"(
#include <stdio.h>
int main(int argc, char** argv) {
  double x = VALUE;
  if (argc > 1) { FILE* f = fopen(argv[1], "wb"); fwrite(&x, 8, 1, f); fclose(f); }
  printf("seconds: 0.5\n");
  return 0;
})")
                  .has_value());
  const auto suite = parse_suite(R"({"version": 1, "name": "s", "sizes": {"S": []},
    "types": {"double": {"element": "f64", "flags": []}}, "time": {"stream": "stdout", "prefix": "seconds: "},
    "dump": ["{file}"], "programs": [{"name": "p", "sources": ["p.c"], "types": ["double"]}]})",
                                 folder->path());
  ASSERT_TRUE(suite.has_value()) << suite.error().to_string();
  Plan plan;
  plan.compilers = {{"one", {"gcc"}, {"-DVALUE=2.0"}}, {"two", {"gcc"}, {"-DVALUE=3.0"}}, {"three", {"gcc"}, {"-DX"}}};
  plan.reference = false;
  plan.runs = 3;
  Progress progress(1);
  const auto result = measure(*suite, {suite->programs[0], "S", "double"}, plan, folder->path(), progress);
  ASSERT_TRUE(result.has_value()) << result.error().to_string();
  EXPECT_EQ(result->measurements[0].seconds, (std::vector<double>{0.5, 0.5, 0.5}));
  EXPECT_TRUE(is_right(result->measurements[0], Element::f64));
  EXPECT_NEAR(result->measurements[1].check.difference, 1.0 / 3, 1e-12);
  EXPECT_FALSE(is_right(result->measurements[1], Element::f64));
  ASSERT_TRUE(result->measurements[2].error.has_value());
  EXPECT_EQ(result->measurements[2].error->code, "bench.build");
  const std::string table = summary_table(*suite, plan, {*result}, "one");
  EXPECT_NE(table.find("WRONG 3.3e-01"), std::string::npos) << table;
  const std::string line = to_json_line(*suite, plan, *result, result->measurements[0], {});
  EXPECT_NE(line.find("\"seconds\":0.5"), std::string::npos) << line;
  EXPECT_EQ(line.find('\n'), std::string::npos);
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
