#include "sdfg/json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>

#include "sdfg/text.h"
#include "tests/unit/sdfg/graphs.h"

namespace sous::sdfg {
namespace {

Error error_of(std::string_view json) {
  const auto result = from_json(json);
  return result ? Error{} : result.error();
}

Sdfg read(std::string_view json) {
  const auto result = from_json(json);
  if (!result) ADD_FAILURE() << json << result.error().to_string();
  return result.value_or(Sdfg{});
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, text.npos) << from << " in " << text;
  return at == text.npos ? text : text.replace(at, from.size(), to);
}

TEST(Json, RoundTrips) {
  for (const std::string_view text : graphs::all) {
    const Sdfg graph = parse(text).value();
    const std::string json = to_json(graph);
    EXPECT_EQ(read(json), graph) << json;
    EXPECT_EQ(to_json(read(json)), json);
  }
}

TEST(Json, OneLineInAFixedOrder) {
  const Sdfg graph = parse(
                         "sdfg 1 g symbols n array v: f64[n] argument arguments n, v "
                         "loop i = 0 .. n simd { s0: v[i] = v[i] * 2.0 }")
                         .value();
  EXPECT_EQ(to_json(graph),
            R"({"schema":1,"name":"g","symbols":["n"],"containers":[{"name":"v","type":"f64","shape":["n"],)"
            R"("storage":"argument"}],"arguments":["n","v"],"assumptions":[],"disjoint":[],"root":[{"kind":"loop",)"
            R"("symbol":"i","begin":"0","end":"n","schedule":{"kind":"simd","lanes":0},"body":[{"kind":"state",)"
            R"("name":"s0","out":{"container":"v","subset":["i"]},"code":["mul","f64",["input","f64",0],)"
            R"(["constant","f64","0x4000000000000000"]],"inputs":[{"container":"v","subset":["i"]}]}]}]})");
}

TEST(Json, KeepsWhatTextNeedsSpecialFormsFor) {
  Sdfg graph = parse(graphs::dataflow).value();
  auto& reads = std::get<Tasklet>(std::get<State>(graph.root.nodes[1].value).nodes[1]);
  for (const double value : {-0.0, 0.1, 5e-324, std::numeric_limits<double>::infinity(), std::nan("")}) {
    reads.code = ScalarExpr::real(value, ElementType::f64);
    EXPECT_EQ(read(to_json(graph)), graph);
  }
  reads.code.type = ElementType::u8;  // ill-typed: check's business
  reads.inputs.push_back("not an identifier");
  EXPECT_EQ(read(to_json(graph)), graph);
}

// Schema 1 has no `dead`: graphs without keep the bytes, and the keys, that they had.
TEST(Json, DeadContainersAreSchema2) {
  const std::string text = "sdfg 1 g array A: f64[4] argument dead arguments A s0: A[0] = 1.0";
  const Sdfg graph = parse(text).value();
  EXPECT_TRUE(graph.find("A")->dead);
  EXPECT_EQ(parse(print(graph)).value(), graph);
  const std::string json = to_json(graph);
  EXPECT_TRUE(json.starts_with(R"({"schema":2,)")) << json;
  EXPECT_EQ(read(json), graph);
  EXPECT_EQ(error_of(replaced(json, "\"schema\":2", "\"schema\":1")).code, "sdfg.json.schema");
  EXPECT_EQ(error_of(replaced(json, ",\"dead\":true", "")).code, "sdfg.json.schema");
}

TEST(Json, NaturalContainersAreSchema3) {
  const std::string text =
      "sdfg 1 g array A: f64[4] argument dead array d: i32[4] argument natural arguments A, d s0: A[d[0]] = 1.0";
  const Sdfg graph = parse(text).value();
  EXPECT_TRUE(graph.find("d")->natural);
  EXPECT_EQ(parse(print(graph)).value(), graph);
  const std::string json = to_json(graph);
  EXPECT_TRUE(json.starts_with(R"({"schema":3,)")) << json;
  EXPECT_EQ(read(json), graph);
  EXPECT_EQ(error_of(replaced(json, "\"schema\":3", "\"schema\":2")).code, "sdfg.json.schema");
  EXPECT_EQ(error_of(replaced(json, ",\"natural\":true", "")).code, "sdfg.json.schema");
  EXPECT_EQ(error_of(replaced(json, "\"schema\":3", "\"schema\":4")).code, "sdfg.json.schema");
}

TEST(Json, EveryCode) {
  const std::string good = to_json(parse(graphs::gemm).value());
  EXPECT_EQ(error_of("{").code, "sdfg.json.syntax");
  EXPECT_EQ(error_of("[]").code, "sdfg.json.schema");
  EXPECT_EQ(error_of(replaced(good, "\"schema\":1", "\"schema\":2")).code, "sdfg.json.schema");
  EXPECT_EQ(error_of(std::string((16 << 20) + 1, ' ')).code, "sdfg.json.size");
  EXPECT_EQ(error_of(std::string(100000, '[')).code, "sdfg.json.depth");
  EXPECT_EQ(error_of(replaced(good, "\"name\":\"gemm\",", "")).to_string(), "/: 'name' is missing [sdfg.json.shape]");
}

TEST(Json, ShapeErrorsNameThePlace) {
  const std::string good = to_json(parse(graphs::gemm).value());
  auto where = [&](std::string_view from, std::string_view to) {
    const Error e = error_of(replaced(good, from, to));
    EXPECT_EQ(e.code, "sdfg.json.shape");
    return e.where;
  };
  EXPECT_EQ(where("\"type\":\"f64\"", "\"type\":\"f80\""), "/containers/0/type");
  EXPECT_EQ(where("\"threads\":2", "\"threads\":2.5"), "/root/0/schedule/threads");
  EXPECT_EQ(where("\"threads\":2", "\"threads\":4294967296"), "/root/0/schedule/threads");
  EXPECT_EQ(where("\"threads\":2", "\"treads\":2"), "/root/0/schedule");
  EXPECT_EQ(where("\"end\":\"n\"", "\"end\":\"n +\""), "/root/0/end");
  EXPECT_EQ(where("\"end\":\"n\"", "\"end\":7"), "/root/0/end");
  EXPECT_EQ(where("[\"mul\",\"f64\",", "[\"mul\",\"f64\",0,"), "/root/0/body/0/body/1/body/0/code/3");
  EXPECT_EQ(where("\"kind\":\"state\"", "\"kind\":\"stat\""), "/root/0/body/0/body/0/kind");
}

// Depth of regions and of expressions, and expressions that would grow without end.
TEST(Json, HasBudgets) {
  const std::string before = R"({"schema":1,"name":"g","symbols":[],"containers":[],"arguments":[],"assumptions":[)",
                    middle = R"(],"disjoint":[],"root":[)", after = "]}";
  std::string open, close;
  for (int k = 0; k < 190; ++k) {
    open += R"({"kind":"while","condition":{"code":["constant","bool","0x1"],"inputs":[]},"body":[)";
    close += "]}";
  }
  EXPECT_EQ(error_of(before + middle + open + close + after).code, "");
  EXPECT_EQ(error_of(before + middle + open + open.substr(0, open.size() / 10) + close +
                     close.substr(0, close.size() / 10) + after)
                .code,
            "sdfg.json.depth");
  std::string product = "(a + b)";
  for (int k = 0; k < 11; ++k) product += "*(a" + std::to_string(k) + " + b)";
  std::string many = "\"" + product + "\"";
  for (int k = 0; k < 2000; ++k) many += ",\"" + product + "\"";
  EXPECT_EQ(error_of(before + many + middle + after).code, "sdfg.json.shape");
}

TEST(Json, GarbageNeverCrashes) {
  const char* given = std::getenv("SOUS_SEED");
  const unsigned seed = given ? static_cast<unsigned>(std::strtoul(given, nullptr, 10)) : 20240611u;
  SCOPED_TRACE("SOUS_SEED=" + std::to_string(seed));
  std::mt19937 random(seed);
  auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  int accepted = 0;
  for (int round = 0; round < 2000; ++round) {
    std::string json = to_json(parse(graphs::all[below(std::size(graphs::all))]).value());
    for (std::size_t k = 1 + below(2); k-- > 0;) {
      const std::size_t at = below(json.size());
      if (below(2) == 0)
        json[at] = static_cast<char>(below(3) ? '0' + below(75) : below(256));
      else
        json.erase(at, 1 + below(6));
    }
    const auto graph = from_json(json);
    if (!graph) continue;
    ++accepted;
    ASSERT_EQ(to_json(read(to_json(*graph))), to_json(*graph)) << json;
  }
  EXPECT_GT(accepted, 0);
}

}  // namespace
}  // namespace sous::sdfg
