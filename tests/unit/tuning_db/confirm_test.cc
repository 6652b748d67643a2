// What a client sent serves it; who else, a second witness decides.
#include "tuning-db/confirm.h"

#include <gtest/gtest.h>

#include "tests/unit/tuning_db/nests.h"
#include "tests/unit/tuning_db/stores.h"
#include "tuning-db/database.h"
#include "tuning-db/ledger.h"
#include "tuning-db/proof.h"
#include "tuning-db/schema.h"

namespace sous::tuning_db {
namespace {

constexpr const char* reversed = "reverse(loop=i0) -> cpp";

class SentTest : public stores::OnEach {
 protected:
  std::unique_ptr<Database> database = Database::open({.path = place, .seeds = {}}, nests::machine()).value();
  Ledger ledger{place};

  static Entry entry(double ratio, std::int64_t n = 500, const std::string& recipe = reversed) {
    return nests::entry(nests::gemm, n, recipe, ratio);
  }
  bool send(const std::string& who, const Entry& one) {
    const auto sent = ledger.send({one}, who, *static_embedding());
    EXPECT_TRUE(sent) << sent.error().to_string();
    return sent && sent->at(0);
  }
  // What is answered for a nest to who asks, by a database that reads rows and by one that holds all of them.
  std::size_t answers(const std::string& who, std::string_view nest = nests::gemm) {
    const auto asked = [&](Database& from) {
      return from.query({nests::asks(nest, 500)}, 8, nests::machine(), who).value().at(0).size();
    };
    const auto followed = Database::open({.path = place, .seeds = {}}, nests::machine()).value();
    followed->follow(std::chrono::hours(1)).value();
    const std::size_t found = asked(*database);
    EXPECT_EQ(asked(*followed), found);
    return found;
  }
};

TEST_P(SentTest, WhatOneTokenSendsServesOnlyIt) {
  const Entry sent = entry(2);
  EXPECT_TRUE(send("desk", sent));
  EXPECT_EQ(answers("desk"), 1u);
  EXPECT_EQ(answers("farm"), 0u);
  EXPECT_EQ(answers(""), 0u);
  EXPECT_EQ(answers("ali"), 0u);
  EXPECT_EQ(answers("desk", nests::syrk), 1u);  // as a neighbour
  EXPECT_EQ(answers("farm", nests::syrk), 0u);
  EXPECT_TRUE(database->get(entry_id(sent), "desk").value());
  EXPECT_FALSE(database->get(entry_id(sent), "farm").value());
  EXPECT_EQ(database->store().export_lines().value(), "");
}

TEST_P(SentTest, ASecondMeasurementByAnotherPartyConfirmsIt) {
  send("desk", entry(2));
  send("desk", entry(2.1));
  EXPECT_EQ(answers("farm"), 0u);  // one party, however many measurements
  send("farm", entry(1.9));
  EXPECT_EQ(answers(""), 1u);
  EXPECT_EQ(answers("lab"), 1u);
}

TEST_P(SentTest, TheSameEntryTwiceIsOneMeasurement) {
  const Entry sent = entry(2);
  EXPECT_TRUE(send("desk", sent));
  EXPECT_FALSE(send("farm", sent));
  EXPECT_FALSE(send("farm", sent));
  EXPECT_EQ(answers("desk"), 1u);
  EXPECT_EQ(answers("farm"), 1u);
  EXPECT_EQ(answers("lab"), 0u);
}

TEST_P(SentTest, ACopyIsNoSecondWitness) {
  send("desk", entry(2));
  EXPECT_FALSE(send("farm", entry(2)));
  send("desk", entry(2.1));
  EXPECT_EQ(answers("lab"), 0u);  // one party measured, twice
  send("farm", entry(1.9));
  EXPECT_EQ(answers("lab"), 1u);  // farm did, too: it confirms the second of desk's, of which it sent no copy
}

TEST_P(SentTest, WhoHasTheFileConfirmsAndIsConfirmedByNobody) {
  send("desk", entry(2));
  database->store().add(entry(1.8)).value();
  EXPECT_EQ(answers(""), 1u);
  send("stranger", entry(1.9, 500, "reverse(loop=i1) -> cpp"));
  EXPECT_EQ(answers(""), 1u);
  // An entry that was sent, imported: its own.
  database->store().import_lines(to_json(entry(1.9, 500, "reverse(loop=i1) -> cpp")), "lines").value();
  EXPECT_EQ(answers(""), 2u);
}

// `claim` is confirmed by what `witness` measured.
bool confirmed(const Entry& claim, const Entry& witness) {
  const nests::Folder folder;
  const auto database = Database::open({.path = folder / "t.db", .seeds = {}}, nests::machine()).value();
  Ledger ledger(folder / "t.db");
  ledger.send({witness}, "witness", *static_embedding()).value();
  ledger.send({claim}, "claimant", *static_embedding()).value();
  return database->get(entry_id(claim), "somebody").value().has_value();
}

TEST(Confirm, OnlyWhatSaysNoMoreThanTheWitness) {
  const auto gemm = [](double ratio, std::int64_t n = 500) { return nests::entry(nests::gemm, n, reversed, ratio); };
  Entry witness = gemm(2);
  EXPECT_TRUE(confirmed(gemm(2.5), witness));
  EXPECT_TRUE(confirmed(gemm(2.9), witness));
  EXPECT_FALSE(confirmed(gemm(3.1), witness));      // more than twice the gain
  EXPECT_FALSE(confirmed(gemm(0.5), witness));      // the contrary
  EXPECT_FALSE(confirmed(gemm(2, 5000), witness));  // another size class
  EXPECT_FALSE(confirmed(nests::entry(nests::gemm, 500, "reverse(loop=i1) -> cpp"), witness));
  EXPECT_FALSE(confirmed(nests::entry(nests::syrk, 500, reversed), witness));
  Entry claim = gemm(2.5);
  claim.threads = 1;  // the witness needed two
  EXPECT_FALSE(confirmed(claim, witness));
  claim = gemm(2.5);
  claim.sizes = {{"n0", 10}, {"n1", 5000}, {"n2", 2500}};
  EXPECT_FALSE(confirmed(claim, witness));
  claim = gemm(2.5);
  claim.least_extents = {1, 1, 1};
  claim.least_work = 1;
  EXPECT_FALSE(confirmed(claim, witness));
  witness.least_extents = claim.least_extents;
  witness.least_work = claim.least_work;
  EXPECT_TRUE(confirmed(claim, witness));
}

TEST(Confirm, WhatHidesOthersIsConfirmedOnItsOwnClassAlone) {
  Entry claim = nests::entry(nests::gemm, 500, reversed, 0.9), witness = nests::entry(nests::gemm, 500, reversed, 0.8);
  EXPECT_TRUE(confirmed(claim, witness));
  witness.hardware = nests::machine(2);
  EXPECT_FALSE(confirmed(claim, witness));
}

TEST(Confirm, AGainElsewhereCountsAsFarAsItIsBelieved) {
  const Entry claim = nests::entry(nests::gemm, 500, reversed, 2.2);
  Entry witness = nests::entry(nests::gemm, 500, reversed, 2);
  witness.hardware = nests::machine(2);  // fewer cores: believed in full where there are more
  EXPECT_TRUE(confirmed(claim, witness));
  witness.hardware.architecture = "aarch64";
  EXPECT_FALSE(confirmed(claim, witness));
}

TEST_P(SentTest, ARowThatSaysNobodySentItServesNobody) {
  send("desk", entry(2));
  EXPECT_TRUE(open_existing(place).value()->execute("DELETE FROM senders; UPDATE changes SET entries = entries + 1"));
  for (const char* who : {"", "desk", ","}) EXPECT_EQ(answers(who), 0u);
}

TEST_P(SentTest, WritesThatChangeNoEntryMakeNoNewView) {
  const std::string before = database->store().generation().value();
  ledger.add({.id = "01", .name = "farm", .hash = "h", .scopes = {}}).value();
  EXPECT_EQ(database->store().generation().value(), before);
  send("desk", entry(2));
  const std::string sent = database->store().generation().value();
  EXPECT_NE(sent, before);
  EXPECT_FALSE(send("desk", entry(2)));
  EXPECT_EQ(database->store().generation().value(), sent);
  EXPECT_EQ(ledger.writes(10)->size(), 2u);
  EXPECT_EQ(ledger.writes(10)->back().what, "recipes: " + entry_id(entry(2)));
  database->store().remove(entry_id(entry(2))).value();
  EXPECT_NE(database->store().generation().value(), sent);
}

TEST(Proof, WhatIsNoNormalFormOrIllegalIsRefused) {
  EXPECT_TRUE(prove(nests::normal_entry(nests::gemm, 500)));
  EXPECT_EQ(prove(nests::entry(nests::jacobi, 500)).error().code, "entry.normal-form");
  Entry nothing = nests::normal_entry(nests::gemm, 500);
  nothing.tuned_seconds = 0;
  EXPECT_EQ(prove(nothing).error().code, "entry.field");
  EXPECT_EQ(prove(nests::normal_entry(nests::gemm, 500, "reverse(loop=i9) -> cpp")).error().code.substr(0, 8),
            "reverse.");
  // The sum over i1 is in order, unless the build has leave.
  EXPECT_TRUE(prove(nests::normal_entry(nests::gemm, 500, "parallelize(loop=i0) -> openmp")));
}

TEST(Proof, WhatWouldTakeLongIsRefusedAtOnce) {
  std::string text = "sdfg 1 nest\nsymbols n0\narray a0: f64[n0] argument\narguments n0, a0\n\n", sum = "0";
  for (int i = 0; i < 30; ++i) {
    text += "loop i" + std::to_string(i) + " = 0 .. n0 {\n";
    sum += " + i" + std::to_string(i);
  }
  text += "s0: a0[" + sum + "] = 1.0\n" + std::string(30, '}');
  EXPECT_EQ(prove(nests::entry(text, 9)).error().code, "entry.size");
}

SOUS_ON_EACH_STORE(SentTest);

}  // namespace
}  // namespace sous::tuning_db
