// For which shapes a measurement speaks.
#include "tuning-db/shape.h"

#include "tests/unit/tuning_db/nests.h"
#include "tuning-db/evidence.h"
#include "tuning-db/store.h"

namespace sous::tuning_db {
namespace {

using Extents = std::vector<double>;

sdfg::Sdfg nest(std::string_view text) { return sdfg::parse(text).value(); }
transforms::Recipe recipe(const std::string& text) { return transforms::recipe_from_text(text).value(); }

transforms::Evidence measured(const Extents& extents, double ratio = 20, int threads = 2) {
  transforms::Evidence e;
  e.baseline_seconds = ratio;
  e.tuned_seconds = 1;
  e.threads = threads;
  e.work = 1e9;
  e.extents = extents;
  return e;
}

TEST(Shape, ExtentsAreAveragesWhereOuterLoopsDecide) {
  EXPECT_EQ(extents(nest(nests::gemm), {{"n0", 10}, {"n1", 20}, {"n2", 30}}), (Extents{10, 30, 20}));
  EXPECT_EQ(extents(nest(nests::syrk), {{"n0", 101}, {"n1", 7}}), (Extents{101, 7, 51}));
  EXPECT_EQ(extents(nest(nests::gemm), {{"n0", 10}, {"n2", 30}}), (Extents{10, 30, 0}));  // n1 is not known
  EXPECT_EQ(extents(nest(nests::jacobi), {{"n0", 1}}), (Extents{0, 0}));
}

TEST(Shape, AQuarterOfWhatWasMeasuredAndWholeTiles) {
  const auto least = [](const char* text, const transforms::Evidence& e) {
    return least_shape(nest(nests::gemm), recipe(text), e, {{"l2_bytes", 1 << 20}}).extents;
  };
  const auto e = measured({1000, 1200, 1100});
  EXPECT_EQ(least("-> cpp", e), (Extents{250, 300, 275}));
  EXPECT_EQ(least("tile(loops=[i0,i1], sizes=[280,400]); tile(loops=[i0], sizes=[8]) -> cpp", e),
            (Extents{280, 400, 275}));
  EXPECT_EQ(least("vectorize(loop=i2, lanes=8); tile(loops=[i2], sizes=[l2_bytes floordiv 1024]) -> highway", e),
            (Extents{250, 300, 1024}));
  EXPECT_EQ(least("tile(loops=[i0], sizes=[4096]) -> cpp", e), (Extents{1000, 300, 275}));  // never more than measured
  EXPECT_EQ(least("fuse(first=i0, second=i1); tile(loops=[i0], sizes=[310]) -> cpp", e), (Extents{310, 310, 275}));
  // Evidence of an older version: what the recipe says. Without any work: nothing.
  EXPECT_EQ(least("register_tile(loops=[i0,i2], sizes=[8,24], lanes=8) -> cpp", measured({})), (Extents{8, 0, 24}));
  EXPECT_EQ(least("unroll(loop=i0, factor=4) -> cpp", transforms::Evidence{}), (Extents{0, 0, 0}));
}

TEST(Shape, WhatWasMeasuredGoesFirst) {
  auto e = measured({1000, 1200, 1100});
  e.least_extents = {16, 32, 8};
  e.least_work = 1e6;
  const auto least = least_shape(nest(nests::gemm), recipe("tile(loops=[i0], sizes=[56]) -> cpp"), e, {});
  EXPECT_EQ(least.extents, e.least_extents);
  EXPECT_EQ(least.work, 1e6);
  const auto why = [&](int n0, int n1, int n2) {
    return too_small(nest(nests::gemm), {{"n0", n0}, {"n1", n1}, {"n2", n2}}, least);
  };
  EXPECT_EQ(why(16, 2000, 2000), "");
  EXPECT_EQ(why(15, 2000, 2000), "i0 has 15 of at least 16 iterations");
  EXPECT_EQ(why(16, 8, 32), "it executes 4096 of at least 1e+06 statements");
  EXPECT_EQ(too_small(nest(nests::gemm), {{"n0", 1}}, least), "i0 has 1 of at least 16 iterations");
  EXPECT_EQ(too_small(nest(nests::gemm), {{"n0", 20}}, least), "");  // the rest is asked for on entry
}

TEST(Shape, AsManyThreadsAsTheGainNeeds) {
  EXPECT_EQ(least_threads(measured({}, 20, 2)), 1);
  EXPECT_EQ(least_threads(measured({}, 1.8, 2)), 2);
  EXPECT_EQ(least_threads(measured({}, 4, 16)), 5);
  EXPECT_EQ(least_threads(measured({}, 1.2, 1)), 1);
  // One tile for each of them.
  const auto least =
      least_shape(nest(nests::gemm), recipe("tile(loops=[i0], sizes=[100]); parallelize(loop=i0_t) -> openmp"),
                  measured({1000, 1200, 1100}, 4, 16), {});
  EXPECT_EQ(least.extents, (Extents{401, 300, 275}));
}

TEST(Shape, EvidenceKeepsItAndReadsWhatHasNone) {
  auto e = measured({1, 2.5, 0});
  e.size_class = "4^11:8";
  const auto again = [](const transforms::Evidence& e) {
    return evidence_from_json(evidence_json(e), "t", "").value();
  };
  EXPECT_EQ(again(e).extents, e.extents);
  EXPECT_TRUE(again(e).least_extents.empty());
  e.least_extents = {1, 2, 3};
  e.least_work = 4;
  EXPECT_EQ(again(e).least_extents, e.least_extents);
  EXPECT_EQ(again(e).least_work, 4);
  e.extents.clear();
  EXPECT_FALSE(evidence_json(e).contains("extents"));
  Json json = evidence_json(e);
  json["least"]["extents"][1] = "many";
  EXPECT_EQ(evidence_from_json(json, "t", "").error().code, "t.field");
}

TEST(Shape, EntriesCarryThresholds) {
  Entry plain = nests::entry(nests::gemm, 500), with = plain;
  EXPECT_FALSE(to_json(plain).contains("\"least\""));  // so its id is what it was
  with.least_extents = {8, 16, 24};
  with.least_work = 1e5;
  EXPECT_EQ(entry_from_json(to_json(with)).value(), with);
  const nests::Folder folder;
  auto store = Store::open({.path = folder / "t.db", .seeds = {}}).value();
  ASSERT_TRUE(store.add(with).value() && store.add(plain).value());
  EXPECT_EQ(store.get(entry_id(with)).value(), with);
  EXPECT_EQ(store.get(entry_id(plain)).value(), plain);
  EXPECT_EQ(evidence(with).extents, (Extents{500, 500, 500}));
  EXPECT_EQ(evidence(with).least_extents, with.least_extents);
}

}  // namespace
}  // namespace sous::tuning_db
