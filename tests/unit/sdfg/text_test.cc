#include "sdfg/text.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>
#include <random>

#include "tests/unit/sdfg/graphs.h"

namespace sous::sdfg {
namespace {

Sdfg parsed(std::string_view text) {
  const auto result = parse(text);
  if (!result) ADD_FAILURE() << result.error().to_string();
  return result.value_or(Sdfg{});
}

Error error_of(std::string_view text) {
  const auto result = parse(text, "x.sdfg");
  return result ? Error{} : result.error();
}

// A graph with scalars x: f64, y: f32, i: i32, u: u64, b: bool and one assignment to each.
std::string with_code(const std::string& statement) {
  return "sdfg 1 t\nsymbols n\narray x: f64 argument\narray y: f32 argument\narray i: i32 argument\n"
         "array u: u64 argument\narray b: bool argument\narray v: f64[n] argument\narguments n, x, y, i, u, b, v\n\n" +
         statement + "\n";
}

// Prints back exactly.
void same(const std::string& statement) {
  const std::string text = with_code(statement);
  const Sdfg graph = parsed(text);
  EXPECT_EQ(print(graph), text);
  EXPECT_EQ(parsed(print(graph)), graph);
}

TEST(Text, GraphsPrintBackExactly) {
  for (const std::string_view text : graphs::all) EXPECT_EQ(print(parsed(text)), text);
}

TEST(Text, ParsedGraphIsTheOneMeant) {
  const Sdfg graph = parsed(
      "sdfg 1 g symbols n array A: f32[n, 4] argument arguments n, A  # a comment\n"
      "loop i = 0 .. n { s0: A[i, 1] = A[i, 0] + 1.0f32 }");
  Sdfg expected;
  expected.name = "g";
  expected.symbols = {"n"};
  const Expr n = Expr::symbol("n"), i = Expr::symbol("i");
  expected.containers.push_back(
      {.name = "A", .type = ElementType::f32, .shape = {n, 4}, .strides = {4, 1}, .offset = 0});
  expected.arguments = {"n", "A"};
  Loop loop = counted("i", 0, n);
  loop.body.nodes.push_back(assignment("s0", {.container = "A", .subset = {i, 1}, .combine = {}},
                                       ScalarExpr::binary(ScalarOp::add, ScalarExpr::make_input(0, ElementType::f32),
                                                          ScalarExpr::real(1, ElementType::f32)),
                                       {{.container = "A", .subset = {i, 0}, .combine = {}}}));
  expected.root.nodes.push_back(loop);
  EXPECT_EQ(graph, expected);
}

TEST(Text, ExpressionsKeepTheirTree) {
  same("s: x[] = x[] - (x[] - 1.0) - x[]");
  same("s: x[] = x[] / (x[] * 2.0) * -x[]");
  same("s: x[] = -(1.0) + -1.0 - -(x[] + x[])");
  same("s: b[] = x[] < 1.0 == (b[] == true) && !(b[] || true)");
  same("s: i[] = (i[] & 3) << 2 | ~i[] ^ i[] >> 1 % 5");
  same("s: x[] = f64(y[]) + f64({n floordiv 2 + 1}i64) * select(b[], fma(x[], 2.0, x[]), pow(x[], 0.5))");
  same("s: i[] = min(i[], -max(i[], 7))");
}

TEST(Text, ConstantsKeepTheirBits) {
  same("s: x[] = 0.1 + 1e+300 * 5e-324 - -0.0");
  same("s: y[] = 0.1f32 + inf(f32) - 1e-45f32 * nan(f32)");
  same("s: x[] = -inf(f64) + nan(f64) - bits(f64, 0x7ff0000000000001)");
  same("s: u[] = 18446744073709551615u64 + u64(-9223372036854775808i64) + u64(255u8)");
  same("s: b[] = bits(bool, 0x2) || false");
  same("s: i[] = bits(i32, 0xffffffff) + -2147483648");
}

TEST(Text, CombiningMemlets) {
  same("s: x[] += v[0] * 2.0");
  same("s: x[] min= v[n - 1]");
  same("s: i[] ^= {-9223372036854775808*n}i32");
}

TEST(Text, InputsThatSugarWouldMergeAreSpelledOut) {
  same("s: x[] = input(0, f64) * input(1, f64) with (v[0], v[0])");  // read twice
  same("s: x[] = 1.0 with (v[0], x[])");                             // never used
  EXPECT_EQ(error_of(with_code("s: x[] = v[0] with (x[])")).code, "sdfg.text.syntax");
  EXPECT_EQ(error_of(with_code("s: x[] = input(0, f64)")).code, "sdfg.text.syntax");
}

TEST(Text, OddGraphsSurvive) {
  Sdfg graph = parsed(with_code("s: x[] = x[] + 1.0"));
  graph.name = "two words \"and\" \xff";
  auto& state = std::get<State>(graph.root.nodes[0].value);
  state.name = "";
  auto& code = std::get<Tasklet>(state.nodes[1]).code;
  code.type = ElementType::i8;             // ill-typed
  code.args[0].input = 7;                  // no such input
  state.edges[0].memlet.container = "no";  // nor container
  state.edges[0].memlet.subset = {Expr::invalid()};
  EXPECT_EQ(parsed(print(graph)), graph) << print(graph);
  state.nodes.push_back(
      Tasklet{.inputs = {"a", "a", "b c", "out"}, .code = ScalarExpr::make_input(1, ElementType::u8)});
  state.nodes.push_back(AccessNode{"no"});
  state.edges.push_back({.source = 9, .target = 1, .connector = "", .memlet = {}});
  EXPECT_EQ(parsed(print(graph)), graph) << print(graph);
}

TEST(Text, NamesLikeKeywords) {
  const std::string text =
      "sdfg 1 loop\nsymbols mod, min\narray if: f64[mod] argument\narguments mod, min, if\n\n"
      "symbols: if[mod mod min] = if[min]\nloop loop = 0 .. min step 2 {\n  while: if[loop] = {mod}f64\n"
      "  with: if[min(min, mod)] = 1.0\n  combine: if[0] = 0.0\n}\nelse: {}\n";
  EXPECT_EQ(print(parsed(text)), text);
}

TEST(Text, PartOfAGraph) {
  const Sdfg graph = parsed(graphs::gemm);
  const auto& outer = std::get<Loop>(graph.root.nodes[0].value);
  EXPECT_EQ(print(std::get<Loop>(outer.body.nodes[0].value).body, graph, 1),
            "  s0: C[i0, i1] = 0.0\n"
            "  loop i2 = 0 .. m {\n"
            "    s1: C[i0, i1] = C[i0, i1] + A[i0, i2] * B[i2, i1]\n"
            "  }\n");
}

TEST(Text, ExprAlone) {
  const Expr i = Expr::symbol("i"), n = Expr::symbol("n");
  EXPECT_EQ(parse_expr("(i + n)*2 - i").value(), i + 2 * n);
  EXPECT_EQ(parse_expr("-i mod 8").value(), -Expr::mod(i, 8));
  EXPECT_EQ(parse_expr("i mod (2*n)").value(), Expr::mod(i, 2 * n));
  EXPECT_EQ(parse_expr("2*i floordiv n").value(), Expr::floor_div(2 * i, n));
  EXPECT_EQ(parse_expr("A[i, min(i, n)] - count[]").value(),
            Expr::read("A", {i, Expr::min(i, n)}) - Expr::read("count", {}));
  EXPECT_EQ(parse_expr("-9223372036854775808").value(), Expr(std::numeric_limits<std::int64_t>::min()));
  EXPECT_EQ(parse_expr("i +").error().code, "sdfg.text.syntax");
}

TEST(Text, ErrorsShowThePlace) {
  EXPECT_EQ(error_of("sdfg 1 g\nloop i = 0 .. n {\n  s0: A[i] = 1.0\n").to_string(),
            "x.sdfg:4:1: expected '}'\n  \n  ^ [sdfg.text.syntax]");
  EXPECT_EQ(error_of("sdfg 1 g\narray A: f64[4] argument\ns0: A[0] = 1.0 + $\n").to_string(),
            "x.sdfg:3:18: a character that has no meaning here\n  s0: A[0] = 1.0 + $\n                   ^ "
            "[sdfg.text.character]");
  EXPECT_EQ(
      error_of(with_code("s: x[] = B[0]")).to_string(),
      "x.sdfg:11:10: a container that is not declared\n  s: x[] = B[0]\n           ^ [sdfg.text.unknown-container]");
}

TEST(Text, EveryCode) {
  EXPECT_EQ(error_of("sdfg 2 g").code, "sdfg.text.version");
  EXPECT_EQ(error_of("").code, "sdfg.text.version");
  EXPECT_EQ(error_of(std::string(2 << 20, ' ')).code, "sdfg.text.size");
  EXPECT_EQ(error_of(with_code("s: x[] = foo(1.0)")).code, "sdfg.text.unknown-function");
  EXPECT_EQ(error_of(with_code("s: x[] = 1.0f7")).code, "sdfg.text.number");
  EXPECT_EQ(error_of(with_code("s: i[] = 2147483648")).code, "sdfg.text.number");
  EXPECT_EQ(error_of(with_code("s: x[] = 1e999")).code, "sdfg.text.number");
  EXPECT_EQ(error_of(with_code("s: { n0 = tasklet (a: f64) c }")).code, "sdfg.text.unknown-connector");
  std::string product = "s: v[0";
  for (int k = 0; k < 40; ++k) product += (k ? "*(a" : " + (a") + std::to_string(k) + " + b)";
  EXPECT_EQ(error_of(with_code(product + "] = 1.0")).code, "sdfg.text.expression-size");
}

std::string repeat(const std::string& text, int count) {
  std::string result;
  for (int k = 0; k < count; ++k) result += text;
  return result;
}

TEST(Text, NestingHasABudget) {
  for (const int depth : {150, 5000}) {
    const auto code = depth == 150 ? "" : "sdfg.text.depth";
    EXPECT_EQ(error_of(with_code("s: x[] = " + repeat("-", depth) + "x[]")).code, code);
    EXPECT_EQ(error_of(with_code("s: x[] = " + repeat("(", depth) + "x[]" + repeat(")", depth))).code, code);
    EXPECT_EQ(error_of(with_code("s: x[] = x[]" + repeat(" + x[]", depth))).code, code);
    EXPECT_EQ(error_of(with_code("s: v[" + repeat("(", depth) + "1" + repeat(")", depth) + "] = 1.0")).code, code);
    EXPECT_EQ(error_of(with_code(repeat("do {", depth) + repeat("} while (b[])", depth))).code, code);
  }
}

// Any bytes give a graph or an error, and a graph that prints back.
TEST(Text, GarbageNeverCrashes) {
  const char* given = std::getenv("SOUS_SEED");
  const unsigned seed = given ? static_cast<unsigned>(std::strtoul(given, nullptr, 10)) : 20240611u;
  SCOPED_TRACE("SOUS_SEED=" + std::to_string(seed));
  std::mt19937 random(seed);
  auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  int accepted = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string text(graphs::all[below(std::size(graphs::all))]);
    const std::string other(graphs::all[below(std::size(graphs::all))]);
    for (std::size_t k = 1 + below(4); k-- > 0 && !text.empty();) {
      const std::size_t at = below(text.size());
      switch (below(4)) {
        case 0:
          text[at] = static_cast<char>(below(256));
          break;
        case 1:
          text.erase(at, 1 + below(10));
          break;
        case 2:
          text.insert(at, other.substr(below(other.size()), 1 + below(20)));
          break;
        default:
          text.resize(at + 1);
          break;
      }
    }
    const auto graph = parse(text);
    if (!graph) continue;
    ++accepted;
    const auto again = parse(print(*graph));
    ASSERT_TRUE(again) << text << again.error().to_string();
    ASSERT_EQ(*again, *graph) << text;
  }
  EXPECT_GT(accepted, 0);
}

}  // namespace
}  // namespace sous::sdfg
