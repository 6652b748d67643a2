#include "client/trial_sizes.h"

#include <gtest/gtest.h>

#include "frontends/c/lift.h"
#include "tuning-db/size_class.h"

namespace sous::client {
namespace {

struct Trial {
  Result<frontends::TranslationUnit> unit;
  Result<PreparedNest> nest;
  explicit Trial(const std::string& text, const std::map<std::string, std::int64_t>& sizes = {})
      : unit(frontends::c::lift(text, "test.c", {})), nest(prepare(unit->nests.at(0), {}, sizes)) {}
  Result<PreparedNest> at(const std::string& wanted) const { return at_trial_sizes(*nest, 0, wanted); }
};

const std::string product = R"(void mm(int n, int m, double A[n][m], double B[m][n], double C[n][n]) {
  for (int i = 0; i < n; i++)
    for (int k = 0; k < m; k++)
      for (int j = 0; j < n; j++) C[i][j] += A[i][k] * B[k][j];
})";

TEST(TrialSizes, OfTheClassThatTheRecipeWasMeasuredAt) {
  const Trial trial(product);
  ASSERT_TRUE(trial.nest);
  const auto sized = trial.at("4^10:8");
  ASSERT_TRUE(sized) << sized.error().to_string();
  EXPECT_EQ(size_class_of(sized->units[0]), "4^10:8");
  EXPECT_EQ(sized->sizes.size(), 2u);
}

TEST(TrialSizes, WhatIsGivenStays) {
  const auto sized = Trial(product, {{"m", 7}}).at("4^10:8");
  ASSERT_TRUE(sized) << sized.error().to_string();
  EXPECT_EQ(sized->sizes.at("m"), 7);
}

TEST(TrialSizes, NeverBeyondAnArray) {
  const Trial trial(R"(void add(int n, double A[100][100], double B[100][100]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) A[i][j] += B[j][i];
})");
  ASSERT_TRUE(trial.nest);
  const auto sized = trial.at("4^20:8");
  ASSERT_TRUE(sized) << sized.error().to_string();
  EXPECT_LE(sized->sizes.at("n"), 100);
  EXPECT_GT(sized->sizes.at("n"), 70);
}

TEST(TrialSizes, NeverMoreWorkThanTakesSeconds) {
  const Trial trial(product);
  ASSERT_TRUE(trial.nest);
  const auto sized = trial.at("4^20:8");
  ASSERT_TRUE(sized);
  EXPECT_LE(*tuning_db::work(sized->units[0].nest, sized->units[0].sizes), 2e9);
}

TEST(TrialSizes, WhatIsNoExtentLiesInside) {
  const Trial trial(R"(void eliminate(int n, int k, double A[n][n]) {
  for (int i = k + 1; i < n; i++)
    for (int j = k + 1; j < n; j++) A[i][j] -= A[i][k] * A[k][j];
})");
  ASSERT_TRUE(trial.nest);
  const auto sized = trial.at("4^10:8");
  ASSERT_TRUE(sized) << sized.error().to_string();
  EXPECT_EQ(sized->sizes.at("k"), sized->sizes.at("n") / 2);
}

TEST(TrialSizes, SaysWhatItNeeds) {
  const Trial trial(R"(void shift(int n, int d, double A[n]) {
  for (int i = 0; i < n; i++) A[i] = A[i - d] + 1;
})");
  ASSERT_TRUE(trial.nest);
  const auto sized = trial.at("4^10:8");
  ASSERT_FALSE(sized);
  EXPECT_EQ(sized.error().code, "measure.sizes");
  EXPECT_NE(sized.error().why.find("--size n=…,d=…"), std::string::npos) << sized.error().why;
}

}  // namespace
}  // namespace sous::client
