// The routes of workers, and what is said over them.
#include <gtest/gtest.h>

#include "server/job_protocol.h"
#include "server/protocol.h"
#include "server/routes.h"
#include "tests/unit/tuning_db/nests.h"

namespace sous::server {
namespace {

namespace nests = tuning_db::nests;

class JobRoutesTest : public ::testing::Test {
 protected:
  nests::Folder folder;
  std::unique_ptr<tuning_db::Database> database =
      tuning_db::Database::open({.path = folder / "t.db", .seeds = {}}, nests::machine()).value();
  tuning_db::Ledger ledger{folder / "t.db"};
  Routes routes{*database, ledger};
  const std::string farm = token("farm", "work,upload"), desk = token("desk", "upload");

  std::string token(const std::string& name, const std::string& scopes) {
    const auto made = new_token(name, tuning_db::parse_scopes(scopes).value()).value();
    ledger.add(made.token).value();
    return "Bearer " + made.text;
  }
  Response post(const std::string& path, const std::string& body, const std::string& shown) {
    return routes.handle({"POST", "/v1/jobs/" + path, body, shown});
  }
  static std::string code(const Response& response) { return error_from_json(response.body).code; }
  static tuning_db::Worker worker() {
    return {.party = {}, .hardware = nests::machine(), .targets = {"cpp"}, .seconds = 60};
  }
  LeaseReply lease() {
    const Response response = post("lease", to_json(worker()), farm);
    EXPECT_EQ(response.status, 200) << response.body;
    const auto reply = lease_reply_from_json(response.body);
    EXPECT_TRUE(reply) << reply.error().to_string();
    return reply.value_or(LeaseReply{});
  }
  void want(std::string_view nest) {
    const auto e = nests::normal_entry(nest, 500);
    ledger.want({{.nest = e.nest, .structural_hash = e.structural_hash, .sizes = e.sizes}}, nests::machine(), "desk")
        .value();
  }
  Response done(const DoneRequest& request) { return post("done", to_json(request), farm); }
};

TEST_F(JobRoutesTest, AJobFromBeginToEnd) {
  const LeaseReply nothing = lease();
  EXPECT_FALSE(nothing.job);
  EXPECT_EQ(nothing.retry_seconds, 10);
  want(nests::gemm);
  const LeaseReply reply = lease();
  ASSERT_TRUE(reply.job);
  const LeasedJob& job = *reply.job;
  EXPECT_EQ(job.seconds, 60);
  EXPECT_EQ(job.build.isa, tuning_db::Isa::avx2);
  EXPECT_EQ(job.build.threads, 8);
  ASSERT_TRUE(job.wanted);
  const tuning_db::Entry found = nests::normal_entry(nests::gemm, 500);
  EXPECT_EQ(job.wanted->nest, found.nest);
  EXPECT_EQ(job.wanted->sizes, found.sizes);
  EXPECT_EQ(post("renew", renew_json(job.lease), farm).body, "{\"protocol\":1,\"seconds\":60}\n");
  EXPECT_FALSE(lease().job);
  const DoneRequest request{
      .lease = job.lease, .outcome = tuning_db::JobOutcome::found, .entries = {tuning_db::entry_id(found)}};
  EXPECT_EQ(code(done(request)), "job.entries");
  ASSERT_EQ(routes.handle({"POST", "/v1/recipes", to_json(std::vector{found}), farm}).status, 200);
  EXPECT_EQ(done(request).status, 200);
  const Response late = done(request);
  EXPECT_EQ(late.status, 409);
  EXPECT_EQ(code(late), "job.lease");
  EXPECT_EQ(post("renew", renew_json(job.lease), farm).status, 409);
  const std::string metrics = routes.handle({"GET", "/metrics", ""}).body;
  EXPECT_NE(metrics.find("sous_jobs{state=\"found\"} 1\n"), std::string::npos) << metrics;
  EXPECT_NE(metrics.find("sous_finished_jobs_total{outcome=\"found\"} 1\n"), std::string::npos) << metrics;
  const std::string told = routes.handle({"GET", "/v1/jobs", "", farm}).body;
  EXPECT_NE(told.find("\"state\":\"found\""), std::string::npos) << told;
}

TEST_F(JobRoutesTest, AClaimIsToldWhole) {
  const tuning_db::Entry claim = nests::normal_entry(nests::syrk, 500);
  ledger.send({claim}, "desk", *tuning_db::static_embedding()).value();
  const LeaseReply reply = lease();
  ASSERT_TRUE(reply.job);
  EXPECT_EQ(reply.job->entry, claim);
  EXPECT_EQ(reply.job->build.threads, 2);
}

TEST_F(JobRoutesTest, OnlyWhoMayWorkDoes) {
  for (const char* path : {"lease", "renew", "done"}) {
    EXPECT_EQ(post(path, to_json(worker()), "").status, 401) << path;
    EXPECT_EQ(code(post(path, to_json(worker()), desk)), "token.scope") << path;
    EXPECT_EQ(routes.handle({"GET", std::string("/v1/jobs/") + path, "", farm}).status, 405) << path;
  }
  EXPECT_EQ(code(routes.handle({"GET", "/v1/jobs", "", desk})), "token.scope");
  Routes closed(*database, ledger, {.read_only = true});
  EXPECT_EQ(code(closed.handle({"POST", "/v1/jobs/lease", to_json(worker()), farm})), "server.read-only");
  EXPECT_EQ(Routes::lane({"POST", "/v1/jobs/lease", ""}), Lane::write);
}

TEST_F(JobRoutesTest, WhatIsSaidWrongIsRefused) {
  want(nests::gemm);
  const std::string asks = to_json(worker());
  for (std::size_t length = 0; length < asks.size(); ++length)
    EXPECT_EQ(post("lease", asks.substr(0, length), farm).status, 400);
  const auto changed = [](std::string text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    SOUS_ASSERT(at != std::string::npos);
    return text.replace(at, from.size(), to);
  };
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{{"\"tune\"", "\"sleep\""},
                                                                                 {"[\"cpp\"]", "[1]"},
                                                                                 {"\"seconds\":60", "\"seconds\":-1"},
                                                                                 {"\"cpp\"]", "\"cpp\"],\"more\":1"}})
    EXPECT_EQ(code(post("lease", changed(asks, from, to), farm)), "request.field") << from;
  EXPECT_EQ(code(post("lease", changed(asks, "\"cores\":8", "\"cores\":0"), farm)), "hardware.field");
  EXPECT_EQ(post("lease", std::string(100'000, ' '), farm).status, 413);
  const std::string lease(32, 'a');
  const std::string says = to_json(DoneRequest{.lease = lease, .outcome = tuning_db::JobOutcome::nothing});
  EXPECT_EQ(post("done", says, farm).status, 409);
  EXPECT_EQ(code(post("done", changed(says, "nothing", "better"), farm)), "request.field");
  EXPECT_EQ(code(post("done", changed(says, "aaaa", "'; -"), farm)), "request.field");
  EXPECT_EQ(code(post("done", changed(says, "}", ",\"entries\":[1]}"), farm)), "request.field");
  EXPECT_EQ(code(post("done", changed(says, "}", ",\"code\":\"\\u001b[2J\"}"), farm)), "request.field");
  EXPECT_EQ(code(post("renew", changed(renew_json(lease), "\"protocol\":1", "\"protocol\":2"), farm)),
            "request.version");
  EXPECT_EQ(ledger.jobs(0)->size(), 0u);
}

TEST(JobProtocol, AServersJobIsReadStrictly) {
  const tuning_db::Entry e = nests::normal_entry(nests::gemm, 500);
  tuning_db::Job job;
  job.lease = std::string(32, 'b');
  job.kind = tuning_db::JobKind::measure;
  job.hardware_class = "c";
  job.entry = e;
  const std::string good = lease_reply_json(job, 60, 10);
  ASSERT_TRUE(lease_reply_from_json(good)) << lease_reply_from_json(good).error().to_string();
  const auto refused = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const std::size_t at = text.find(from);
    SOUS_ASSERT(at != std::string::npos);
    const auto reply = lease_reply_from_json(text.replace(at, from.size(), to));
    return !reply ? "no lease: " + reply.error().code : reply->unreadable ? reply->unreadable->error.code : "";
  };
  EXPECT_EQ(refused("\"seconds\":60", "\"seconds\":0"), "reply.field");
  EXPECT_EQ(refused("\"cores\":1,", "\"cores\":-1,"), "reply.field");
  EXPECT_EQ(refused("\"threads\":1}", "\"threads\":2}"), "reply.field");
  EXPECT_EQ(refused("\"isa\":\"scalar\"", "\"isa\":\"mmx\""), "reply.field");
  EXPECT_EQ(refused("\"tuned_seconds\":0.05", "\"tuned_seconds\":0.04"), "entry.id");
  EXPECT_EQ(refused("\"lease\":\"b", "\"lease\":\"x"), "no lease: reply.field");
  for (std::size_t length = 0; length < good.size(); length += 61)
    EXPECT_FALSE(lease_reply_from_json(good.substr(0, length)));
  job.entry.reset();
  job.nest_json = "no nest";
  EXPECT_FALSE(lease_reply_from_json(lease_reply_json(job, 60, 10))->job);  // a row may be anything
}

}  // namespace
}  // namespace sous::server
