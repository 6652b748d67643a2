#include "server/routes.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <thread>
#include <vector>

#include "server/gzip.h"
#include "server/protocol.h"
#include "tests/unit/tuning_db/nests.h"

namespace sous::server {
namespace {

namespace nests = tuning_db::nests;

class RoutesTest : public ::testing::Test {
 protected:
  nests::Folder folder;
  std::unique_ptr<tuning_db::Database> database =
      tuning_db::Database::open({.path = folder / "t.db", .seeds = {}}, nests::machine()).value();
  tuning_db::Ledger ledger{folder / "t.db", [this] { return database->identity(); }};
  Routes routes{*database, ledger};

  Response get(const std::string& path) { return routes.handle({"GET", path, ""}); }
  Response post(const std::string& body) { return routes.handle({"POST", "/v1/query", body}); }
  static std::string code(const Response& response) { return error_from_json(response.body).code; }
  static QueryRequest request() {
    return {
        .hardware = nests::machine(), .k = 3, .nests = {nests::asks(nests::gemm, 500), nests::asks(nests::jacobi, 9)}};
  }
};

TEST_F(RoutesTest, QueryAnswersForEveryNest) {
  const tuning_db::Entry entry = nests::entry(nests::gemm, 500);
  database->store().add(entry).value();
  const Response response = post(to_json(request()));
  ASSERT_EQ(response.status, 200) << response.body;
  const auto reply = query_reply_from_json(response.body);
  ASSERT_TRUE(reply) << reply.error().to_string();
  ASSERT_EQ(reply->matches.size(), 2u);
  ASSERT_EQ(reply->matches[0].size(), 1u);
  const transforms::Match& match = reply->matches[0][0];
  EXPECT_EQ(match.origin, transforms::Origin::Server);
  EXPECT_EQ(match.distance, 0);
  EXPECT_EQ(match.recipe, entry.recipe);
  EXPECT_EQ(match.nest, entry.nest);
  EXPECT_DOUBLE_EQ(match.evidence.ratio(), 2);
  EXPECT_TRUE(reply->matches[1].empty());
}

TEST_F(RoutesTest, TheServerAnswersAsTheDatabaseDoes) {
  for (const auto nest : {nests::gemm, nests::syrk}) database->store().add(nests::entry(nest, 700)).value();
  auto expected = database->query(request().nests, 3).value();
  for (auto& matches : expected)
    for (auto& match : matches) match.origin = transforms::Origin::Server;
  EXPECT_EQ(to_json(QueryReply{expected}) + "\n", post(to_json(request())).body);
}

TEST_F(RoutesTest, WhoAsksForTooMuchIsToldWhenToComeBack) {
  const std::string body = to_json(request());  // of two nests
  const auto ask = [&](Routes& limited, const std::string& path, const std::string& address) {
    return limited.handle({path == "/v1/query" ? "POST" : "GET", path, body, "", address});
  };
  Routes by_requests(*database, ledger, {.rates = {.requests = 2}});
  Routes by_bytes(*database, ledger, {.rates = {.bytes = 1}}), by_nests(*database, ledger, {.rates = {.nests = 2}});
  for (int i = 0; i < 2; ++i) EXPECT_EQ(ask(by_requests, "/v1/query", "a").status, 200);
  const Response refused = ask(by_requests, "/v1/query", "a");
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(code(refused), "request.rate");
  EXPECT_GE(refused.retry_after, 1);
  EXPECT_EQ(ask(by_requests, "/v1/query", "b").status, 200);
  EXPECT_EQ(ask(by_requests, "/healthz", "a").status, 200) << "that is everyone's, always";
  const std::string metrics = ask(by_requests, "/metrics", "a").body;
  EXPECT_NE(metrics.find("sous_limited_total{limit=\"requests\",party=\"address\"} 1\n"), std::string::npos);
  EXPECT_EQ(ask(by_bytes, "/v1/steps", "a").status, 200);
  EXPECT_EQ(ask(by_bytes, "/v1/query", "a").retry_after, 3600) << "what it was given counts, too";
  for (const int wanted : {200, 429}) EXPECT_EQ(ask(by_nests, "/v1/query", "a").status, wanted);
  EXPECT_EQ(ask(by_nests, "/v1/steps", "a").status, 200);
}

TEST_F(RoutesTest, MalformedQueriesAreRefusedWithTheirCode) {
  const std::string good = to_json(request());
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string body = good;
    const std::size_t at = body.find(from);
    SOUS_ASSERT(at != std::string::npos);
    return post(body.replace(at, from.size(), to));
  };
  const auto expect = [](const Response& response, const std::string& wanted) {
    EXPECT_EQ(response.status, 400);
    EXPECT_EQ(code(response), wanted);
  };
  expect(post(""), "request.json");
  expect(post("{\"protocol\":1"), "request.json");
  expect(post("[]"), "request.field");
  expect(post("{}"), "request.field");
  expect(post("\xff\xfe"), "request.json");
  expect(post(std::string(10'000, '[')), "request.budget");
  expect(changed("\"protocol\":1", "\"protocol\":2"), "request.version");
  expect(changed("\"k\":3", "\"k\":1000000"), "request.field");
  expect(changed("\"k\":3", "\"k\":3,\"extra\":0"), "request.field");
  expect(changed("\"cores\":8", "\"cores\":\"8\""), "hardware.field");
  expect(changed("\"sizes\":{\"n0\":500", "\"sizes\":{\"n0\":1e400"), "request.json");
  expect(changed("\"sizes\":{\"n0\":500", "\"sizes\":{\"n0\":0.5"), "request.field");
  const Response nest = changed("\"nest\":{", "\"nest\":{\"other\":1,");
  EXPECT_EQ(nest.status, 400);
  EXPECT_TRUE(code(nest).starts_with("sdfg.")) << nest.body;
}

TEST_F(RoutesTest, NestsOfAbsurdSizeAreNotLookedAt) {
  QueryRequest large = request();
  for (int k = 0; k < 5000; ++k) large.nests[0].nest.symbols.push_back("p" + std::to_string(k));
  EXPECT_EQ(code(post(to_json(large))), "sdfg.size");
}

TEST_F(RoutesTest, EveryTruncationIsRefused) {
  const std::string good = to_json(request());
  for (std::size_t length = 0; length < good.size(); length += 97) EXPECT_EQ(post(good.substr(0, length)).status, 400);
}

TEST_F(RoutesTest, OversizedBodies) {
  const Response response = post(std::string(longest_request + 1, ' '));
  EXPECT_EQ(response.status, 413);
  EXPECT_EQ(code(response), "request.budget");
  QueryRequest many = request();
  std::string values = "[0";
  for (int k = 0; k < 1'000'000; ++k) values += ",{}";
  EXPECT_EQ(code(post("{\"nests\":" + values + "]}")), "request.budget") << "short, and a lot of memory";
  many.nests.assign(most_nests + 1, nests::asks(nests::jacobi, 9));
  EXPECT_EQ(post(to_json(many)).status, 400);
}

TEST_F(RoutesTest, RecipesById) {
  const tuning_db::Entry entry = nests::entry(nests::gemm, 500);
  database->store().add(entry).value();
  EXPECT_EQ(get("/v1/recipes/" + tuning_db::entry_id(entry)).body, tuning_db::to_json(entry) + "\n");
  for (const char* absent :
       {"00000000000000000000000000000000", "zz", "'; DROP TABLE entries; --", "../../etc/passwd"}) {
    const Response response = get(std::string("/v1/recipes/") + absent);
    EXPECT_EQ(response.status, 404);
    EXPECT_EQ(code(response), "recipe.not-found");
  }
}

TEST_F(RoutesTest, StepsAreTheDeclarations) {
  const Response response = get("/v1/steps");
  EXPECT_EQ(response.status, 200);
  EXPECT_NE(response.body.find("\"tile\""), std::string::npos);
  // The API's description knows every member that a parameter has.
  std::stringstream page;
  page << std::ifstream(SOUS_SOURCE_DIR "/docs/openapi.yaml").rdbuf();
  const std::string described = page.str().substr(page.str().find("    StepParameter:\n"));
  const auto answer = nlohmann::json::parse(response.body);
  std::set<std::string> members;
  for (const auto& step : answer.at("steps"))
    for (const auto& parameter : step.at("parameters"))
      for (const auto& [member, value] : parameter.items()) members.insert(member);
  EXPECT_TRUE(members.contains("default") && members.contains("length_of") && members.contains("relation"));
  for (const std::string& member : members)
    EXPECT_NE(described.find("\n        " + member + ":"), std::string::npos) << member;
}

TEST_F(RoutesTest, EachLineOfTheLogIsAnObject) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const auto lines = [&](Log::Level level) {
    {
      Log log(ends[1], level);
      Routes logged(*database, ledger, {.is_private = true});
      logged.log_to(log);
      logged.handle({"GET", "/v1/steps", "", "", "192.0.2.7"});
      logged.handle({"GET", "/secret-path\n", ""});
      logged.handle({"GET", "/v1/map", "", "Bearer sous_secret"});
      log.write("noted", {{"text", "\x1b[2J\xff\n\"" + std::string(9000, 'x')}});
    }
    std::string text(1 << 16, '\0');
    const ssize_t length = ::read(ends[0], text.data(), text.size());
    std::istringstream in(text.substr(0, static_cast<std::size_t>(std::max<ssize_t>(length, 0))));
    std::vector<nlohmann::json> all;
    for (std::string line; std::getline(in, line);) {
      EXPECT_EQ(line.find("secret"), std::string::npos) << line;
      all.push_back(nlohmann::json::parse(line));
    }
    return all;
  };
  const auto requests = lines(Log::Level::requests);
  ASSERT_EQ(requests.size(), 4U);
  EXPECT_EQ(requests[0].at("event"), "request");
  EXPECT_EQ(requests[0].at("route"), "/v1/steps");
  EXPECT_EQ(requests[0].at("address"), "192.0.2.7");
  EXPECT_EQ(requests[1].at("code"), "request.path");
  EXPECT_EQ(requests[2].at("event"), "refused");
  EXPECT_EQ(requests[2].at("code"), "token.unknown");
  const auto events = lines(Log::Level::events);
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].at("event"), "refused");
  EXPECT_EQ(events[1].at("event"), "noted");
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_F(RoutesTest, ALogThatNobodyReadsHoldsUpNobody) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  {
    Log log(ends[1], Log::Level::events);
    for (int n = 0; n < 30'000; ++n) log.write("noted", {{"n", n}, {"text", std::string(100, 'x')}});
  }
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_F(RoutesTest, HealthAndMetrics) {
  EXPECT_EQ(get("/healthz").status, 200);
  EXPECT_EQ(get("/livez").status, 200);
  post("broken");
  get("/nowhere");
  const Response response = get("/metrics");
  EXPECT_EQ(response.content_type, "text/plain; version=0.0.4");
  for (const char* line :
       {"sous_database_entries 0\n", "sous_database_sound 1\n",
        "sous_requests_total{route=\"/v1/query\",status=\"400\"} 1\n",
        "sous_requests_total{route=\"unknown\",status=\"404\"} 1\n", "sous_request_seconds_count 4\n"})
    EXPECT_NE(response.body.find(line), std::string::npos) << line << response.body;
}

TEST_F(RoutesTest, HealthSaysWhatBecameOfTheDatabase) {
  namespace fs = std::filesystem;
  const fs::path path = folder / "t.db", aside = folder / "aside.db", other = folder / "other.db";
  const auto health = [&] { return std::pair(get("/healthz").status, code(get("/healthz"))); };
  fs::rename(path, aside);
  EXPECT_EQ(health(), std::pair(503, std::string("db.gone")));
  ASSERT_TRUE(tuning_db::Store::open({.path = other, .seeds = {}}));
  fs::rename(other, path);
  EXPECT_EQ(health(), std::pair(503, std::string("db.replaced")));
  fs::rename(aside, path);
  EXPECT_EQ(get("/healthz").status, 200);
  const auto size = fs::file_size(path);
  for (const std::uintmax_t cut : {size / 2, std::uintmax_t{50}, std::uintmax_t{0}}) {
    fs::resize_file(path, cut);
    EXPECT_EQ(health(), std::pair(503, std::string("db.corrupt"))) << cut;
  }
}

TEST_F(RoutesTest, UnknownPathsAndMethods) {
  for (const char* path : {"/page", "/page/", "/page/other.js", "/v1", "/v1/recipes/", "/v1/nests/", "/v2/query"}) {
    EXPECT_EQ(get(path).status, 404);
    EXPECT_EQ(code(get(path)), "request.path");
  }
  const Response response = get("/v1/query");
  EXPECT_EQ(response.status, 405);
  EXPECT_EQ(response.allow, "POST");
  EXPECT_EQ(code(response), "request.method");
  EXPECT_EQ(routes.handle({"DELETE", "/v1/steps", ""}).allow, "GET");
}

// Before a body is read, or anybody waited for; what is refused is charged as what is answered.
TEST_F(RoutesTest, WhatTheHeadAloneSaysIsInVain) {
  Routes guarded(*database, ledger, {.is_private = true, .rates = {.requests = 4}});
  const auto refuse = [&](const Request& head) {
    const auto response = guarded.refuse(head);
    return response ? std::to_string(response->status) + " " + code(*response) : "";
  };
  const std::string shown = "Bearer x";
  EXPECT_EQ(refuse({"POST", "/nothing", "", shown}), "404 request.path");
  EXPECT_EQ(refuse({"POST", "/livez", "", shown}), "405 request.method");
  EXPECT_EQ(refuse({"POST", "/v1/query", ""}), "401 token.missing");
  EXPECT_EQ(refuse({"POST", "/v1/jobs/renew", ""}), "401 token.missing");
  EXPECT_EQ(refuse({"POST", "/v1/jobs/renew", ""}), "429 request.rate");
  EXPECT_EQ(refuse({"POST", "/nothing", "", shown}), "429 request.rate");
  for (const Request& head : {Request{"POST", "/v1/jobs/renew", "", shown}, Request{"GET", "/livez", ""},
                              Request{"HEAD", "/healthz", ""}, Request{"GET", "/v1/steps", ""}})
    EXPECT_EQ(refuse(head), "") << head.path;
}

// What would not be decompressed at all is not found to be broken.
TEST_F(RoutesTest, BodiesAreDecompressedWhenItIsKnownWhoAsks) {
  const std::string body = to_json(request());
  const auto ask = [&](Routes& from, const std::string& text, const std::string& token, const std::string& encoding) {
    Request one{"POST", "/v1/query", text, token};
    one.encoding = encoding;
    const Response response = from.handle(one);
    return response.status == 200 ? "200" : std::to_string(response.status) + " " + code(response);
  };
  EXPECT_EQ(ask(routes, gzipped(body).value(), "", "gzip"), "200");
  EXPECT_EQ(ask(routes, body, "", "gzip"), "400 request.http");
  EXPECT_EQ(ask(routes, body, "", "zstd"), "415 request.encoding");
  EXPECT_EQ(ask(routes, body, "Bearer x", "gzip"), "401 token.unknown");
  Routes limited(*database, ledger, {.rates = {.requests = 1}});
  EXPECT_EQ(ask(limited, gzipped(body).value(), "", "gzip"), "200");
  EXPECT_EQ(ask(limited, body, "", "gzip"), "429 request.rate");
  // All that comes out is charged.
  const std::string large = body + std::string(1 << 20, ' ');
  Routes narrow(*database, ledger, {.rates = {.bytes = 100'000}});
  EXPECT_EQ(ask(narrow, gzipped(large).value(), "", "gzip"), "200");
  EXPECT_EQ(ask(narrow, gzipped(body).value(), "", "gzip"), "429 request.rate");
}

TEST_F(RoutesTest, AnOpenServerAnswersEveryoneButWhoShowsAFalseToken) {
  const auto made = new_token("desk", {.bits = 1}).value();
  ledger.add(made.token).value();
  const auto status = [&](const std::string& authorization) {
    const Response response = routes.handle({"POST", "/v1/query", to_json(request()), authorization});
    EXPECT_EQ(response.wants_token, response.status == 401);
    return response.status;
  };
  EXPECT_EQ(status(""), 200);
  EXPECT_EQ(status("Bearer " + made.text), 200);
  EXPECT_EQ(status("bearer " + made.text), 200);
  for (const std::string& other :
       {made.text, "Basic " + made.text, "Bearer  " + made.text, "Bearer " + made.text + "0", std::string("Bearer "),
        "Bearer " + made.text.substr(0, made.text.size() - 1) + (made.text.back() == '0' ? "1" : "0")})
    EXPECT_EQ(status(other), 401) << other;
  ledger.revoke("desk").value();
  EXPECT_EQ(status("Bearer " + made.text), 401);
}

TEST_F(RoutesTest, APrivateServerAnswersReaders) {
  Routes closed(*database, ledger, {.is_private = true});
  const auto answer = [&](const std::string& scopes) {
    const auto made = new_token("a", tuning_db::parse_scopes(scopes).value()).value();
    ledger.add(made.token).value();
    const Response response = closed.handle({"POST", "/v1/query", to_json(request()), "Bearer " + made.text});
    return response.status == 200 ? "" : code(response);
  };
  EXPECT_EQ(answer("read"), "");
  EXPECT_EQ(answer("admin"), "");
  EXPECT_EQ(answer("upload,work"), "token.scope");
  const Response nobody = closed.handle({"GET", "/v1/recipes/0000", "", ""});
  EXPECT_EQ(nobody.status, 401);
  EXPECT_EQ(code(nobody), "token.missing");
  EXPECT_EQ(closed.handle({"GET", "/v1/steps", "", ""}).status, 200);
  EXPECT_EQ(closed.handle({"GET", "/healthz", "", ""}).status, 200);
}

class UploadTest : public RoutesTest {
 protected:
  std::string token(const std::string& name, const std::string& scopes = "upload") {
    const auto made = new_token(name, tuning_db::parse_scopes(scopes).value()).value();
    ledger.add(made.token).value();
    return "Bearer " + made.text;
  }
  Response send(const std::string& body, const std::string& authorization) {
    return routes.handle({"POST", "/v1/recipes", body, authorization});
  }
};

TEST_F(UploadTest, EachEntryStandsForItself) {
  const tuning_db::Entry good = nests::normal_entry(nests::gemm, 500),
                         no_normal_form = nests::entry(nests::jacobi, 500),
                         illegal = nests::normal_entry(nests::gemm, 500, "reverse(loop=i9) -> cpp");
  std::string body = to_json(std::vector{good, no_normal_form, illegal, good});
  const std::string spoilt = body.replace(body.rfind("\"tuned_seconds\":0.05"), 20, "\"tuned_seconds\":0.04");
  const std::string desk = token("desk");
  const auto taken = taken_from_json(send(spoilt, desk).body).value();
  ASSERT_EQ(taken.size(), 4u);
  EXPECT_EQ(taken[0].taken, Taken::added);
  EXPECT_EQ(taken[0].id, tuning_db::entry_id(good));
  EXPECT_EQ(taken[1].error.code, "entry.normal-form");
  EXPECT_EQ(taken[2].error.code.substr(0, 8), "reverse.");
  EXPECT_EQ(taken[3].error.code, "entry.id");
  EXPECT_EQ(taken_from_json(send(to_json(std::vector{good}), desk).body)->at(0).taken, Taken::known);
  const std::string path = "/v1/recipes/" + taken[0].id;
  EXPECT_EQ(routes.handle({"GET", path, "", desk}).status, 200);
  EXPECT_EQ(get(path).status, 404);
  EXPECT_NE(get("/metrics").body.find("sous_sent_entries_total{taken=\"refused\"} 3\n"), std::string::npos);
}

TEST_F(UploadTest, OnlyWhoMayWriteDoes) {
  const std::string body = to_json(std::vector{nests::entry(nests::gemm, 500)});
  EXPECT_EQ(code(send(body, "")), "token.missing");
  EXPECT_EQ(code(send(body, token("reader", "read,work"))), "token.scope");
  Routes closed(*database, ledger, {.read_only = true});
  const Response response = closed.handle({"POST", "/v1/recipes", body, token("desk")});
  EXPECT_EQ(response.status, 403);
  EXPECT_EQ(code(response), "server.read-only");
  EXPECT_EQ(database->entries().value(), 0);
}

TEST_F(UploadTest, MalformedUploadsAreRefused) {
  const std::string desk = token("desk");
  const std::string good = to_json(std::vector{nests::entry(nests::gemm, 500)});
  for (std::size_t length = 0; length < good.size(); length += 97)
    EXPECT_EQ(send(good.substr(0, length), desk).status, 400);
  EXPECT_EQ(send(to_json(std::vector<tuning_db::Entry>(most_entries + 1, nests::entry(nests::gemm, 500))), desk).status,
            400);
  EXPECT_EQ(send(std::string(10'000, '['), desk).status, 413);
  EXPECT_EQ(send(std::string(longest_request + 1, ' '), desk).status, 413);
  EXPECT_EQ(send(to_json(std::vector<tuning_db::Entry>{}), desk).body, "{\"entries\":[],\"protocol\":1}\n");
}

TEST_F(UploadTest, WhatIsWantedIsForWorkers) {
  const tuning_db::Entry e = nests::normal_entry(nests::gemm, 500);
  const WantedRequest request{nests::machine(),
                              {{.nest = e.nest, .structural_hash = e.structural_hash, .sizes = e.sizes}}};
  const std::string desk = token("desk"), worker = token("worker", "work");
  const auto ask = [&](const std::string& method, const std::string& body, const std::string& shown) {
    return routes.handle({method, "/v1/wanted", body, shown});
  };
  EXPECT_EQ(ask("POST", to_json(request), desk).body, "{\"added\":1,\"protocol\":1}\n");
  EXPECT_EQ(ask("POST", to_json(request), desk).body, "{\"added\":0,\"protocol\":1}\n");
  EXPECT_EQ(ask("POST", to_json(request), "").status, 401);
  EXPECT_EQ(code(ask("POST", to_json(request), worker)), "token.scope");
  EXPECT_EQ(code(ask("GET", "", desk)), "token.scope");
  EXPECT_EQ(ask("GET", "", "").status, 401);
  const auto told = nlohmann::json::parse(ask("GET", "", worker).body);
  ASSERT_EQ(told.at("nests").size(), 1u);
  EXPECT_EQ(told.at("nests")[0].at("nest"), nlohmann::json::parse(to_json(request)).at("nests")[0].at("nest"));
  EXPECT_EQ(told.at("nests")[0].at("hardware").at("isa"), "avx2");
  const std::string good = to_json(request);
  for (std::size_t length = 0; length < good.size(); length += 97)
    EXPECT_EQ(ask("POST", good.substr(0, length), desk).status, 400);
  std::string forged = good;
  forged.replace(forged.find(e.structural_hash), 32, std::string(32, '0'));
  EXPECT_EQ(code(ask("POST", forged, desk)), "wanted.nest");
  EXPECT_EQ(routes.handle({"PUT", "/v1/wanted", "", ""}).allow, "POST, GET");
}

TEST_F(UploadTest, PathsWithTwoMethodsNameBoth) {
  EXPECT_EQ(routes.handle({"PUT", "/v1/recipes", "", ""}).allow, "POST");
  EXPECT_EQ(routes.handle({"PUT", "/v1/recipes/0000", "", ""}).allow, "GET");
}

TEST_F(RoutesTest, ThreadsMayAskAtOnce) {
  database->store().add(nests::entry(nests::gemm, 500)).value();
  const std::string body = to_json(request()), expected = post(body).body;
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 10; ++i) EXPECT_EQ(post(body).body, expected);
    });
}

}  // namespace
}  // namespace sous::server
