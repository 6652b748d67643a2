#include "tuning-db/atlas.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/unit/tuning_db/nests.h"
#include "tuning-db/database.h"
#include "tuning-db/ledger.h"

namespace sous::tuning_db {
namespace {

Family family(std::string_view text) { return family_of(features(nests::parsed(text), {})); }

std::string with_body(std::string_view loops) {
  return R"(sdfg 1 nest
symbols n0
array a0: f64[n0, n0] argument
array a1: f64[n0, n0] argument
array a2: i64[n0] argument
arguments n0, a0, a1, a2

)" + std::string(loops);
}

TEST(Families, AreReadOffWhatANestDoes) {
  EXPECT_EQ(family(nests::gemm), Family::product);
  EXPECT_EQ(family(nests::syrk), Family::product);
  EXPECT_EQ(family(nests::jacobi), Family::stencil);
  EXPECT_EQ(family(with_body("loop i0 = 0 .. n0 {\n  s0: a0[0, i0] = a1[0, i0] * 2.0\n}\n")), Family::pointwise);
  EXPECT_EQ(family(with_body("loop i0 = 1 .. n0 {\n  s0: a0[0, i0] = a0[0, i0 - 1] + a0[0, i0]\n}\n")), Family::sweep);
  EXPECT_EQ(family(with_body("loop i0 = 0 .. n0 {\n  s0: a0[0, 0] = a0[0, 0] + a1[0, i0]\n}\n")), Family::sum);
  EXPECT_EQ(family(with_body("loop i0 = 0 .. n0 {\n  s0: a0[0, 0] = a0[0, 0] + a1[0, i0] * a1[1, i0]\n}\n")),
            Family::vector_product);
  EXPECT_EQ(family(with_body("loop i0 = 0 .. n0 {\n  s0: a0[0, i0] = a1[0, a2[i0]]\n}\n")), Family::indirect);
  EXPECT_EQ(family(with_body("loop i0 = 0 .. n0 {\n  s0: a0[0, i0] = 1.0\n}\n"
                             "loop i1 = 0 .. n0 {\n  s1: a1[0, i1] = 1.0\n}\n")),
            Family::sequence);
  EXPECT_EQ(family(with_body("loop i0 = 0 .. n0 {\n  loop i1 = 0 .. i0 {\n"
                             "    s0: a0[0, i0] = a0[0, i0] - a0[0, i1] * a1[i0, i1]\n  }\n}\n")),
            Family::factorization);
}

class AtlasTest : public ::testing::Test {
 protected:
  nests::Folder folder;
  std::unique_ptr<Database> database = Database::open({.path = folder / "t.db", .seeds = {}}, nests::machine()).value();

  void add(std::string_view nest, std::int64_t n) { database->store().add(nests::entry(nest, n)).value(); }
  std::shared_ptr<const Atlas> atlas() { return atlas_of(database->whole().value()); }
};

TEST_F(AtlasTest, HasAPlaceForEachNest) {
  EXPECT_TRUE(atlas()->places.empty());
  add(nests::gemm, 500);
  EXPECT_EQ(atlas()->places.size(), 1u);
  EXPECT_EQ(atlas()->places[0].x, 0);
  add(nests::gemm, 900);
  add(nests::syrk, 500);
  add(nests::jacobi, 500);
  const auto map = atlas();
  ASSERT_EQ(map->places.size(), 3u);
  double widest = 0;
  for (const auto& place : map->places) widest = std::max({widest, std::abs(place.x), std::abs(place.y)});
  EXPECT_DOUBLE_EQ(widest, 1);
  EXPECT_GT(map->axes[0].share, map->axes[1].share);
  // Three points lie in a plane: the map shows all of it.
  EXPECT_NEAR(map->axes[0].share + map->axes[1].share, 1, 1e-6);
  EXPECT_EQ(map->axes[0].features.size(), 3u);
  const auto distance = [&](std::string_view a, std::string_view b) {
    const auto place = [&](std::string_view nest) {
      const std::string hash = nests::entry(nest, 500).structural_hash;
      return *std::ranges::find(map->places, hash, &Atlas::Place::hash);
    };
    return std::hypot(place(a).x - place(b).x, place(a).y - place(b).y);
  };
  EXPECT_LT(distance(nests::gemm, nests::syrk), distance(nests::gemm, nests::jacobi));
}

TEST_F(AtlasTest, IsAlwaysTheSameAndKept) {
  for (const auto nest : {nests::gemm, nests::syrk, nests::jacobi}) add(nest, 500);
  const auto first = atlas(), second = atlas();
  for (std::size_t i = 0; i < first->places.size(); ++i) {
    EXPECT_EQ(first->places[i].x, second->places[i].x);
    EXPECT_EQ(first->places[i].y, second->places[i].y);
  }
  Atlases atlases;
  const auto view = database->whole().value();
  EXPECT_EQ(atlases.of(view), atlases.of(view));
  EXPECT_NE(atlases.of(view), atlases.of(database->whole().value()));
}

TEST_F(AtlasTest, WhatOnePartySentMovesNobody) {
  for (const auto nest : {nests::gemm, nests::syrk}) add(nest, 500);
  const auto before = atlas();
  Ledger ledger(folder / "t.db");
  ledger.send({nests::entry(nests::jacobi, 500)}, "desk", *static_embedding()).value();
  const auto after = atlas();
  ASSERT_EQ(after->places.size(), 3u);
  for (const auto& place : before->places) {
    const auto same = *std::ranges::find(after->places, place.hash, &Atlas::Place::hash);
    EXPECT_EQ(std::pair(place.x, place.y), std::pair(same.x, same.y));
  }
}

}  // namespace
}  // namespace sous::tuning_db
