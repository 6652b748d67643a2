#include "sdfg/check.h"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "sdfg/text.h"
#include "tests/unit/sdfg/graphs.h"

namespace sous::sdfg {
namespace {

Sdfg parsed(const std::string& text) {
  const auto result = parse(text);
  if (!result) ADD_FAILURE() << text << result.error().to_string();
  return result.value_or(Sdfg{});
}

// Codes of all errors, in order, without repetition.
std::string codes(const Sdfg& graph) {
  std::string text;
  for (const Error& e : check_all(graph))
    if (text.find(e.code) == text.npos) text += (text.empty() ? "" : " ") + e.code;
  return text;
}

// A graph around `body`, with one container of each kind.
Sdfg with_body(const std::string& body) {
  return parsed(
      "sdfg 1 g symbols n, m\n"
      "array A: f64[n, m] argument array v: f64[n] argument array s: f64 argument array k: i32 argument\n"
      "array idx: i64[n] argument array t: f64 stack transient array c: f64[4] argument const\n"
      "array b: bool argument\n"
      "arguments n, m, A, v, s, k, idx, c, b\n" +
      body);
}

struct Case {
  std::string body, code;
};

void expect(const std::vector<Case>& cases) {
  for (const Case& c : cases) EXPECT_EQ(codes(with_body(c.body)), c.code) << c.body;
}

TEST(Check, GoodGraphsPass) {
  for (const std::string_view text : graphs::all) EXPECT_EQ(codes(parsed(std::string(text))), "") << text;
}

TEST(Check, FirstErrorSaysWhere) {
  const auto result = check(with_body("loop i = 0 .. n { if (b[]) { s0: v[j] = 1.0 } }"));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().to_string(),
            "loop i / if / state s0: 'j' in 'j' is neither a parameter nor a loop symbol in scope "
            "[sdfg.expr.unknown-symbol]");
}

TEST(Check, Declarations) {
  const std::vector<Case> cases = {
      {"sdfg 1 \"a b\"", "sdfg.name.invalid"},
      {"sdfg 1 g symbols n, n arguments n", "sdfg.name.duplicate"},
      {"sdfg 1 g symbols n array n: f64 stack transient arguments n", "sdfg.name.duplicate"},
      {"sdfg 1 g array A: f64[4, 4] strides [1] argument arguments A", "sdfg.container.rank"},
      {"sdfg 1 g array A: f64[n] argument arguments A", "sdfg.expr.unknown-symbol"},
      {"sdfg 1 g array k: i32 argument array A: f64[k[]] argument arguments A, k", "sdfg.container.read"},
      {"sdfg 1 g array A: f64 argument transient arguments A", "sdfg.container.transient"},
      {"sdfg 1 g array A: f64 heap", "sdfg.container.transient"},
      {"sdfg 1 g array A: f64[4] argument dead arguments A", ""},
      {"sdfg 1 g array A: i32[4] argument natural arguments A", ""},
      {"sdfg 1 g array A: i32[4] heap transient natural", "sdfg.container.natural"},
      {"sdfg 1 g array A: f64[4] argument natural arguments A", "sdfg.container.natural"},
      {"sdfg 1 g array A: f64[4] heap transient dead", "sdfg.container.dead"},
      {"sdfg 1 g array A: f64[4] argument const dead arguments A", "sdfg.container.dead"},
      {"sdfg 1 g array A: f64 argument dead alias 1 array B: f64 argument alias 2 arguments A, B", ""},
      {"sdfg 1 g array A: f64 argument dead alias 1 array B: f64 argument alias 1 arguments A, B",
       "sdfg.container.dead"},
      {"sdfg 1 g array A: f64[4] device_shared transient", "sdfg.gpu.shared"},
      {"sdfg 1 g symbols n", "sdfg.argument.missing"},
      {"sdfg 1 g symbols n arguments n, n", "sdfg.argument.duplicate"},
      {"sdfg 1 g array A: f64 stack transient arguments A", "sdfg.argument.unknown"},
      {"sdfg 1 g symbols n arguments n assume n - 9223372036854775807 - 9 >= 0", "sdfg.expr.overflow"},
      {"sdfg 1 g array k: i64 argument arguments k assume k[] >= 0 s: k[] = 1i64", "sdfg.assumption.read"},
      {"sdfg 1 g array A: f64 argument arguments A disjoint A, A", "sdfg.disjoint.container"},
  };
  for (const Case& c : cases) EXPECT_EQ(codes(parsed(c.body)), c.code) << c.body;
}

TEST(Check, Expressions) {
  expect({
      {"s0: v[idx[0]] = v[k[]]", ""},
      {"s0: v[s[]] = 1.0", "sdfg.expr.read-type"},
      {"s0: v[idx[]] = 1.0", "sdfg.expr.read-rank"},
      {"s0: v[nothing[]] = 1.0", "sdfg.container.unknown"},
      {"s0: v[9223372036854775807*n*n*9 + 0] = 1.0", "sdfg.expr.overflow"},
      {"s0: v[i] = 1.0", "sdfg.expr.unknown-symbol"},
      {"loop i = 0 .. i { }", "sdfg.expr.unknown-symbol"},
  });
}

TEST(Check, ScalarExpressions) {
  expect({
      {"s0: s[] = s[] + 1.0f32", "sdfg.scalar.type"},
      {"s0: b[] = b[] + true", "sdfg.scalar.type"},
      {"s0: k[] = min(k[], 3) << 2u8", ""},
      {"s0: s[] = min(s[], 1.0)", "sdfg.scalar.type"},
      {"s0: s[] = select(s[], s[], 1.0)", "sdfg.scalar.type"},
      {"s0: s[] = typed(f64, k[] * 2)", "sdfg.scalar.type"},
      {"s0: k[] = bits(i32, 0xffffffff)", "sdfg.scalar.constant"},
      {"s0: k[] = {idx[0]}i32", "sdfg.scalar.read"},
      {"s0: s[] = input(1, f64) with (s[])", "sdfg.scalar.input"},
      {"s0: s[] = input(0, f64) with (k[])", "sdfg.scalar.input-type"},
      {"s0: s[] = 1", "sdfg.tasklet.type"},
  });
}

TEST(Check, ScalarTreesThatTextCannotWrite) {
  Sdfg graph = with_body("s0: s[] = -s[]");
  auto code = [](Sdfg& g) -> ScalarExpr& {
    return std::get<Tasklet>(std::get<State>(g.root.nodes[0].value).nodes[1]).code;
  };
  Sdfg arity = graph, stray = graph, deep = graph;
  code(arity).args.clear();
  EXPECT_EQ(codes(arity), "sdfg.scalar.arity");
  code(stray).bits = 1;
  EXPECT_EQ(codes(stray), "sdfg.scalar.stray");
  for (int k = 0; k < 300; ++k) code(deep) = ScalarExpr::unary(ScalarOp::neg, code(deep));
  EXPECT_EQ(codes(deep), "sdfg.scalar.depth");
}

TEST(Check, Memlets) {
  expect({
      {"s0: v[0, 0] = 1.0", "sdfg.memlet.rank"},
      {"s0: s[] = input(0, f64) with (s[] combine +)", "sdfg.memlet.combine"},
      {"s0: s[] &= s[]", "sdfg.memlet.combine-type"},
      {"s0: c[0] = 1.0", "sdfg.container.constant-written"},
      {"s0: zz[0] = 1.0", "sdfg.container.unknown"},
  });
}

TEST(Check, Edges) {
  const std::string task = "s0: { n0 = access s n1 = tasklet (a: f64) a * 2.0 n2 = access t ";
  const std::string in = "n0 -> n1 as a: s[] ", out = "n1 -> n2 as out: t[] ";
  expect({
      {task + in + out + "}", ""},
      {task + in + out + "n0 -> n7 as a: s[] }", "sdfg.edge.node"},
      {task + in + out + "n0 -> n2 as a: s[] }", "sdfg.edge.ends"},
      {task + "n0 -> n1 as a: v[0] " + out + "}", "sdfg.edge.container"},
      {task + in + "n0 -> n1 as b: s[] " + out + "}", "sdfg.edge.connector"},
      {task + in + "n1 -> n2 as result: t[] }", "sdfg.edge.connector"},
      {task + in + in + out + "}", "sdfg.edge.connector-twice"},
      {task + out + "}", "sdfg.edge.unbound"},
      {task + in + "}", "sdfg.edge.unbound"},
      {"s0: { n0 = access s n1 = tasklet (a, a: f64) 2.0 n2 = access t n0 -> n1 as a: s[] " + out + "}",
       "sdfg.tasklet.connector"},
  });
}

TEST(Check, States) {
  const std::string two = "s0: { n0 = tasklet () 1.0 n1 = access s n2 = tasklet () 2.0 n3 = access s ";
  expect({
      {two + "n0 -> n1 as out: s[] n2 -> n3 as out: s[] }", "sdfg.state.race"},
      {"s0: { n0 = access s n1 = tasklet (a: f64) a n0 -> n1 as a: s[] n1 -> n0 as out: s[] }", "sdfg.state.cycle"},
      {"s0: s[] = 1.0 s0: t[] = 2.0", "sdfg.state.duplicate"},
  });
  Sdfg large = with_body("s0: {}");
  std::get<State>(large.root.nodes[0].value).nodes.resize(5000, AccessNode{"s"});
  EXPECT_EQ(codes(large), "sdfg.state.size");
}

TEST(Check, ControlFlow) {
  expect({
      {"loop i = 0 .. n step 0 { }", "sdfg.loop.step"},
      {"loop i = 0 .. n { } loop i = 0 .. n { }", "sdfg.loop.symbol"},
      {"loop v = 0 .. n { }", "sdfg.name.duplicate"},
      {"loop i = 0 .. n parallel(threads=-1) { }", "sdfg.loop.schedule"},
      {"loop i = 0 .. n unroll(factor=0) { }", "sdfg.loop.schedule"},
      {"loop i = 0 .. n prefetch(-1) { }", "sdfg.loop.prefetch"},
      {"loop i = 0 .. n prefetch(1048577) { }", "sdfg.loop.prefetch"},
      {"loop i = 0 .. n prefetch(1048576) { }", ""},
      {"loop i = 0 .. n private(s) { }", "sdfg.loop.private"},
      {"loop i = 0 .. n private(t) { s0: t[] = 1.0 } s1: s[] = t[]", "sdfg.loop.private-scope"},
      {"if (k[]) { }", "sdfg.condition.type"},
      {"while (input(0, bool) with (b[] combine &)) { }", "sdfg.condition.input"},
      {"if (s[] < 1.0) { }", ""},
  });
  Sdfg deep = with_body("");
  for (int k = 0; k < 250; ++k) {
    While around{.condition = {.code = ScalarExpr::integer(1, ElementType::boolean), .inputs = {}}, .body = deep.root};
    deep.root = Region{};
    deep.root.nodes.push_back(around);
  }
  EXPECT_EQ(codes(deep), "sdfg.depth");
}

TEST(Check, Reductions) {
  auto loop = [](const std::string& op, const std::string& body) {
    return "loop i = 0 .. n reduce(" + op + ": s) { " + body + " }";
  };
  expect({
      {loop("+", "s0: s[] += v[i]"), ""},
      {loop("+", "s0: s[] = v[i] + s[] - 1.0"), ""},
      {loop("max", "s0: s[] = select(s[] < v[i], v[i], s[])"), ""},
      {loop("+", "s0: s[] *= v[i]"), "sdfg.reduction.access"},
      {loop("+", "s0: s[] = v[i] - s[]"), "sdfg.reduction.access"},
      {loop("+", "s0: s[] = v[i]"), "sdfg.reduction.access"},
      {loop("+", "s0: s[] = s[] + s[]"), "sdfg.reduction.access"},
      {loop("+", "s0: s[] += v[i] s1: v[i] = s[]"), "sdfg.reduction.access"},
      {loop("+", "if (s[] < 1.0) { }"), "sdfg.reduction.access"},
      {"loop i = 0 .. n reduce(+: nothing) { }", "sdfg.reduction.container"},
  });
}

TEST(Check, Gpu) {
  expect({
      {"loop i = 0 .. n gpu_block(dimension=0) { }", "sdfg.gpu.block"},
      {"loop i = 0 .. n gpu_grid(dimension=3) { }", "sdfg.gpu.dimension"},
      {"loop i = 0 .. n gpu_grid(dimension=1) { loop j = 0 .. n gpu_grid(dimension=1) { } }", "sdfg.gpu.dimension"},
      {"loop i = 0 .. n gpu_grid(dimension=0) { loop j = 0 .. n gpu_block(dimension=0) { "
       "loop l = 0 .. n gpu_grid(dimension=1) { } } }",
       "sdfg.gpu.grid"},
      {"loop i = 0 .. n gpu_grid(dimension=0) { s0: v[i] = 1.0 }", ""},
  });
}

std::string contents(const std::string& path) {
  std::ifstream file(std::string(SOUS_SOURCE_DIR) + "/" + path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// All "sdfg.*" codes that a file names.
std::set<std::string> codes_in(const std::string& text, const std::string& before, const std::string& after) {
  const std::regex pattern(before + "(sdfg\\.[a-z]+(\\.[a-z-]+)?)" + after);
  std::set<std::string> found;
  for (auto it = std::sregex_iterator(text.begin(), text.end(), pattern); it != std::sregex_iterator(); ++it)
    found.insert((*it)[1]);
  return found;
}

// The example of the documentation is a good graph, and printed as it stands there.
TEST(Check, DocumentedExample) {
  const std::string page = contents("docs/sdfg.md"), fence = "```sdfg\n";
  const std::size_t start = page.find(fence) + fence.size();
  const std::string example = page.substr(start, page.find("```", start) - start);
  EXPECT_EQ(print(parsed(example)), example);
  EXPECT_EQ(codes(parsed(example)), "");
}

// What a stranger sends is measured before it is looked at.
TEST(Check, GraphsFromOutsideAreOfModerateSize) {
  Sdfg graph = with_body("s0: s[] = 1.0");
  EXPECT_TRUE(check_foreign(graph));
  graph.name = "no name";
  EXPECT_EQ(check_foreign(graph).error().code, "sdfg.name.invalid");
  Sdfg symbols = graph, containers = graph, parts = graph, privates = graph;
  symbols.symbols.resize(most_symbols + 1, "n");
  containers.containers.resize(most_containers + 1, graph.containers[0]);
  parts.root.nodes.resize(most_parts + 1, graph.root.nodes[0]);
  Loop loop = counted("i", 0, 9, {});
  loop.privates.resize(most_parts, "t");
  privates.root.nodes.emplace_back(loop);
  for (const Sdfg& large : {symbols, containers, parts, privates})
    EXPECT_EQ(check_foreign(large).error().code, "sdfg.size");
}

// Each took the square of its length: minutes.
TEST(Check, LongListsAreLookedAtOnce) {
  Sdfg graph = with_body("s0: s[] = 1.0");
  for (int k = 0; k < 300'000; ++k) {
    graph.symbols.push_back("p" + std::to_string(k));
    graph.arguments.push_back(graph.symbols.back());
  }
  for (int k = 0; k < 20'000; ++k) graph.root.nodes.emplace_back(counted("i" + std::to_string(k), 0, 9, {}));
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_EQ(codes(graph), "");
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(60));
}

// Every code that the checks can give is provoked in this file and documented, and nothing else is.
TEST(Check, EveryCodeIsProvokedAndDocumented) {
  std::string sources, test = contents("tests/unit/sdfg/check_test.cc");
  for (const char* file : {"check.cc", "check_expr.cc", "check_state.cc", "check_reduction.cc"})
    sources += contents(std::string("sdfg/") + file);
  const auto given = codes_in(sources, "\"", "\"");
  EXPECT_FALSE(given.empty());
  std::set<std::string> documented;
  for (const std::string& code : codes_in(contents("docs/sdfg.md"), "\\| `", "`"))
    if (!code.starts_with("sdfg.text.") && !code.starts_with("sdfg.json.")) documented.insert(code);
  EXPECT_EQ(documented, given);
  for (const std::string& code : given) EXPECT_NE(test.find(code), test.npos) << code << " is never provoked";
}

}  // namespace
}  // namespace sous::sdfg
