#include "benchmarks/suite.h"

#include <gtest/gtest.h>

#include "benchmarks/build.h"

namespace sous::benchmarks {
namespace {

constexpr const char* small = R"({
  "version": 1, "name": "mine", "kernel": "k_", "link": ["-lm"],
  "sizes": {"S": ["-DN=10"], "L": ["-DN=1000"]},
  "types": {"double": {"element": "f64", "flags": []}, "int": {"element": "i32", "flags": ["-DT=int"]}},
  "time": {"stream": "stdout", "prefix": "time="},
  "dump": ["--out={file}"],
  "groups": {"both": ["b", "a"]},
  "programs": [{"name": "a", "sources": ["a.c", "util.c"], "flags": ["-DA"], "types": ["double", "int"]},
               {"name": "b", "sources": ["b.c"], "types": ["int"]}]
})";

Suite suite() {
  auto read = parse_suite(small, "/suite");
  EXPECT_TRUE(read.has_value()) << read.error().to_string();
  return std::move(*read);
}

std::string edited(const std::string& from, const std::string& to) {
  std::string text = small;
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}
std::string refusal(const std::string& text) {
  const auto read = parse_suite(text, "/suite");
  return read ? "accepted" : read.error().code;
}

TEST(Suite, ReadsWhatItSays) {
  const Suite s = suite();
  EXPECT_EQ(s.name, "mine");
  EXPECT_EQ(s.kernel, "k_");
  EXPECT_EQ(s.time_stream, Stream::Output);
  EXPECT_EQ(s.types.at("int").element, Element::i32);
  ASSERT_NE(s.find("a"), nullptr);
  EXPECT_EQ(s.find("a")->sources, (Words{"a.c", "util.c"}));
  EXPECT_EQ(s.find("c"), nullptr);
  EXPECT_EQ(dump_arguments(s, "/x"), (Words{"--out=/x"}));
}

TEST(Suite, RefusesWithACode) {
  EXPECT_EQ(refusal("{"), "suite.json");
  EXPECT_EQ(refusal("[]"), "suite.field");
  EXPECT_EQ(refusal(edited("\"version\": 1", "\"version\": 2")), "suite.version");
  EXPECT_EQ(refusal(edited("\"name\": \"mine\"", "\"nam\": \"mine\"")), "suite.field");
  EXPECT_EQ(refusal(edited("\"link\"", "\"lnik\"")), "suite.field") << "unknown fields are mistakes";
  EXPECT_EQ(refusal(edited("[\"-lm\"]", "\"-lm\"")), "suite.field");
  EXPECT_EQ(refusal(edited("f64", "f8")), "suite.field");
  EXPECT_EQ(refusal(edited("\"stdout\"", "\"file\"")), "suite.field");
  EXPECT_EQ(refusal(edited("{file}", "file")), "suite.field");
  EXPECT_EQ(refusal(edited("[\"b\", \"a\"]", "[\"c\"]")), "suite.name");
  EXPECT_EQ(refusal(edited("\"name\": \"b\"", "\"name\": \"a\"")), "suite.name");
  EXPECT_EQ(refusal(edited("\"types\": [\"int\"]", "\"types\": [\"f16\"]")), "suite.name");
  EXPECT_EQ(refusal(edited("\"name\": \"b\"", "\"name\": \"../b\"")), "suite.field");
}

TEST(Suite, OfWholeProgramsHasNeitherTimeNorDump) {
  std::string text = edited("\"time\": {\"stream\": \"stdout\", \"prefix\": \"time=\"},", "\"compilers\": \"sous\",");
  EXPECT_EQ(refusal(text), "suite.field") << "one of both";
  const std::string dump = "\"dump\": [\"--out={file}\"],";
  text.erase(text.find(dump), dump.size());
  const std::string b = "\"name\": \"b\",";
  text.insert(text.find(b) + b.size(), "\"arguments\": {\"L\": [\"9\"]}, ");
  const auto read = parse_suite(text, "/suite");
  ASSERT_TRUE(read.has_value()) << read.error().to_string();
  EXPECT_TRUE(read->whole_programs());
  EXPECT_FALSE(suite().whole_programs());
  EXPECT_EQ(read->compilers, "sous");
  EXPECT_EQ(run_arguments({read->programs[1], "L", "int"}), Words{"9"});
  EXPECT_EQ(run_arguments({read->programs[1], "S", "int"}), Words{});
  EXPECT_EQ(refusal(text.replace(text.find("{\"L\":"), 5, "{\"XL\":")), "suite.name");
}

TEST(Suite, SelectsByNameAndGroupInItsOwnOrder) {
  const Suite s = suite();
  EXPECT_EQ(select(s, "")->size(), 2U);
  EXPECT_EQ((*select(s, "both"))[0].name, "a");
  EXPECT_EQ((*select(s, "b"))[0].name, "b");
  EXPECT_EQ(select(s, "bth").error().code, "suite.name");
  EXPECT_NE(select(s, "bot").error().why.find("did you mean both?"), std::string::npos);
}

TEST(Suite, ATypeThatAProgramDoesNotHaveBecomesItsDefault) {
  const Suite s = suite();
  const auto tests = cases(s, s.programs, {"S", "L"}, {"double", "int"});
  ASSERT_TRUE(tests.has_value());
  std::string labels;
  for (const Case& test : *tests) labels += test.label() + "; ";
  EXPECT_EQ(labels, "a S double; a S int; a L double; a L int; b S int; b L int; ");
  EXPECT_EQ(cases(s, s.programs, {"XL"}, {}).error().code, "suite.name");
  EXPECT_EQ(cases(s, s.programs, {"S"}, {"half"}).error().code, "suite.name");
}

TEST(Suite, TheBuildCommandHasEveryFlagInOrder) {
  const Suite s = suite();
  const Compiler cc{"cc", {"cc", "-x"}, {"-Y"}, {"-lz"}};
  EXPECT_EQ(build_commands(s, {s.programs[0], "L", "int"}, cc, {"-O3"}, "/o/a", "/s"),
            (std::vector<Words>{
                {"cc", "-x", "-O3", "-Y", "-DA", "-DN=1000", "-DT=int", "a.c", "util.c", "-o", "/o/a", "-lz", "-lm"}}));
}

TEST(Suite, FindsTheTime) {
  const Suite s = suite();
  EXPECT_DOUBLE_EQ(*parse_time(s, "hello\ntime=0.25\n"), 0.25);
  EXPECT_DOUBLE_EQ(*parse_time(s, "time=abc\ntime=1e-3"), 1e-3);
  for (const char* text : {"", "time 3\n", "time=-1\n", "time=nan\n", "xtime=1\n"}) {
    EXPECT_EQ(parse_time(s, text).error().code, "bench.no-time") << text;
  }
}

TEST(Suite, ProgramsAreHalfForJudging) {
  const auto programs = read_suite(SOUS_SOURCE_DIR "/benchmarks/programs/suite.json");
  ASSERT_TRUE(programs.has_value()) << programs.error().to_string();
  const auto development = select(*programs, "development"), judging = select(*programs, "judging");
  EXPECT_GE(development->size(), 20U);
  EXPECT_GE(judging->size(), 20U);
  EXPECT_EQ(development->size() + judging->size(), programs->programs.size());
  for (const Program& program : programs->programs) EXPECT_EQ(program.arguments.size(), 2U) << program.name;
}

TEST(Suite, PolybenchHasItsThirtyPrograms) {
  const auto polybench = read_suite(SOUS_SOURCE_DIR "/benchmarks/polybench/suite.json");
  ASSERT_TRUE(polybench.has_value()) << polybench.error().to_string();
  EXPECT_EQ(polybench->programs.size(), 30U);
  EXPECT_EQ(polybench->sizes.size(), 5U);
  EXPECT_EQ(select(*polybench, "demo")->size(), 8U);
}

TEST(Suite, AProgramMayHaveOtherSourcesAndItsWork) {
  const auto polybench = read_suite(SOUS_SOURCE_DIR "/benchmarks/polybench/suite.json");
  ASSERT_TRUE(polybench.has_value()) << polybench.error().to_string();
  Compiler blas{"openblas", {"cc"}};
  blas.sources = "blas";
  EXPECT_TRUE(applies(blas, *polybench->find("gemm")));
  EXPECT_FALSE(applies(blas, *polybench->find("adi")));
  const auto commands = build_commands(*polybench, {*polybench->find("gemm"), "MINI", "float"}, blas, {}, "g", "");
  EXPECT_EQ(commands[0], (Words{"cc", "-DMINI", "-DDATA_TYPE=float", "blas/gemm.c", "-o", "g", "-lm"}));
  for (const Program& program : polybench->programs) {
    EXPECT_FALSE(program.operations.empty()) << program.name;
    EXPECT_FALSE(program.elements.empty()) << program.name;
  }
}

TEST(Suite, EveryVariantIsOfAProgramOfPolybench) {
  const auto polybench = read_suite(SOUS_SOURCE_DIR "/benchmarks/polybench/suite.json");
  const auto variants = read_suite(SOUS_SOURCE_DIR "/benchmarks/polybench-variants/suite.json");
  ASSERT_TRUE(variants.has_value()) << variants.error().to_string();
  EXPECT_EQ(variants->programs.size(), 12U);
  for (const Program& program : variants->programs) EXPECT_NE(polybench->find(program.name), nullptr) << program.name;
}

}  // namespace
}  // namespace sous::benchmarks
