#include "tuning-db/wanted.h"

#include <gtest/gtest.h>

#include "tests/unit/tuning_db/nests.h"
#include "tests/unit/tuning_db/stores.h"
#include "tuning-db/ledger.h"
#include "tuning-db/store.h"

namespace sous::tuning_db {
namespace {

WantedNest wants(std::string_view nest, std::int64_t n = 500) {
  const Entry e = nests::normal_entry(nest, n);
  return {.nest = e.nest, .structural_hash = e.structural_hash, .sizes = e.sizes};
}

class WantedTest : public stores::OnEach {
 protected:
  Store store = Store::open({.path = place, .seeds = {}}).value();
  Ledger ledger{place};

  std::vector<std::string> told(std::string_view asker = "worker") {
    std::vector<std::string> hashes;
    const auto all = ledger.wanted(asker).value();
    for (const Wanted& one : all) hashes.push_back(one.structural_hash);
    return hashes;
  }
};

TEST_P(WantedTest, WhatMorePartiesWantComesFirstThenTheHottest) {
  const WantedNest gemm = wants(nests::gemm), syrk = wants(nests::syrk), small = wants(nests::jacobi, 100);
  EXPECT_EQ(ledger.want({small, syrk, gemm}, nests::machine(), "desk").value(), 3);
  EXPECT_EQ(told(), (std::vector{gemm.structural_hash, syrk.structural_hash, small.structural_hash}));
  EXPECT_EQ(ledger.want({small}, nests::machine(), "desk").value(), 0);
  EXPECT_EQ(ledger.want({small}, nests::machine(), "farm").value(), 1);
  EXPECT_EQ(told().front(), small.structural_hash);
  const Wanted first = ledger.wanted("worker")->front();
  EXPECT_EQ(first.parties, 2);
  EXPECT_EQ(first.sizes_json, "{\"n0\":100}");
  EXPECT_GT(ledger.wanted("worker")->at(1).work, 1e8);
}

TEST_P(WantedTest, MachinesAndSizeClassesAreWantedApart) {
  ledger.want({wants(nests::gemm), wants(nests::gemm, 501), wants(nests::gemm, 5000)}, nests::machine(), "a").value();
  ledger.want({wants(nests::gemm)}, nests::machine(64), "a").value();
  EXPECT_EQ(told().size(), 3u);
}

TEST_P(WantedTest, WhatWasMeasuredIsNotWanted) {
  ledger.want({wants(nests::gemm)}, nests::machine(), "desk").value();
  const Entry found = nests::normal_entry(nests::gemm, 500);
  Entry elsewhere = nests::normal_entry(nests::gemm, 500, "reverse(loop=i0) -> cpp", 1.2);  // no witness of `found`
  elsewhere.hardware = nests::machine(64);
  store.add(elsewhere).value();
  EXPECT_EQ(told().size(), 1u);
  // What one worker found another one is to measure again, before it serves everyone.
  ledger.send({found}, "worker", *static_embedding()).value();
  EXPECT_TRUE(told("worker").empty());
  EXPECT_EQ(told("other").size(), 1u);
  Entry again = found;
  again.tuned_seconds *= 1.1;
  ledger.send({again}, "other", *static_embedding()).value();
  EXPECT_TRUE(told("third").empty());
}

TEST_P(WantedTest, APartyPushesOutNobodyElse) {
  ledger.want({wants(nests::syrk)}, nests::machine(), "desk").value();
  std::vector<WantedNest> many;
  for (int i = 0; i < 40; ++i) many.push_back(wants(nests::gemm, 4 << (i % 20)));
  for (int cores = 1; cores <= 80; ++cores) ledger.want(many, nests::machine(cores), "stranger").value();
  EXPECT_EQ(told().size(), static_cast<std::size_t>(most_told));
  ledger.want({wants(nests::syrk)}, nests::machine(), "farm").value();
  EXPECT_EQ(told().front(), wants(nests::syrk).structural_hash);
}

TEST(Wanted, StrangersNestsAreSmallAndWhatTheySay) {
  EXPECT_TRUE(check(wants(nests::gemm)));
  WantedNest forged = wants(nests::gemm);
  forged.structural_hash = wants(nests::syrk).structural_hash;
  EXPECT_EQ(check(forged).error().code, "wanted.nest");
  std::string deep = "sdfg 1 nest\nsymbols n0\narray a0: f64[n0] argument\narguments n0, a0\n\n";
  for (int i = 0; i < 30; ++i) deep += "loop i" + std::to_string(i) + " = 0 .. n0 {\n";
  deep += "s0: a0[i0] = 1.0\n" + std::string(30, '}');
  forged.nest = nests::parsed(deep);
  EXPECT_EQ(check(forged).error().code, "wanted.nest");
}

SOUS_ON_EACH_STORE(WantedTest);

}  // namespace
}  // namespace sous::tuning_db
