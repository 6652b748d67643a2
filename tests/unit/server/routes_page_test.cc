// The page's routes: what they answer, and to whom.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "sdfg/text.h"
#include "server/catalogue.h"
#include "server/page_files.h"
#include "server/protocol.h"
#include "server/routes.h"
#include "tests/unit/tuning_db/nests.h"

namespace sous::server {
namespace {

namespace nests = tuning_db::nests;
using Json = nlohmann::json;

class PageRoutes : public ::testing::Test {
 protected:
  nests::Folder folder;
  std::unique_ptr<tuning_db::Database> database =
      tuning_db::Database::open({.path = folder / "t.db", .seeds = {}}, nests::machine()).value();
  tuning_db::Ledger ledger{folder / "t.db", [this] { return database->identity(); }};
  Routes routes{*database, ledger};

  std::string token(const std::string& name, const std::string& scopes) {
    const auto made = new_token(name, tuning_db::parse_scopes(scopes).value()).value();
    ledger.add(made.token).value();
    return "Bearer " + made.text;
  }
  Response get(const std::string& path, const std::string& query = "", const std::string& authorization = "") {
    return routes.handle({.method = "GET", .path = path, .body = "", .authorization = authorization, .query = query});
  }
  Json json(const std::string& path, const std::string& query = "", const std::string& authorization = "") {
    const Response response = get(path, query, authorization);
    EXPECT_EQ(response.status, 200) << response.body;
    return Json::parse(response.body);
  }
  static std::string code(const Response& response) { return error_from_json(response.body).code; }
};

TEST_F(PageRoutes, ThePageIsEveryonesAndLoadsNothingFromElsewhere) {
  Routes closed(*database, ledger, {.is_private = true});
  const Response page = closed.handle({"GET", "/", ""});
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.content_type, "text/html; charset=utf-8");
  const auto header = [](const Response& response, const std::string& name) -> std::string {
    for (const auto& [key, value] : response.headers)
      if (key == name) return value;
    return "";
  };
  const std::string policy = header(page, "Content-Security-Policy");
  for (const char* part : {"default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "base-uri 'none'"})
    EXPECT_NE(policy.find(part), std::string::npos) << policy;
  EXPECT_EQ(policy.find("unsafe"), std::string::npos);
  for (const char* outside : {"http://", "https://", "style=", "onclick", "<style"})
    EXPECT_EQ(page.body.find(outside), std::string::npos) << outside;
  Request again{"GET", "/", ""};
  again.if_none_match = header(page, "ETag");
  EXPECT_EQ(routes.handle(again).status, 304);
  EXPECT_EQ(routes.handle(again).body, "");
  again.if_none_match = "\"other\"";
  EXPECT_EQ(routes.handle(again).body, page.body);
  EXPECT_EQ(get("/page/main.js").content_type, "text/javascript; charset=utf-8");
  EXPECT_NE(get("/page/main.js").body, "");
}

// What a script names, the program has.
TEST_F(PageRoutes, WhatThePageNamesIsThere) {
  for (const EmbeddedFile& file : std::span(embedded_files, embedded_count)) {
    const std::string text(file.text);
    for (const std::string& mark : {std::string("from \"./"), std::string("\"/page/")})
      for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + 1)) {
        const std::size_t begin = at + mark.size();
        const std::string name = text.substr(begin, text.find('"', begin) - begin);
        EXPECT_NE(find_page_file(name), nullptr) << file.name << " names " << name;
      }
    EXPECT_EQ(text.find("innerHTML"), std::string::npos) << file.name;
  }
}

TEST_F(PageRoutes, TheMapHasEachNestOnce) {
  EXPECT_TRUE(json("/v1/map").at("nests").empty());
  for (const int n : {500, 900}) database->store().add(nests::entry(nests::gemm, n)).value();
  database->store().add(nests::entry(nests::jacobi, 500)).value();
  const Json map = json("/v1/map");
  ASSERT_EQ(map.at("nests").size(), 2u);
  std::map<std::string, std::size_t> entries;
  for (const Json& nest : map.at("nests")) entries[nest.at("family")] = nest.at("entries");
  EXPECT_EQ(entries, (std::map<std::string, std::size_t>{{"product", 2}, {"stencil", 1}}));
  EXPECT_EQ(map.at("complete"), true);
  EXPECT_EQ(map.at("families").size(), tuning_db::families().size());
}

TEST_F(PageRoutes, NestsAreFoundByNameHashAndId) {
  tuning_db::Entry entry = nests::entry(nests::gemm, 500);
  entry.name = "Gemm <b>#1";
  database->store().add(entry).value();
  database->store().add(nests::entry(nests::jacobi, 500)).value();
  const auto found = [&](const std::string& query) {
    std::vector<std::string> hashes;
    const Json answer = json("/v1/nests", query);
    for (const Json& nest : answer.at("nests")) hashes.push_back(nest.at("hash"));
    return hashes;
  };
  const std::vector<std::string> only{entry.structural_hash};
  EXPECT_EQ(found("").size(), 2u);
  EXPECT_EQ(found("q=gEMM"), only);
  EXPECT_EQ(found("q=Gemm+%3Cb%3E"), only);
  EXPECT_EQ(found("q=" + entry.structural_hash.substr(0, 9)), only);
  EXPECT_EQ(found("q=" + tuning_db::entry_id(entry).substr(0, 9)), only);
  EXPECT_TRUE(found("q=nowhere").empty());
  EXPECT_TRUE(found("after=" + std::string(32, 'f')).empty());
  for (const char* query : {"k=3", "after=zz", "q=%zz"}) EXPECT_EQ(get("/v1/nests", query).status, 400) << query;
  EXPECT_EQ(get("/v1/nests", "q=" + std::string(300, 'x')).status, 400);
}

TEST_F(PageRoutes, LongListsAreAskedForPieceByPiece) {
  for (int n = 0; n < 103; ++n) {
    std::string text(nests::jacobi);
    text.replace(text.find("0.2"), 3, "0." + std::to_string(1000 + n));
    database->store().add(nests::entry(text, 500)).value();
  }
  const Json first = json("/v1/nests");
  EXPECT_EQ(first.at("nests").size(), 100u);
  const std::string next = first.at("next");
  EXPECT_EQ(first.at("nests").back().at("hash"), next);
  const Json rest = json("/v1/nests", "after=" + next);
  EXPECT_EQ(rest.at("nests").size(), 3u);
  EXPECT_FALSE(rest.contains("next"));
}

TEST_F(PageRoutes, OneNestWithItsMeasurements) {
  const tuning_db::Entry entry = nests::entry(nests::gemm, 500);
  database->store().add(entry).value();
  database->store().add(nests::entry(nests::gemm, 900)).value();
  const Json nest = json("/v1/nests/" + entry.structural_hash);
  EXPECT_EQ(nest.at("text"), sdfg::print(entry.nest));
  EXPECT_EQ(nest.at("measurements").size(), 2u);
  EXPECT_EQ(nest.at("recipes").size(), 1u);
  EXPECT_EQ(nest.at("recipes")[0], Json::parse(transforms::to_json(entry.recipe)));
  EXPECT_EQ(nest.at("measurements")[0].at("machine"), hardware_class(entry.hardware));
  const Response picture = get("/v1/pictures/" + entry.structural_hash);
  EXPECT_EQ(picture.content_type, "image/svg+xml");
  EXPECT_TRUE(picture.body.starts_with("<svg "));
  ASSERT_FALSE(picture.headers.empty());
  for (const char* path : {"/v1/nests/", "/v1/pictures/"}) {
    EXPECT_EQ(code(get(path + std::string(32, '0'))), "nest.not-found");
    EXPECT_EQ(get(path + std::string("../../etc/passwd")).status, 404);
  }
}

TEST_F(PageRoutes, WhatOnePartySentIsShownToItAlone) {
  const tuning_db::Entry entry = nests::entry(nests::gemm, 500);
  ledger.send({entry}, "desk", *tuning_db::static_embedding()).value();
  const std::string desk = token("desk", "read"), farm = token("farm", "read");
  const std::string hash = entry.structural_hash;
  for (const std::string& who : {std::string(), farm}) {
    EXPECT_TRUE(json("/v1/map", "", who).at("nests").empty());
    EXPECT_TRUE(json("/v1/nests", "q=" + hash, who).at("nests").empty());
    EXPECT_TRUE(json("/v1/machines", "", who).at("machines").empty());
    EXPECT_EQ(get("/v1/nests/" + hash, "", who).status, 404);
    EXPECT_EQ(get("/v1/pictures/" + hash, "", who).status, 404);
  }
  EXPECT_EQ(json("/v1/map", "", desk).at("nests").size(), 1u);
  EXPECT_EQ(json("/v1/nests/" + hash, "", desk).at("entries"), 1);
  EXPECT_EQ(get("/v1/pictures/" + hash, "", desk).status, 200);
}

// Where a search goes on is a nest that who asks may see, however many others lie between.
TEST_F(PageRoutes, ASearchGoesOnBehindWhatIsSeen) {
  std::set<std::string> seen, hidden;
  for (int n = 0; n < 12; ++n) {
    std::string text(nests::jacobi);
    text.replace(text.find("0.2"), 3, "0." + std::to_string(1000 + n));
    const auto entry = nests::entry(text, 500);
    (n % 3 == 0 ? seen : hidden).insert(entry.structural_hash);
    if (n % 3 == 0)
      database->store().add(entry).value();
    else
      ledger.send({entry}, "desk", *tuning_db::static_embedding()).value();
  }
  const auto view = database->whole().value();
  std::string after;
  for (const std::string& hash : seen) {
    const Json answer = Json::parse(nests_json(*view, "no such name", after, "farm", 1));
    EXPECT_TRUE(answer.at("nests").empty());
    if (hash == *seen.rbegin()) {
      EXPECT_FALSE(answer.contains("next")) << "nothing follows that it may see";
      break;
    }
    ASSERT_EQ(answer.at("next"), hash);
    after = hash;
  }
}

TEST_F(PageRoutes, APrivateServerShowsItsReaders) {
  Routes closed(*database, ledger, {.is_private = true});
  const std::string reader = token("a", "read");
  for (const char* path : {"/v1/map", "/v1/nests", "/v1/nests/0", "/v1/pictures/0", "/v1/machines"}) {
    EXPECT_EQ(closed.handle({"GET", path, ""}).status, 401) << path;
    EXPECT_NE(closed.handle({"GET", path, "", reader}).status, 401) << path;
  }
  EXPECT_EQ(closed.handle({"POST", "/v1/lift", "{}"}).status, 401);
}

TEST_F(PageRoutes, MachinesSayWhatTheyLackToWhoMayKnow) {
  database->store().add(nests::entry(nests::gemm, 500)).value();
  const auto lacking = nests::parsed(nests::syrk);
  ledger
      .want({{.nest = lacking,
              .structural_hash = nests::entry(nests::syrk, 500).structural_hash,
              .sizes = {{"n0", 500}, {"n1", 500}}}},
            nests::machine(64), "desk")
      .value();
  const Json seen = json("/v1/machines");
  ASSERT_EQ(seen.at("machines").size(), 1u);
  EXPECT_EQ(seen.at("machines")[0].at("entries"), 1);
  EXPECT_FALSE(seen.at("machines")[0].contains("lacks"));
  const Json told = json("/v1/machines", "", token("worker", "work"));
  ASSERT_EQ(told.at("machines").size(), 2u);
  std::size_t lacks = 0;
  for (const Json& machine : told.at("machines")) lacks += machine.at("lacks").at("nests").get<std::size_t>();
  EXPECT_EQ(lacks, 1u);
}

TEST_F(PageRoutes, MachinesSayWhatIsBeingTuned) {
  const auto lacking = nests::normal_entry(nests::gemm, 64);
  ledger
      .want({{.nest = lacking.nest, .structural_hash = lacking.structural_hash, .sizes = lacking.sizes}},
            nests::machine(), "desk")
      .value();
  const auto now = ledger.now().value();
  ASSERT_TRUE(
      ledger.lease({.party = "farm", .hardware = nests::machine(), .targets = {"cpp"}}, "lease", now, 60).value());
  const std::string worker = token("worker", "work");
  const Json machine = json("/v1/machines", "", worker).at("machines").at(0);
  ASSERT_EQ(machine.at("at_work").size(), 1u);
  EXPECT_EQ(machine.at("at_work")[0].at("hash"), lacking.structural_hash);
  EXPECT_EQ(machine.at("at_work")[0].at("worker"), "farm");
  EXPECT_EQ(machine.at("at_work")[0].at("kind"), "tune");
  ledger.finish("lease", "farm", tuning_db::JobOutcome::nothing, {}, "", now).value();
  EXPECT_TRUE(json("/v1/machines", "", worker).at("machines").at(0).at("at_work").empty());
  EXPECT_TRUE(json("/v1/machines").at("machines").empty());
}

TEST_F(PageRoutes, MachinesAreCountedOnceForAViewAndAnAsker) {
  database->store().add(nests::entry(nests::gemm, 500)).value();
  KeptAnswers kept;
  int made = 0;
  const auto ask = [&](const std::shared_ptr<const tuning_db::View>& view, const std::string& asker) {
    return kept.of(view, asker, [&] { return asker + std::to_string(++made); });
  };
  const auto view = database->whole().value(), other = database->whole().value();
  EXPECT_EQ(ask(view, "a"), "a1");
  EXPECT_EQ(ask(view, "b"), "b2");
  EXPECT_EQ(ask(view, "a"), "a1");
  EXPECT_EQ(ask(other, "a"), "a3");
  EXPECT_EQ(ask(other, "b"), "b4");
}

TEST_F(PageRoutes, WhatIsNearToPastedCSaysWhatItsDistanceIsOf) {
  const tuning_db::Entry entry = nests::entry(nests::gemm, 500);
  database->store().add(entry).value();
  LiftedSource pasted;
  pasted.nests.push_back({.function = "f", .line = 3, .units = {"the nest"}, .why = ""});
  pasted.request.nests = {nests::asks(nests::gemm, 500)};
  transforms::Match match;
  match.id = entry_id(entry);
  match.distance = 0.5;
  match.reach = 2;
  match.embedding = "learned-7";
  const Json told = Json::parse(lifted_json(*database->whole().value(), pasted, {{match}}));
  const Json& near = told.at("nests")[0].at("units")[0].at("near")[0];
  EXPECT_EQ(near.at("distance"), 0.5);
  EXPECT_EQ(near.at("reach"), 2);
  EXPECT_EQ(near.at("embedding"), "learned-7");
}

TEST_F(PageRoutes, WithoutSousCoreNothingIsLifted) {
  const auto ask = [&](const std::string& body) { return routes.handle({"POST", "/v1/lift", body}); };
  EXPECT_EQ(ask(R"({"protocol":1,"source":""})").status, 501);
  EXPECT_EQ(code(ask(R"({"protocol":1,"source":""})")), "lift.off");
  EXPECT_EQ(code(ask("{")), "request.json");
  EXPECT_EQ(code(ask(R"({"protocol":2,"source":""})")), "request.version");
  EXPECT_EQ(code(ask(R"({"protocol":1,"source":"","flags":"-I/etc"})")), "request.field");
  EXPECT_EQ(ask(R"({"protocol":1,"source":")" + std::string(longest_source + 1, ' ') + "\"}").status, 400);
  EXPECT_EQ(Routes::lane({"POST", "/v1/lift", ""}), Lane::lift);
}

}  // namespace
}  // namespace sous::server
