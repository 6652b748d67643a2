#include "tuning-db/jobs.h"

#include <gtest/gtest.h>

#include "tests/unit/tuning_db/nests.h"
#include "tests/unit/tuning_db/stores.h"
#include "tuning-db/ledger.h"
#include "tuning-db/store.h"

namespace sous::tuning_db {
namespace {

constexpr JobTime start = 1'800'000'000, minute = 60, hour = 3600, day = 24 * hour;

class JobsTest : public stores::OnEach {
 protected:
  Store store = Store::open({.path = place, .seeds = {}}).value();
  Ledger ledger{place};
  JobTime now = start;
  int leases = 0;

  static WantedNest wants(std::string_view nest, std::int64_t n = 500) {
    const Entry e = nests::normal_entry(nest, n);
    return {.nest = e.nest, .structural_hash = e.structural_hash, .sizes = e.sizes};
  }
  void want(std::string_view nest, const std::string& party = "desk", const Hardware& machine = nests::machine()) {
    ledger.want({wants(nest)}, machine, party).value();
  }
  static std::string hash(std::string_view nest) { return wants(nest).structural_hash; }

  Result<std::optional<Job>> ask(const Worker& worker) {
    return ledger.lease(worker, "lease" + std::to_string(++leases), now, minute);
  }
  static Worker worker(const std::string& party = "farm", const Hardware& machine = nests::machine()) {
    return {.party = party, .hardware = machine, .targets = {"cpp", "openmp"}};
  }
  std::optional<Job> lease(const std::string& party = "farm", const Hardware& machine = nests::machine()) {
    return ask(worker(party, machine)).value();
  }
  // "tune <hash>" of what a worker gets, or "".
  std::string next(const std::string& party = "farm", const Hardware& machine = nests::machine()) {
    const auto job = lease(party, machine);
    return job ? std::string(to_string(job->kind)) + " " + job->structural_hash : "";
  }
  Result<void> finish(const Job& job, JobOutcome outcome, const std::vector<std::string>& entries = {},
                      const std::string& party = "farm") {
    return ledger.finish(job.lease, party, outcome, entries, outcome == JobOutcome::failed ? "measure.run" : "", now);
  }
  std::string send(const Entry& entry, const std::string& party) {
    ledger.send({entry}, party, *static_embedding()).value();
    return entry_id(entry);
  }
  std::int64_t count(const std::string& state) { return ledger.job_counts(now)->at(state); }
};

TEST_P(JobsTest, AWantedNestIsGivenToOneWorkerAsItIsWanted) {
  want(nests::gemm);
  EXPECT_EQ(count("waiting"), 1);
  const auto job = lease();
  ASSERT_TRUE(job);
  EXPECT_EQ(job->kind, JobKind::tune);
  EXPECT_EQ(job->structural_hash, hash(nests::gemm));
  EXPECT_EQ(job->sizes_json, "{\"n0\":500,\"n1\":500,\"n2\":500}");
  EXPECT_EQ(job->hardware_class, hardware_class(nests::machine()));
  EXPECT_EQ(job->build.isa, Isa::avx2);
  EXPECT_EQ(job->build.threads, 8);
  EXPECT_FALSE(lease("other"));
  EXPECT_EQ(count("waiting"), 0);
  EXPECT_EQ(count("leased"), 1);
  const auto states = ledger.jobs(now).value();
  ASSERT_EQ(states.size(), 1u);
  EXPECT_EQ(states[0].state, "leased");
  EXPECT_EQ(states[0].worker, "farm");
  EXPECT_EQ(ledger.writes(9)->back().what,
            "job: tune " + hash(nests::gemm) + " for " + hardware_class(nests::machine()) + " leased");
}

TEST_P(JobsTest, AJobReturnsWhenItsWorkerSaysNothing) {
  want(nests::gemm);
  const auto first = lease();
  now += minute - 1;
  EXPECT_FALSE(lease("other"));
  ledger.renew(first->lease, "farm", now, minute).value();
  now += minute - 1;
  EXPECT_FALSE(lease("other"));
  now += 1;
  EXPECT_EQ(count("lost"), 1);
  const auto second = lease("other");
  ASSERT_TRUE(second);
  EXPECT_EQ(ledger.renew(first->lease, "farm", now, minute).error().code, "job.lease");
  EXPECT_EQ(finish(*first, JobOutcome::nothing).error().code, "job.lease");
  EXPECT_TRUE(finish(*second, JobOutcome::nothing, {}, "other"));
}

TEST_P(JobsTest, WhoIsLateButAloneGoesOn) {
  want(nests::gemm);
  const auto job = lease();
  now += hour;
  EXPECT_TRUE(ledger.renew(job->lease, "farm", now, minute));
  EXPECT_FALSE(lease("other"));
  now += hour;
  EXPECT_TRUE(finish(*job, JobOutcome::nothing));
}

TEST_P(JobsTest, WhatKillsWorkersRestsTheLongerTheMoreItKilled) {
  want(nests::gemm);
  for (const JobTime rest : {JobTime{0}, hour, 4 * hour, 16 * hour}) {
    ASSERT_TRUE(lease());
    now += minute + rest - 1;
    EXPECT_FALSE(lease()) << rest;
    now += 1;
  }
  ASSERT_TRUE(lease());
}

TEST_P(JobsTest, WhatWasTriedWithoutAResultRestsOnItsClass) {
  want(nests::gemm);
  const Hardware large = nests::machine(16);
  for (const JobTime rest : {7 * day, 14 * day, 28 * day, 56 * day, 60 * day, 60 * day}) {
    const auto job = lease();
    ASSERT_TRUE(job) << rest / day;
    finish(*job, JobOutcome::nothing).value();
    now += rest - 1;
    EXPECT_FALSE(lease()) << rest / day;
    now += 1;
  }
  // As if it had eight cores, the larger machine is of the same class; one with another cache is not.
  finish(*lease(), JobOutcome::nothing).value();
  EXPECT_FALSE(lease("farm", large));
  Hardware other = large;
  other.l2_bytes = 2 << 20;
  EXPECT_TRUE(lease("farm", other));
}

TEST_P(JobsTest, WhatFailedIsTriedSoonerAndWhatIsReturnedAtOnce) {
  want(nests::gemm);
  for (const JobTime rest : {hour, 4 * hour}) {
    const auto job = lease();
    finish(*job, JobOutcome::failed).value();
    EXPECT_EQ(ledger.jobs(now)->at(0).code, "measure.run");
    now += rest - 1;
    EXPECT_FALSE(lease());
    now += 1;
  }
  for (int i = 0; i < 3; ++i) {
    const auto job = lease();
    ASSERT_TRUE(job);
    finish(*job, JobOutcome::returned).value();
  }
  EXPECT_EQ(ledger.jobs(now)->at(0).tries, 2);
}

TEST_P(JobsTest, AClockThatGoesBackHoldsNobodyUp) {
  want(nests::gemm);
  const auto job = lease();
  now -= day;
  const auto again = lease();
  ASSERT_TRUE(again);
  finish(*again, JobOutcome::nothing).value();
  now -= 365 * day;
  EXPECT_TRUE(lease());
}

TEST_P(JobsTest, ClassesAreRespected) {
  Hardware narrow = nests::machine(), small = nests::machine(4), tiny = nests::machine(3), arm = nests::machine(),
           caches = nests::machine();
  narrow.isa = Isa::sse;
  arm.architecture = "aarch64";
  caches.l2_bytes = 8 << 20;
  want(nests::gemm);
  for (const Hardware& other : {narrow, tiny, arm, caches}) EXPECT_EQ(next("farm", other), "") << to_json(other);
  Hardware wide = nests::machine(64);
  wide.isa = Isa::avx512;
  const auto job = lease("farm", wide);
  ASSERT_TRUE(job);
  EXPECT_EQ(job->build.isa, Isa::avx2);
  EXPECT_EQ(job->build.cores, 8);
  EXPECT_EQ(job->hardware_class, hardware_class(nests::machine()));
  finish(*job, JobOutcome::returned).value();
  EXPECT_EQ(lease("farm", small)->hardware_class, hardware_class(small));
}

TEST_P(JobsTest, WhatWasFoundForALikeClassIsLeftToTheVeryClass) {
  want(nests::gemm);
  const Hardware small = nests::machine(4);
  const auto job = lease("farm", small);
  Entry found = nests::normal_entry(nests::gemm, 500);
  found.hardware = small;
  finish(*job, JobOutcome::found, {send(found, "farm")}).value();
  EXPECT_EQ(next("farm", nests::machine(6)), "");
  const auto exact = lease("farm");
  ASSERT_TRUE(exact);
  finish(*exact, JobOutcome::found, {send(nests::normal_entry(nests::gemm, 500), "farm")}).value();
  now += 90 * day;
  EXPECT_EQ(next("farm"), "");
}

TEST_P(JobsTest, TheHottestComesFirstAndPartiesTakeTurns) {
  want(nests::jacobi);
  want(nests::syrk);
  want(nests::gemm);
  want(nests::jacobi, "lab");
  EXPECT_EQ(next(), "tune " + hash(nests::jacobi));  // two want it
  EXPECT_EQ(next(), "tune " + hash(nests::gemm));
  ledger.want({wants(nests::jacobi, 50)}, nests::machine(), "late").value();
  const auto job = lease();
  EXPECT_EQ(job->sizes_json, "{\"n0\":50}");
  EXPECT_EQ(next(), "tune " + hash(nests::syrk));
}

TEST_P(JobsTest, AClaimIsMeasuredByAnotherPartysWorker) {
  Entry claim = nests::normal_entry(nests::gemm, 500, "reverse(loop=i0) -> cpp", 40);
  const std::string id = send(claim, "desk");
  want(nests::gemm);
  EXPECT_EQ(next("desk"), "");  // it serves them as it is
  EXPECT_EQ(count("waiting"), 2);
  const auto job = lease("farm");
  ASSERT_TRUE(job);
  EXPECT_EQ(job->kind, JobKind::measure);
  ASSERT_TRUE(job->entry);
  EXPECT_EQ(*job->entry, claim);
  EXPECT_EQ(job->build.threads, 2);  // as the claim has
  EXPECT_EQ(job->build.cores, 8);
  EXPECT_FALSE(lease("lab"));  // nor is the nest tuned meanwhile
  Entry measured = claim;
  measured.tuned_seconds = claim.baseline_seconds / 30;
  finish(*job, JobOutcome::found, {send(measured, "farm")}).value();
  for (const Summary& entry : store.list().value()) EXPECT_FALSE(entry.only_for) << entry.id;
  EXPECT_FALSE(lease("lab"));
}

TEST_P(JobsTest, AForgedClaimHidesNothing) {
  const std::string id = send(nests::normal_entry(nests::gemm, 500, "reverse(loop=i0) -> cpp", 40), "desk");
  want(nests::gemm);
  const auto job = lease("farm");
  finish(*job, JobOutcome::found, {send(nests::normal_entry(nests::gemm, 500, "reverse(loop=i0) -> cpp", 0.5), "farm")})
      .value();
  EXPECT_EQ(store.with_ids({id})->front().only_for, "desk");
  EXPECT_EQ(next("farm"), "tune " + hash(nests::gemm));
}

TEST_P(JobsTest, OneQuestionIsAskedOnceHoweverOftenItIsClaimed) {
  for (const double ratio : {2.0, 2.1, 2.2}) {
    send(nests::normal_entry(nests::gemm, 500, "reverse(loop=i0) -> cpp", ratio), "desk");
  }
  send(nests::normal_entry(nests::syrk, 500, "reverse(loop=i0) -> cpp", 1.5), "lab");
  send(nests::normal_entry(nests::jacobi, 500, "reverse(loop=i0) -> cpp", 0.9), "lab");  // nobody needs to know
  EXPECT_EQ(next(), "measure " + hash(nests::gemm));
  EXPECT_EQ(next(), "measure " + hash(nests::syrk));
  EXPECT_EQ(next(), "");
}

TEST_P(JobsTest, ClaimsAndNestsTakeTurnsAndSoDoThoseWhoClaim) {
  for (const auto* recipe : {"reverse(loop=i0) -> cpp", "reverse(loop=i1) -> cpp", "reverse(loop=i2) -> cpp"})
    send(nests::normal_entry(nests::gemm, 500, recipe, 90), "stranger");
  for (const auto* recipe : {"reverse(loop=i0) -> cpp", "reverse(loop=i1) -> cpp"})
    send(nests::normal_entry(nests::syrk, 500, recipe, 2), "desk");
  want(nests::jacobi);
  EXPECT_EQ(next(), "measure " + hash(nests::syrk));
  EXPECT_EQ(next(), "tune " + hash(nests::jacobi));
  EXPECT_EQ(next(), "measure " + hash(nests::gemm));  // two jobs were for desk
  EXPECT_EQ(next(), "measure " + hash(nests::gemm));
  EXPECT_EQ(next(), "measure " + hash(nests::syrk));
  EXPECT_EQ(next(), "measure " + hash(nests::gemm));
  EXPECT_EQ(next(), "");
}

TEST_P(JobsTest, AWorkerGetsWhatItCanDo) {
  send(nests::normal_entry(nests::gemm, 500, "reverse(loop=i0) -> highway"), "desk");
  Entry slow = nests::normal_entry(nests::syrk, 500);
  slow.baseline_seconds = 30;
  send(slow, "desk");
  want(nests::jacobi);
  Worker some = worker();
  some.tunes = false;
  EXPECT_FALSE(ask(some).value());
  some.seconds = 1000;
  EXPECT_TRUE(ask(some).value());
  some.targets.emplace_back("highway");
  EXPECT_TRUE(ask(some).value());
  some.tunes = true;
  some.measures = false;
  EXPECT_EQ(ask(some).value()->kind, JobKind::tune);
}

TEST_P(JobsTest, WhatWasFoundIsThereAndAboutTheJob) {
  want(nests::gemm);
  const auto job = lease();
  EXPECT_EQ(finish(*job, JobOutcome::found).error().code, "job.entries");
  EXPECT_EQ(finish(*job, JobOutcome::found, {std::string(32, '0')}).error().code, "job.entries");
  EXPECT_EQ(finish(*job, JobOutcome::found, {send(nests::normal_entry(nests::syrk, 500), "farm")}).error().code,
            "job.entries");
  const std::string others = send(nests::normal_entry(nests::gemm, 500), "desk");
  EXPECT_EQ(finish(*job, JobOutcome::found, {others}).error().code, "job.entries");
  EXPECT_EQ(finish(*job, JobOutcome::nothing, {}, "desk").error().code, "job.lease");
  EXPECT_TRUE(finish(*job, JobOutcome::found, {send(nests::normal_entry(nests::gemm, 500), "farm")}));
  EXPECT_EQ(finish(*job, JobOutcome::nothing).error().code, "job.lease");
}

TEST_P(JobsTest, AClassFromWhichSomethingIsWantedIsCalibratedLast) {
  const Hardware large = nests::machine(64);
  for (const double ratio : {3.0, 4.0})
    store.add(nests::normal_entry(nests::gemm, 500, "reverse(loop=i0) -> cpp", ratio)).value();
  store.add(nests::normal_entry(nests::syrk, 500, "reverse(loop=i0) -> cpp", 8)).value();
  store.add(nests::normal_entry(nests::syrk, 500, "reverse(loop=i1) -> cpp", 1.01)).value();   // no gain
  store.add(nests::normal_entry(nests::syrk, 500, "reverse(loop=i1) -> highway", 9)).value();  // not this worker's
  send(nests::normal_entry(nests::jacobi, 500, "reverse(loop=i0) -> cpp", 20), "desk");        // nobody confirmed it
  EXPECT_EQ(next("farm", large), "measure " + hash(nests::jacobi));
  EXPECT_EQ(next("farm", large), "");  // nobody builds there
  want(nests::jacobi, "desk", large);
  EXPECT_EQ(next("farm", large), "tune " + hash(nests::jacobi));
  const auto job = lease("farm", large);
  ASSERT_TRUE(job);
  EXPECT_EQ(job->kind, JobKind::calibrate);
  EXPECT_EQ(job->structural_hash, hash(nests::syrk));
  EXPECT_EQ(job->hardware_class, hardware_class(large));
  EXPECT_EQ(job->build.threads, 2);
  ASSERT_TRUE(job->entry);
  EXPECT_EQ(next("lab", large), "calibrate " + hash(nests::gemm));  // however often it was measured elsewhere
  EXPECT_EQ(next("lab", large), "");
  Entry measured = nests::normal_entry(nests::syrk, 500, "reverse(loop=i0) -> cpp", 0.9);
  measured.hardware = large;
  finish(*job, JobOutcome::found, {send(measured, "farm")}).value();
  now += 60 * day;
  EXPECT_EQ(next("farm", large), "measure " + hash(nests::jacobi));
  EXPECT_EQ(next("farm", large), "tune " + hash(nests::jacobi));
  EXPECT_EQ(next("farm", large), "calibrate " + hash(nests::gemm));  // its worker died; of syrk it is known
  EXPECT_EQ(next("farm", large), "");
  Worker tuner = worker("lab", large);
  now += 60 * day;
  tuner.measures = false;
  EXPECT_EQ(ask(tuner).value()->kind, JobKind::tune);
  EXPECT_FALSE(ask(tuner).value());
}

TEST_P(JobsTest, APartyHoldsSoManyAndNoMore) {
  std::vector<WantedNest> many;
  for (int i = 0; i < 16; ++i) many.push_back(wants(nests::gemm, 4 << i));
  for (int cores = 8; cores <= 16; ++cores) ledger.want(many, nests::machine(cores), "desk").value();
  for (int i = 0; i < most_leases; ++i) ASSERT_TRUE(lease("farm", nests::machine(16))) << i;
  EXPECT_EQ(ask(worker("farm", nests::machine(16))).error().code, "job.quota");
  EXPECT_TRUE(lease("other", nests::machine(16)));
  now += minute;
  EXPECT_TRUE(lease("farm", nests::machine(16)));
}

TEST_P(JobsTest, LeasesOutliveTheServer) {
  want(nests::gemm);
  const auto job = lease();
  Ledger other(place);
  EXPECT_FALSE(other.lease(worker("lab"), "next", now, minute).value());
  EXPECT_TRUE(other.finish(job->lease, "farm", JobOutcome::nothing, {}, "", now));
}

SOUS_ON_EACH_STORE(JobsTest);

}  // namespace
}  // namespace sous::tuning_db
