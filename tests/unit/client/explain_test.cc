#include "client/explain.h"

#include <gtest/gtest.h>

#include "client/choose.h"
#include "client/promise.h"
#include "frontends/c/lift.h"
#include "tuning-db/size_class.h"

namespace sous::client {
namespace {

const std::string here = "x86-64:avx512:2c:l2=1M:l3=32M";

NestReport left(const std::string& function, double work, const std::vector<std::string>& why_not) {
  NestReport nest;
  nest.file = "a.c";
  nest.function = function;
  nest.line = 7;
  nest.column = 3;
  nest.why = "no recipe with evidence that it is faster here";
  nest.work = work;
  UnitReport unit;
  unit.label = "the nest";
  unit.asked = true;
  for (const auto& why : why_not) {
    CandidateReport candidate;
    candidate.match.name = "gemm#" + std::to_string(unit.candidates.size());
    candidate.match.distance = 3.25;
    candidate.match.reach = 3;
    candidate.why_not = why;
    unit.candidates.push_back(candidate);
  }
  nest.units = {unit};
  return nest;
}

TEST(Explain, OneLineForEachNestHottestFirst) {
  Report report;
  report.file = "a.c";
  report.nests = {left("cold", 10, {}), left("hot", 1000, {"no evidence: too far away"})};
  report.nests.push_back(left("served", 500, {}));
  report.nests.back().served = true;
  report.nests.back().why = "the nest by mm#0 (database, distance 0, measured 2.00 times as fast)";
  report.nests.back().threads = 4;
  EXPECT_EQ(
      short_text(report),
      "a.c:7: hot: left as it is: gemm#0 (distance 3.25 of at most 3): no evidence: too far away. Next: --measure "
      "with --size tries it here; or sous tune searches a recipe\n"
      "a.c:7: served: served: the nest by mm#0 (database, distance 0, measured 2.00 times as fast), on 4 threads\n"
      "a.c:7: cold: left as it is: no recipe known for anything near it. Next: a recipe of its own: "
      "sous tune searches and keeps it\n"
      "a.c: 1 of 3 nests served; all there is to know: --explain=all\n");
}

TEST(Explain, TheNearestTwoThatWereNotUsed) {
  Report report;
  report.file = "a.c";
  report.nests = {left("f", 1, {"", "one before it is used", "one before it is used", "one before it is used"})};
  auto& nest = report.nests[0];
  nest.served = true;
  nest.why = "the nest by gemm#0";
  for (std::size_t k = 0; k < 4; ++k) nest.units[0].candidates[k].match.distance = 2.5 - 0.5 * static_cast<double>(k);
  nest.units[0].candidates[0].used = true;
  nest.units[0].candidates[3].match.distance = 9;  // out of reach
  EXPECT_TRUE(
      short_text(report).starts_with("a.c:7: f: served: the nest by gemm#0\n"
                                     "    not used: gemm#2 (distance 1.5): one before it is used\n"
                                     "    not used: gemm#1 (distance 2): one before it is used\na.c: "))
      << short_text(report);
  const std::string query = to_text(report, 2), all = to_text(report);
  EXPECT_TRUE(query.contains("used     gemm#0") && query.contains("not used gemm#2 (database)")) << query;
  EXPECT_FALSE(query.contains("gemm#3")) << query;
  EXPECT_TRUE(all.contains("not used gemm#3")) << all;
}

TEST(Explain, WhyAPartWasNotAskedFor) {
  Report report;
  report.file = "a.c";
  report.nests = {left("f", 1, {"too far away"})};
  auto& nest = report.nests[0];
  nest.units.emplace_back().label = "nest 1 of 2";
  EXPECT_TRUE(to_text(report).contains("not asked for: hardly any of the work is here")) << to_text(report);
  nest.units[0].candidates[0].used = true;
  EXPECT_TRUE(to_text(report).contains("not asked for: the whole has a recipe")) << to_text(report);
}

TEST(Explain, TheReasonIsOfTheCandidateThatCameNearest) {
  const auto nest = left("f", 1,
                         {"no evidence: too far away", "i0: the loop carries a dependence [parallelize.carried]",
                          "no evidence: never measured"});
  EXPECT_NE(reason_of(nest).find("parallelize.carried"), std::string::npos) << reason_of(nest);
  EXPECT_EQ(kind_of(nest), "parallelize.carried");
  EXPECT_EQ(kind_of(left("f", 1, {"no evidence: too far away"})), "no evidence: too far away");
  EXPECT_EQ(kind_of(left("f", 1, {"not faster: 1.02 times as fast"})), "not faster");
  auto failed = left("f", 1, {});
  failed.why = "too many dependences [isl.budget]";
  EXPECT_EQ(kind_of(failed), "isl.budget");
  EXPECT_EQ(next_step(failed), "");
}

// What choose.h says against a match must be known here, or the advice is about a recipe that was refused.
TEST(Explain, KnowsEveryDoubtAboutEvidence) {
  transforms::Match good;
  good.evidence.baseline_seconds = 2;
  good.evidence.tuned_seconds = 1;
  good.evidence.hardware = here;
  good.evidence.size_class = "4^11:8";
  std::vector<transforms::Match> doubtful(6, good);
  doubtful[0].evidence.tuned_seconds = 0;
  doubtful[1].distance = 100;
  doubtful[2].evidence.hardware = "aarch64:neon:64c:l2=1M:l3=32M";
  doubtful[3].evidence.size_class = "4^15:8";
  doubtful[4].evidence.tuned_seconds = 1.99;
  doubtful[5].evidence.tuned_seconds = 1.8;
  doubtful[5].evidence.tuned_spread = 0.5;
  for (const auto& match : doubtful) {
    const std::string doubt = not_evidence(match, "4^11:8", here);
    ASSERT_NE(doubt, "");
    const auto nest = left("f", 1, {doubt});
    EXPECT_TRUE(doubt.starts_with(kind_of(nest))) << doubt << " is counted as " << kind_of(nest);
    EXPECT_EQ(next_step(nest).find("a recipe of its own"), std::string::npos) << doubt;
  }
}

TEST(Explain, RemarksAreInTheCompilersForm) {
  Report report;
  report.file = "a.c";
  report.nests = {left("f", 1, {})};
  report.reasons.push_back({"c.goto", "a goto or a label", "g", 12, 5, "a loop without jumps"});
  EXPECT_EQ(remarks(report),
            "a.c:7:3: remark: left as it is: no recipe known for anything near it. Next: a recipe of its own: "
            "sous tune searches and keeps it [-Rsous]\n"
            "a.c:12:5: remark: not lifted: a goto or a label (c.goto). Next: a loop without jumps [-Rsous]\n");
}

TEST(Explain, ManyLoopsThatAreNotLiftedAreCounted) {
  Report report;
  report.file = "a.c";
  for (int k = 0; k < 30; ++k) {
    report.reasons.push_back({k % 3 == 0 ? "c.goto" : "c.break", "why", "f" + std::to_string(k / 2), k, 1});
  }
  const std::string text = short_text(report);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 8 + 2) << text;
  EXPECT_NE(text.find("also not lifted: c.break"), std::string::npos) << text;
}

TEST(Explain, AForcedRecipeGoesWhereTheWorkIs) {
  const auto unit = frontends::c::lift(R"(void f(int n, double C[100][100], double x[100]) {
  for (int i = 0; i < n; i++) x[i] = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) C[i][j] += x[j];
})",
                                       "test.c", {});
  ASSERT_TRUE(unit && unit->nests.size() == 1);
  const auto nest = prepare(unit->nests[0], {}, {});
  ASSERT_TRUE(nest && nest->units.size() == 3);
  const auto forced = [&](const char* recipe, const std::string& unit_only = {}) {
    const Chosen chosen = force({.nest = *nest, .unit = unit_only}, transforms::recipe_from_text(recipe).value());
    std::string units;
    for (const Choice& choice : chosen.choices) units += std::to_string(choice.unit) + " ";
    return units + chosen.why;
  };
  EXPECT_EQ(
      forced("parallelize(loop=i0) -> openmp"),
      "1 2 the recipe given applies to nest 1 of 2 (--unit 1) with loops i0 = i; nest 2 of 2 (--unit 2) with loops "
      "i0 = i_1, i1 = j");
  EXPECT_TRUE(forced("parallelize(loop=i2) -> openmp").starts_with("0 the recipe given applies to whole (--unit 0)"));
  EXPECT_TRUE(forced("-> cpp").starts_with("0 the recipe given applies to whole"));
  EXPECT_TRUE(forced("parallelize(loop=i0) -> openmp", "2").starts_with("2 the recipe given applies to nest 2"));
  EXPECT_TRUE(forced("parallelize(loop=i7) -> openmp").starts_with("the recipe applies to none of its units: nest 2"));
}

}  // namespace
}  // namespace sous::client
