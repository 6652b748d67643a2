#include "benchmarks/results.h"

#include <gtest/gtest.h>

#include <cmath>

#include "benchmarks/ratios.h"
#include "benchmarks/summary.h"
#include "client/process.h"

namespace sous::benchmarks {
namespace {

Line line(const std::string& program, const std::string& compiler, std::vector<double> runs,
          const std::string& session = "monday") {
  Line out;
  out.suite = "polybench";
  out.program = program;
  out.size = "LARGE";
  out.type = "double";
  out.compiler = compiler;
  out.commands = R"([["cc"]])";
  out.session = session;
  out.date = "2026-01-01T00:00:00Z";
  out.machine.architecture = "x86-64";
  out.runs = std::move(runs);
  out.wanted_runs = 5;
  out.right = true;
  return out;
}

Line failed(const std::string& program, const std::string& compiler) {
  Line out = line(program, compiler, {});
  out.error = Error{"bench.build", "it ended", ""};
  out.right = false;
  return out;
}

TEST(Results, ALineIsReadAsItWasWritten) {
  Line one = line("gemm", "sous@1", {0.25, 0.5});
  one.library = "BLIS 0.9";
  one.threads = 1;
  one.fast_math = true;
  one.difference = 1e-12;
  one.warmup_counted = true;
  one.recipes = {"gemm#1"};
  one.functions = {"multiply"};
  one.user = {0.5, 0.75};
  const std::string json = to_json_line(one);
  EXPECT_EQ(json.find('\n'), std::string::npos);
  const auto back = parse_line(json);
  ASSERT_TRUE(back.has_value()) << back.error().to_string();
  EXPECT_EQ(to_json_line(*back), json);
  EXPECT_EQ(back->runs, one.runs);
  EXPECT_EQ(back->recipes, one.recipes);
  EXPECT_EQ(back->functions, one.functions);
  EXPECT_EQ(back->user, one.user);
  Line slow = failed("gemm", "polly");
  slow.limit_seconds = 12;
  EXPECT_EQ(to_json_line(*parse_line(to_json_line(slow))), to_json_line(slow));
  Line wrong = line("gemm", "x", {1});
  wrong.difference = HUGE_VAL;
  EXPECT_TRUE(std::isinf(parse_line(to_json_line(wrong))->difference));
}

TEST(Results, WhatIsNoLineIsRefused) {
  const std::string good = to_json_line(line("gemm", "clang", {1}));
  const auto code = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    const auto parsed = parse_line(text);
    return parsed ? std::string() : parsed.error().code;
  };
  EXPECT_EQ(code("\"gemm\"", "7"), "results.field");
  EXPECT_EQ(code("[1.0]", "[-1.0]"), "results.field");
  EXPECT_EQ(code("[1.0]", "[\"1\"]"), "results.field");
  EXPECT_EQ(code("{", ""), "results.json");
  EXPECT_EQ(code("\"runs\"", "\"laps\""), "results.field");
}

TEST(Results, TheLastLineHoldsAndAHalfOneIsDropped) {
  const std::string text = to_json_line(line("gemm", "clang", {1})) + "\n" + to_json_line(line("atax", "clang", {3})) +
                           "\n" + to_json_line(line("gemm", "clang", {2})) + "\n";
  const auto lines = parse_lines(text + R"({"suite": "poly)");
  ASSERT_TRUE(lines.has_value()) << lines.error().to_string();
  ASSERT_EQ(lines->size(), 2U);
  EXPECT_EQ((*lines)[1].runs[0], 2);
  EXPECT_EQ(parse_lines("{\n" + text).error().code, "results.json");
  const auto folder = client::TemporaryFolder::make();
  const std::string path = folder->file("r.jsonl");
  ASSERT_TRUE(client::write_file(path, text + "{\"su"));
  ASSERT_TRUE(drop_half_line(path).has_value());
  EXPECT_EQ(*client::read_file(path), text);
  EXPECT_TRUE(drop_half_line(folder->file("none")).has_value());
}

TEST(SuiteSummary, RatiosAreThoseOfOneSession) {
  Line slow = failed("gemm", "polly");
  slow.limit_seconds = 20;
  Line wrong = line("atax", "sous", {1, 1, 1});
  wrong.right = false;
  wrong.difference = 1;
  const SuiteSummary s = summarize(
      {line("gemm", "clang", {2, 2, 2}), line("gemm", "sous", {0.5, 0.5, 0.5}), slow, line("atax", "clang", {4, 4, 4}),
       wrong, line("mvt", "clang", {1}), line("mvt", "sous", {1}, "tuesday")},
      "");
  EXPECT_EQ(s.baseline, "clang");
  EXPECT_EQ(s.compilers, (std::vector<std::string>{"clang", "sous", "polly"}));
  ASSERT_EQ(s.rows.size(), 3U);
  EXPECT_DOUBLE_EQ(s.rows[0].cells[1].ratio->value, 4);
  EXPECT_DOUBLE_EQ(*s.rows[0].cells[2].ratio_below, 0.1);
  EXPECT_FALSE(s.rows[1].cells[1].ratio.has_value()) << "a wrong result has no ratio";
  EXPECT_FALSE(s.rows[2].cells[1].ratio.has_value()) << "of another session";
  EXPECT_FALSE(s.rows[1].cells[2].line.has_value());
  EXPECT_DOUBLE_EQ(s.means[1]->value, 4);
  const std::string table = to_table(s);
  for (const char* text : {"4.00 ±0%*", "WRONG", "<0.10", "geometric mean", "95 % interval"}) {
    EXPECT_NE(table.find(text), std::string::npos) << text << "\n" << table;
  }
  EXPECT_NE(to_json(s).find("\"ratio_below\":0.1"), std::string::npos);
}

TEST(SuiteSummary, WhatDiffersNoMoreThanClangsOwnIsRight) {
  Line own = line("trisolv", "clang", {2, 2, 2}), same = line("trisolv", "sous", {1, 1, 1}),
       more = line("trisolv", "polly", {1, 1, 1}), elsewhere = line("trisolv", "gcc", {1, 1, 1}, "tuesday");
  for (Line* one : {&own, &same, &more, &elsewhere}) {
    one->right = false;
    one->difference = 0.013;
  }
  more.difference = 0.014;
  const SuiteSummary s = summarize({own, same, more, elsewhere}, "clang");
  EXPECT_DOUBLE_EQ(s.rows[0].cells[1].ratio.value().value, 2);
  EXPECT_FALSE(s.rows[0].cells[2].ratio || s.rows[0].cells[2].line->right);
  EXPECT_FALSE(s.rows[0].cells[3].line->right) << "of another session";
}

std::vector<Ratio> ratios(const std::vector<Line>& lines) { return ratios_of(summarize(lines, "clang")); }

TEST(Compare, NamesWhatChangedBeyondNoise) {
  const auto clang = [](const char* program) { return line(program, "clang", {1, 1.01, 0.99, 1, 1}); };
  const auto before =
      ratios({clang("same"), line("same", "sous", {0.5, 0.51, 0.49}), clang("faster"),
              line("faster", "sous", {0.5, 0.5}), clang("slower"), line("slower", "sous", {0.5, 0.5}), clang("noisy"),
              line("noisy", "sous", {0.3, 0.5, 0.7}), clang("broken"), line("broken", "sous", {0.5}), clang("mended"),
              failed("mended", "sous"), clang("gone"), line("gone", "sous", {1})});
  const auto after =
      ratios({clang("same"), line("same", "sous", {0.505, 0.5, 0.51}), clang("faster"),
              line("faster", "sous", {0.25, 0.25}), clang("slower"), line("slower", "sous", {0.6, 0.6}), clang("noisy"),
              line("noisy", "sous", {0.4, 0.6, 0.8}), clang("broken"), failed("broken", "sous"), clang("mended"),
              line("mended", "sous", {0.5}), clang("new"), line("new", "sous", {1})});
  std::string found;
  for (const Difference& d : differences(before, after, 0.03)) {
    const Ratio& named = d.change == Change::Gone ? d.before : d.after;
    found += named.program + std::to_string(static_cast<int>(d.change)) + " ";
  }
  EXPECT_EQ(found, "same0 faster1 slower2 noisy0 broken3 mended4 gone6 new5 ");
}

TEST(Compare, AMachineThatIsTwiceAsSlowChangesNothing) {
  const auto before = ratios({line("a", "clang", {1, 1, 1}), line("a", "sous", {0.5, 0.5, 0.5})});
  const auto after = ratios({line("a", "clang", {2, 2, 2}), line("a", "sous", {1, 1, 1})});
  EXPECT_EQ(differences(before, after, 0.03)[0].change, Change::None);
}

TEST(Compare, KeptRatiosAreReadAsWrittenAndReplaced) {
  const auto old =
      ratios({line("a", "clang", {1}), line("a", "sous", {0.5}), line("b", "clang", {1}), failed("b", "sous")});
  const auto back = parse_ratios(to_json_lines(old));
  ASSERT_TRUE(back.has_value()) << back.error().to_string();
  EXPECT_EQ(*back, old);
  const auto fresh = ratios({line("a", "clang", {1}), line("a", "sous", {0.25})});
  const auto all = merged(old, fresh);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_DOUBLE_EQ(all[0].ratio.value, 4);
  EXPECT_EQ(all[1].program, "b");
  EXPECT_EQ(parse_ratios("{}\n").error().code, "results.field");
  EXPECT_EQ(parse_ratios("x\n").error().code, "results.json");
}

TEST(Compare, AFileIsOfMeasurementsOrOfKeptRatios) {
  const auto folder = client::TemporaryFolder::make();
  const std::vector<Line> lines{line("a", "clang", {1}), line("a", "sous", {0.5})};
  ASSERT_TRUE(client::write_file(folder->file("m"), to_json_line(lines[0]) + "\n" + to_json_line(lines[1]) + "\n"));
  ASSERT_TRUE(client::write_file(folder->file("k"), to_json_lines(ratios(lines))));
  EXPECT_EQ(*read_ratios(folder->file("m"), "clang"), *read_ratios(folder->file("k"), "clang"));
  EXPECT_EQ(read_ratios(folder->file("none"), "").error().code, "client.read");
}

}  // namespace
}  // namespace sous::benchmarks
