// From C text to generated code, with a source of recipes that says what it is told.
#include "client/pipeline.h"

#include <gtest/gtest.h>

#include "frontends/c/lift.h"
#include "tuning-db/hardware.h"

namespace sous::client {
namespace {

using transforms::Match;

struct OneMatch : transforms::RecipeSource {
  explicit OneMatch(Match m) : match(std::move(m)) {}
  Match match;
  Result<std::vector<std::vector<Match>>> query(const std::vector<transforms::NestQuery>& nests, int) override {
    return std::vector<std::vector<Match>>(nests.size(), {match});
  }
};

Outcome outcome_of(const std::string& text, double distance, bool user_lines = false) {
  Match match;
  match.recipe = transforms::recipe_from_text("parallelize(loop=i0) -> openmp").value();
  match.name = "other#1";
  match.origin = transforms::Origin::Database;
  match.distance = distance;
  match.reach = 3;
  match.evidence.size_class = "unknown:4";
  match.evidence.baseline_seconds = 2;
  match.evidence.tuned_seconds = 1;
  match.evidence.threads = 2;
  match.evidence.hardware = tuning_db::hardware_class(tuning_db::local_hardware());
  Meaning meaning;
  meaning.cpp_code = {"-march=native"};  // the class that the evidence is of
  meaning.user_lines = user_lines;
  const auto sources = [&](const tuning_db::Hardware&,
                           std::vector<std::string>&) -> Result<std::unique_ptr<transforms::RecipeSource>> {
    return std::make_unique<OneMatch>(match);
  };
  auto outcome = optimize([&] { return frontends::c::lift(text, "hist.c", {}); }, "hist.c", meaning, {}, sources);
  EXPECT_TRUE(outcome) << outcome.error().to_string();
  return outcome ? std::move(*outcome) : Outcome{};
}

// Into an array of unknown size: the target runs it in order.
const std::string unknown_size = R"(void hist(int n, const unsigned char *restrict px, int *restrict bins) {
  for (int i = 0; i < n; i++)
    bins[px[i]]++;
}
)";
const std::string known_size = R"(static int bins[256];
void hist(int n, const unsigned char *restrict px) {
  for (int i = 0; i < n; i++) bins[px[i]]++;
}
)";

TEST(Pipeline, ANeighboursThreadsAreNoEvidenceForOne) {
  const Outcome near = outcome_of(unknown_size, 1);
  ASSERT_EQ(near.report.nests.size(), 1u);
  EXPECT_FALSE(near.report.nests[0].served);
  EXPECT_EQ(near.report.nests[0].why,
            "no evidence on one thread: other#1 was measured on 2 threads, but loop i0 runs on one thread: a reduction "
            "into an array of unknown or large size");
  const Outcome itself = outcome_of(unknown_size, 0);  // measured just so
  EXPECT_TRUE(itself.report.nests[0].served);
  EXPECT_EQ(itself.report.nests[0].threads, 1);
  const Outcome with_threads = outcome_of(known_size, 1);
  EXPECT_TRUE(with_threads.report.nests[0].served);
  EXPECT_EQ(with_threads.report.nests[0].threads, 2);
  EXPECT_TRUE(with_threads.report.nests[0].unfollowed.empty());
}

// It runs where the processor has what it is compiled for, rounds as the build does, and asks that ahead of all else.
TEST(Pipeline, CodeForMoreThanTheBuildAsksForItsProcessor) {
  tuning_db::Hardware machine = tuning_db::local_hardware();
  machine.architecture = "x86-64";
  machine.isa = tuning_db::Isa::avx2;
  const auto beyond = [&](const std::string& option) {
    Meaning meaning;
    meaning.cpp_code = {option};
    return beyond_the_build(meaning, machine);
  };
  EXPECT_FALSE(beyond("-march=x86-64-v3").processor);
  EXPECT_EQ(beyond("-march=x86-64-v3").contraction, Contraction::InExpressions);
  EXPECT_EQ(beyond("-mfma").contraction, Contraction::InExpressions);
  const Meaning wider = beyond("-O2");
  EXPECT_EQ(wider.contraction, Contraction::Off);
  EXPECT_EQ(wider.processor, tuning_db::Isa::avx2);
  Options options;
  options.recipe = "normal-form";
  const auto open = [](const tuning_db::Hardware&, std::vector<std::string>&) {
    return Result<std::unique_ptr<transforms::RecipeSource>>(fail("test", "none"));
  };
  const auto outcome =
      optimize([&] { return frontends::c::lift(unknown_size, "hist.c", {}); }, "hist.c", wider, options, open);
  ASSERT_TRUE(outcome && outcome->served.size() == 1);
  EXPECT_TRUE(outcome->served[0].replacement.guard.starts_with("sous_processor(1)"))
      << outcome->served[0].replacement.guard;
}

TEST(Pipeline, TheStepThatHadNoEffectSaysSo) {
  const Outcome outcome = outcome_of(unknown_size, 0);
  EXPECT_EQ(
      outcome.report.nests.at(0).units.at(0).steps,
      std::vector<std::string>{"parallelize(loop=i0): no effect: the loop runs on one thread: a reduction into an "
                               "array of unknown or large size"});
}

TEST(Pipeline, CodeHasTheUsersLinesWhereThatIsAsked) {
  EXPECT_EQ(outcome_of(known_size, 1).files.at(0).text.find("#line"), std::string::npos);
  const std::string code = outcome_of(known_size, 1, true).files.at(0).text;
  EXPECT_NE(code.find("#line 3 \"hist.c\"\n"), std::string::npos) << code;
  EXPECT_NE(code.find("\n#line 3\n  sous::parallel("), std::string::npos) << code;
  EXPECT_EQ(code.find("//@"), std::string::npos) << code;
}

}  // namespace
}  // namespace sous::client
