// Each pass of the normal form on its own: .sdfg in, .sdfg out.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "sdfg/text.h"
#include "transforms/normal/passes.h"
#include "transforms/normal_form.h"

namespace sous::transforms::normal {
namespace {

constexpr std::string_view head = R"(sdfg 1 nest
symbols n, m
array A: f64[n, m] argument
array B: f64[n, m] argument
array x: f64[n] argument
array t: f64 stack transient
array p: i32 stack transient
arguments n, m, A, B, x

)";

sdfg::Sdfg graph(std::string_view body) {
  auto parsed = sdfg::parse(std::string(head) + std::string(body));
  EXPECT_TRUE(parsed) << parsed.error().to_string();
  return parsed.value();
}
std::string body(const sdfg::Sdfg& sdfg) { return "\n" + sdfg::print(sdfg.root, sdfg); }

Work work_on(const sdfg::Sdfg& sdfg) {
  sdfg::Scop scop = sdfg::scop_of(sdfg);
  auto dependences = sdfg::Dependences::compute(scop);
  EXPECT_TRUE(dependences);
  return {.scop = scop, .dependences = std::move(dependences).value(), .tree = scop.tree};
}
std::string after(const Work& work) { return body(sdfg::lower(work.scop, work.tree)); }

std::string narrowed(std::string_view text) {
  Log log;
  return body(narrow_loops(graph(text), log));
}

TEST(NarrowLoops, GuardsBecomeBounds) {
  EXPECT_EQ(
      narrowed("loop i = 0 .. n { loop j = 0 .. m { if ({i}i64 > 0i64 && !({j}i64 == 0i64) && {j}i64 != {m - 1}i64 "
               "&& {i}i64 >= {j}i64) { s0: A[i, j] = 0.0 } } }"),
      R"(
loop i = 1 .. n {
  loop j = 1 .. m - 1 {
    if ({i}i64 >= {j}i64) {
      s0: A[i, j] = 0.0
    }
  }
}
)");
  // The symbol with a minus, and what holds in one iteration.
  EXPECT_EQ(narrowed("loop i = 0 .. n { if ({n - i}i64 > 3i64) { s0: x[i] = 0.0 } } "
                     "loop j = 0 .. n { if ({j + 1}i64 == 3i64) { s1: x[j] = 0.0 } }"),
            R"(
loop i = 0 .. n - 3 {
  s0: x[i] = 0.0
}
loop j = 2 .. min(3, n) {
  s1: x[j] = 0.0
}
)");
  // All comparisons, of the symbol and of its negative, as they are and not.
  const std::vector<std::array<const char*, 4>> comparisons = {{"<", "0 .. min(5, n)", "5 .. n", "6 .. n"},
                                                               {"<=", "0 .. min(6, n)", "6 .. n", "5 .. n"},
                                                               {">", "6 .. n", "0 .. min(6, n)", "0 .. min(5, n)"},
                                                               {">=", "5 .. n", "0 .. min(5, n)", "0 .. min(6, n)"}};
  for (const auto& [op, holds, not_holds, negative] : comparisons) {
    const auto loop = [&](const std::string& guard) {
      return narrowed("loop i = 0 .. n { if (" + guard + ") { s0: x[i] = 0.0 } }");
    };
    const auto over = [](const std::string& bounds) { return "\nloop i = " + bounds + " {\n  s0: x[i] = 0.0\n}\n"; };
    EXPECT_EQ(loop("{i}i64 " + std::string(op) + " 5i64"), over(holds)) << op;
    EXPECT_EQ(loop("!({i}i64 " + std::string(op) + " 5i64)"), over(not_holds)) << op;
    EXPECT_EQ(loop("{-i}i64 " + std::string(op) + " {-5}i64"), over(negative)) << op;
  }
  // The first row or the first column: one loop nest for each, once they are distributed.
  EXPECT_EQ(
      narrowed("loop i = 0 .. n { loop j = 0 .. m { if ({i}i64 == 0i64 || {j}i64 == 0i64) { s0: A[i, j] = 0.0 } } }"),
      R"(
loop i = 0 .. n {
  loop j = 0 .. m {
    if ({i}i64 == 0i64) {
      s0: A[i, j] = 0.0
    }
    if (!({i}i64 == 0i64) && {j}i64 == 0i64) {
      s0: A[i, j] = 0.0
    }
  }
}
)");
}

TEST(NarrowLoops, OtherGuardsStay) {
  for (const std::string_view text :
       {"loop i = 0 .. n {\n  if ({i}i64 != 5i64) {\n    s0: x[i] = 0.0\n  }\n}\n",
        "loop i = 0 .. n {\n  if ({i}i64 >= {m}i64) {\n    s0: x[i] = 0.0\n  }\n}\n",
        "loop i = 0 .. n {\n  if ({2*i}i64 < {n}i64) {\n    s0: x[i] = 0.0\n  }\n}\n",
        "loop i = 0 .. n {\n  if ({i}i32 < 5) {\n    s0: x[i] = 0.0\n  }\n}\n",
        "loop i = 0 .. n {\n  if (x[i] < 5.0) {\n    s0: x[i] = 0.0\n  }\n}\n",
        "loop i = 0 .. n {\n  if ({i}i64 < 5i64) {\n    s0: x[i] = 0.0\n  } else {\n    s1: x[i] = 1.0\n  }\n}\n",
        "loop i = 0 .. n {\n  if ({i}i64 < 5i64) {\n    s0: x[i] = 0.0\n  }\n  s1: x[i] = x[i] + 1.0\n}\n"})
    EXPECT_EQ(narrowed(text), "\n" + std::string(text));
}

TEST(MarkPrivates, SeesWhatBranchesAndWhileLoopsWriteFirst) {
  EXPECT_EQ(body(mark_privates(graph(R"(
loop i = 0 .. n {
  while (x[i] > 1.0) {
    s0: t[] = x[i]
    s1: x[i] = t[] * 0.5
  }
}
)"))),
            R"(
loop i = 0 .. n private(t) {
  while (x[i] > 1.0) {
    s0: t[] = x[i]
    s1: x[i] = t[] * 0.5
  }
}
)");
  const auto open = graph(R"(
loop i = 0 .. n {
  if (x[i] > 1.0) {
    s0: t[] = x[i]
  }
  s1: x[i] = t[]
}
)");
  EXPECT_EQ(mark_privates(open), open);
}

// j is a value of the body: what it becomes there cannot be read from memory.
TEST(CanonicalLoops, LeaveALoopThatComputesWithItsVariableFromABeginInMemory) {
  const std::string both = R"(sdfg 1 nest
symbols n
array first: i32 argument
array x: f64[n] argument
array y: f64[n] argument
arguments n, first, x, y

loop j = first[] .. n {
  s0: x[j] = )";
  Log log;
  const auto values = sdfg::parse(both + "{j}f64\n}\n").value();
  EXPECT_EQ(canonical_loops(values, log), values);
  const auto addresses = sdfg::parse(both + "y[j]\n}\n").value();
  EXPECT_EQ(body(canonical_loops(addresses, log)), R"(
loop j = 0 .. n - first[] {
  s0: x[j + first[]] = y[j + first[]]
}
)");
}

TEST(ExpandNodes, MakesTaskletsStatesAndACombinationAReadAndAWrite) {
  Log log;
  EXPECT_EQ(body(expand_nodes(graph(R"(
s0: {
  n0 = access A
  n1 = tasklet (a: f64) a * 2.0
  n2 = access x
  n3 = tasklet (b: f64) b + 1.0
  n4 = access B
  n0 -> n1 as a: A[0, 1]
  n1 -> n2 as out: x[1]
  n2 -> n3 as b: x[1]
  n3 -> n4 as out: B[0, 1]
}
s1: x[0] += A[0, 0]
)"),
                              log)),
            R"(
s0_0: x[1] = A[0, 1] * 2.0
s0_0_2: B[0, 1] = x[1] + 1.0
s1: x[0] = x[0] + A[0, 0]
)");
}

TEST(MarkPrivates, WhatForwardingHasRemovedIsNoLongerPrivate) {
  sdfg::Sdfg nest = graph(R"(
loop i = 0 .. n {
  s0: x[i] = 1.0
}
)");
  std::erase_if(nest.containers, [](const sdfg::Container& c) { return c.name == "t"; });
  std::get<sdfg::Loop>(nest.root.nodes[0].value).privates = {"t"};
  EXPECT_EQ(body(mark_privates(nest)), R"(
loop i = 0 .. n {
  s0: x[i] = 1.0
}
)");
}

TEST(CanonicalLoops, CountFromZeroByOne) {
  Log log;
  EXPECT_EQ(body(canonical_loops(graph(R"(
loop i = 2 .. n - 1 {
  loop j = m - 1 .. i step -1 {
    s0: A[i, j] = 1.0
  }
  loop k = 1 .. m step 3 {
    s1: B[i, k] = 2.0
  }
}
)"),
                                 log)),
            R"(
loop i = 0 .. n - 3 {
  loop j = 0 .. -i + m - 3 {
    s0: A[i + 2, -j + m - 1] = 1.0
  }
  loop k = 0 .. (m + 1) floordiv 3 {
    s1: B[i + 2, 3*k + 1] = 2.0
  }
}
)");
}

TEST(CanonicalLoops, KeepTrianglesAndDropEmptyIterations) {
  Log log;
  EXPECT_EQ(body(canonical_loops(graph(R"(
loop i = 0 .. n {
  loop j = i + 1 .. n {
    s0: A[i, j] = 1.0
  }
}
)"),
                                 log)),
            R"(
loop i = 0 .. n - 1 {
  loop j = i .. n - 1 {
    s0: A[i, j + 1] = 1.0
  }
}
)");
}

TEST(Fold, IsExactForFloats) {
  Log log;
  EXPECT_EQ(body(fold(graph(R"(
s0: x[0] = x[0] + 0.0
s1: x[1] = x[1] * 1.0 - 0.0
s2: x[2] = x[2] / 4.0
s3: x[3] = x[3] * 0.0
s4: x[4] = x[4] * (1.0 + 2.0)
s5: x[5] = x[5] / 3.0
s6: x[6] = 0.0 / 0.0 + sqrt(-1.0)
)"),
                      log)),
            R"(
s0: x[0] = x[0] + 0.0
s1: x[1] = x[1]
s2: x[2] = x[2] * 0.25
s3: x[3] = x[3] * 0.0
s4: x[4] = x[4] * 3.0
s5: x[5] = x[5] / 3.0
s6: x[6] = 0.0 / 0.0 + sqrt(-1.0)
)");
}

// A signed index is taken for a mathematical integer; an unsigned one is one modulo its width.
TEST(Fold, NarrowsAnIndexToASignedTypeOnlyWhereItFits) {
  Log log;
  EXPECT_EQ(body(fold(graph(R"(
loop i = 0 .. 100 {
  s0: x[i] = f64(i32({i * 2654435761}i64))
  s1: x[i] = f64(i8({i}i32))
  s2: x[i] = f64(i8({2 * i}i32))
  s3: x[i] = f64(i8({i - 129}i32))
  s4: x[i] = f64(u8({2 * i}i32))
  s5: x[i] = f64(i32({i}u32))
  s6: x[i] = f64(i32({i + n}u32))
}
)"),
                      log)),
            R"(
loop i = 0 .. 100 {
  s0: x[i] = f64(i32({2654435761*i}i64))
  s1: x[i] = f64({i}i8)
  s2: x[i] = f64(i8({2*i}i32))
  s3: x[i] = f64(i8({i - 129}i32))
  s4: x[i] = f64({2*i}u8)
  s5: x[i] = f64({i}i32)
  s6: x[i] = f64(i32({i + n}u32))
}
)");
}

TEST(ForwardScalars, PutsACheapDefinitionIntoALoopButNoDivision) {
  Log log;
  EXPECT_EQ(body(forward_scalars(graph(R"(
loop i = 0 .. n {
  s0: t[] = x[i] * 2.0
  loop j = 0 .. m {
    s1: A[i, j] = t[] * B[i, j]
  }
  s2: t[] = 1.0 / x[i]
  loop k = 0 .. m {
    s3: B[i, k] = t[] * B[i, k]
  }
}
)"),
                                 log)),
            R"(
loop i = 0 .. n {
  loop j = 0 .. m {
    s1: A[i, j] = x[i] * 2.0 * B[i, j]
  }
  s2: t_3[] = 1.0 / x[i]
  loop k = 0 .. m {
    s3: B[i, k] = t_3[] * B[i, k]
  }
}
)");
}

TEST(ForwardScalars, DoesNotCarryAValueOverAWriteToItsOperand) {
  Log log;
  const sdfg::Sdfg swap = graph(R"(
loop i = 0 .. n {
  s0: t[] = A[i, 0]
  s1: A[i, 0] = B[i, 0]
  s2: B[i, 0] = t[]
}
)");
  EXPECT_EQ(body(forward_scalars(swap, log)), body(swap));
}

// A condition, and the one state that it guards, read before they write: minima as people write them. Of two states the
// second may read what the first has written.
TEST(ForwardScalars, PutsADefinitionIntoAGuardedStoreToItsOperand) {
  Log log;
  EXPECT_EQ(body(forward_scalars(graph(R"(
loop i = 0 .. n {
  s0: t[] = A[i, 0] + x[i]
  if (t[] < A[i, 0]) {
    s1: A[i, 0] = t[]
  }
}
)"),
                                 log)),
            R"(
loop i = 0 .. n {
  if (A[i, 0] + x[i] < A[i, 0]) {
    s1: A[i, 0] = A[i, 0] + x[i]
  }
}
)");
  const sdfg::Sdfg two = graph(R"(
loop i = 0 .. n {
  s0: t[] = A[i, 0] + x[i]
  if (t[] < A[i, 0]) {
    s1: A[i, 0] = B[i, 0]
    s2: B[i, 0] = t[]
  }
}
)");
  EXPECT_EQ(body(forward_scalars(two, log)), body(two));
}

TEST(ForwardScalars, AccumulatesInTheElementThatReceivesTheSum) {
  Log log;
  EXPECT_EQ(body(forward_scalars(graph(R"(
loop i = 0 .. n {
  s0: t[] = 0.0
  loop j = 0 .. m {
    s1: t[] = t[] + A[i, j]
  }
  s2: x[i] = t[]
}
)"),
                                 log)),
            R"(
loop i = 0 .. n {
  s0: x[i] = 0.0
  loop j = 0 .. m {
    s1: x[i] = x[i] + A[i, j]
  }
}
)");
}

TEST(ForwardScalars, KeepsTheAccumulatorWhereTheElementIsReadMeanwhile) {
  Log log;
  const sdfg::Sdfg nest = graph(R"(
loop i = 0 .. n {
  s0: t[] = 0.0
  loop j = 0 .. n {
    s1: t[] = t[] + x[j]
  }
  s2: x[i] = t[]
}
)");
  EXPECT_EQ(body(forward_scalars(nest, log)), body(nest));
}

TEST(ForwardScalars, ComputesOnceWhatOneExpressionNamesTwice) {
  Log log;
  const sdfg::Sdfg root = graph(R"(
loop i = 0 .. n {
  s0: t[] = sqrt(A[i, 0])
  s1: x[i] = t[] * t[]
}
)");
  EXPECT_EQ(body(forward_scalars(root, log)), body(root));
}

TEST(ForwardScalars, ReadsTheElementThatHoldsTheValue) {
  const auto forwarded = [](std::string_view nest) {
    Log log;
    return body(forward_scalars(graph(nest), log));
  };
  EXPECT_EQ(forwarded(R"(
loop i = 0 .. n {
  s0: t[] = sqrt(A[i, 0])
  s1: x[i] = t[]
  s2: A[i, 0] = t[] * 2.0 + t[]
}
)"),
            R"(
loop i = 0 .. n {
  s0: x[i] = sqrt(A[i, 0])
  s2: A[i, 0] = x[i] * 2.0 + x[i]
}
)");
  // The last statement may write the element, after it has read it.
  EXPECT_EQ(forwarded(R"(
loop i = 0 .. n {
  s0: t[] = sqrt(A[i, 0])
  s1: x[i] = t[]
  s2: x[n - i - 1] = t[] * 2.0 + t[]
}
)"),
            R"(
loop i = 0 .. n {
  s0: x[i] = sqrt(A[i, 0])
  s2: x[-i + n - 1] = x[i] * 2.0 + x[i]
}
)");
  // Not where it is written or read in between, or changed by a loop.
  for (const std::string_view seen : {R"(
loop i = 0 .. n {
  s0: t[] = sqrt(A[i, 0])
  s1: x[i] = t[]
  s2: x[n - i - 1] = 0.0
  s3: A[i, 0] = t[] * 2.0 + t[]
}
)",
                                      R"(
loop i = 0 .. n {
  s0: t[] = sqrt(A[i, 0])
  s1: B[i, 0] = x[n - i - 1] + t[] * t[]
  s2: x[i] = t[]
}
)",
                                      R"(
loop i = 0 .. n {
  s0: t[] = sqrt(A[i, 0])
  s1: x[i] = t[]
  loop j = 0 .. m {
    s2: A[i, j] = A[i, j] * t[]
  }
}
)"})
    EXPECT_EQ(forwarded(seen), body(graph(seen)));
}

// A subscript or a bound that reads the scalar keeps it, wherever it stands; one that reads what overlaps the element
// keeps the element.
TEST(ForwardScalars, KeepsTheScalarThatASubscriptReads) {
  const auto unchanged = [](const std::string& body) {
    const auto graph = sdfg::parse(R"(sdfg 1 f
symbols n
array X: i32[n] argument alias 1
array Z: i32[n] argument alias 1
array Y: i32[n] argument
array B: i32[n] argument
array C: i32[n] argument
array t: i32 stack transient
arguments n, X, Z, Y, B, C
)" + body);
    ASSERT_TRUE(graph) << graph.error().to_string();
    Log log;
    const sdfg::Sdfg forwarded = forward_scalars(graph.value(), log);
    EXPECT_EQ(sdfg::print(forwarded.root, forwarded), sdfg::print(graph->root, graph.value()));
  };
  unchanged(R"(loop k = 0 .. n {
  loop i = 0 .. n {
    s0: t[] = B[i] / C[i]
    s1: X[i] = t[]
    s2: Y[i] = t[] * t[]
  }
  loop j = 0 .. n {
    s3: Y[t[]] = {j}i32
  }
}
)");
  unchanged(R"(loop k = 0 .. n {
  loop i = 0 .. n {
    s0: t[] = B[i] / C[i]
    s1: X[i] = t[]
    s2: Y[i] = t[] * t[]
  }
  loop j = 0 .. t[] {
    s3: B[j] = {j}i32
  }
}
)");
  unchanged(R"(loop i = 0 .. n {
  s0: t[] = B[i] / C[i]
  s1: Y[Z[i]] = t[] * t[]
  s2: X[i] = t[]
}
)");
}

TEST(ExpandScalars, GivesEachIterationItsOwnElementAndContractsBack) {
  Log log;
  const sdfg::Sdfg nest = graph(R"(
loop i = 0 .. n {
  s0: t[] = 0.0
  loop j = 0 .. m {
    s1: t[] = t[] + A[i, j]
  }
  s2: x[i] = 2.0 * t[]
}
)");
  const Expanded expanded = expand_scalars(nest, log);
  EXPECT_EQ(body(expanded.sdfg), R"(
loop i = 0 .. n {
  s0: t[i] = 0.0
  loop j = 0 .. m {
    s1: t[i] = t[i] + A[i, j]
  }
  s2: x[i] = 2.0 * t[i]
}
)");
  EXPECT_EQ(body(contract_scalars(expanded.sdfg, expanded.arrays, log)), body(nest));
}

// Of what subscripts read, only what a loop finds: an index of the loop inside is no row's result.
TEST(ExpandScalars, ThePlaceThatALoopFindsMayWaitForItsUse) {
  Log log;
  const auto nest = [](const std::string& between) {
    return graph("\nloop i = 0 .. n {\n  s0: p[] = 0\n  loop j = 0 .. m {\n" + between +
                 "  }\n  s2: x[p[]] = x[p[]] + 1.0\n}\n");
  };
  const sdfg::Sdfg found = nest("    if (0.0 < A[i, j]) {\n      s1: p[] = {j}i32\n    }\n");
  const Expanded expanded = expand_scalars(found, log);
  EXPECT_EQ(body(expanded.sdfg), R"(
loop i = 0 .. n {
  s0: p[i] = 0
  loop j = 0 .. m {
    if (0.0 < A[i, j]) {
      s1: p[i] = {j}i32
    }
  }
  s2: x[p[i]] = x[p[i]] + 1.0
}
)");
  EXPECT_EQ(body(contract_scalars(expanded.sdfg, expanded.arrays, log)), body(found));
  EXPECT_EQ(expand_scalars(nest("    s1: A[i, j] = x[p[]]\n"), log).arrays.size(), 0);
}

TEST(Distribute, MakesEveryComponentANest) {
  Log log;
  Work work = work_on(graph(R"(
loop i = 1 .. n {
  s0: x[i] = x[i - 1] + 1.0
  loop j = 0 .. m {
    s1: A[i, j] = x[i]
    s2: B[i, j] = A[i - 1, j]
    s3: A[i, j] = A[i, j] + B[i, j]
  }
}
)"));
  distribute(work, log);
  EXPECT_EQ(after(work), R"(
loop i = 1 .. n {
  s0: x[i] = x[i - 1] + 1.0
}
loop i_2 = 1 .. n {
  loop j_2 = 0 .. m {
    s1: A[i_2, j_2] = x[i_2]
  }
}
loop i_3 = 1 .. n {
  loop j_4 = 0 .. m {
    s2: B[i_3, j_4] = A[i_3 - 1, j_4]
  }
  loop j_3_2 = 0 .. m {
    s3: A[i_3, j_3_2] = A[i_3, j_3_2] + B[i_3, j_3_2]
  }
}
)");
}

TEST(OrientLoops, TurnsOnlyWhatMayBeTurned) {
  Log log;
  Work work = work_on(graph(R"(
loop i = 0 .. n {
  s0: x[n - i - 1] = A[n - i - 1, 0]
}
loop k = 0 .. n - 1 {
  s1: x[n - k - 2] = x[n - k - 1]
}
)"));
  orient_loops(work, log);
  EXPECT_EQ(after(work), R"(
loop i = 0 .. n {
  s0: x[i] = A[i, 0]
}
loop k = 0 .. n - 1 {
  s1: x[-k + n - 2] = x[-k + n - 1]
}
)");
}

TEST(MinimizeStrides, PermutesABandUnlessADependenceForbidsIt) {
  Log log;
  Work work = work_on(graph(R"(
loop j = 0 .. m {
  loop i = j .. n {
    s0: A[i, j] = A[i, j] + B[i, j]
  }
}
loop c = 0 .. m - 1 {
  loop r = 1 .. n {
    s1: B[r, c] = B[r - 1, c + 1]
  }
}
)"));
  minimize_strides(work, log);
  EXPECT_EQ(after(work), R"(
loop i = 0 .. n {
  loop j = 0 .. min(i + 1, m) {
    s0: A[i, j] = A[i, j] + B[i, j]
  }
}
loop c = 0 .. m - 1 {
  loop r = 1 .. n {
    s1: B[r, c] = B[r - 1, c + 1]
  }
}
)");
}

TEST(CanonicalNames, AreByPlaceAndTheHashKnowsNoOthers) {
  const auto one = sdfg::parse(R"(sdfg 1 one
symbols p, q
array u: f64[q] argument alias 3
array M: f64[p, q] argument alias 7
arguments q, M, u, p
assume p - 1 >= 0
disjoint u, M
loop a = 0 .. p {
  loop b = 0 .. q {
    z: M[a, b] = u[b]
  }
}
)");
  const auto other = sdfg::parse(R"(sdfg 1 other
symbols cols, rows
array out: f64[rows, cols] argument
array in: f64[cols] argument
arguments rows, cols, out, in
loop i = 0 .. rows {
  loop j = 0 .. cols {
    s: out[i, j] = in[j]
  }
}
)");
  const auto [nest, back] = canonical_names(one.value());
  EXPECT_EQ(nest.arguments, (std::vector<std::string>{"n0", "n1", "a0", "a1"}));
  EXPECT_EQ(back.containers, (std::map<std::string, std::string>{{"a0", "u"}, {"a1", "M"}}));
  EXPECT_EQ(back.symbols, (std::map<std::string, std::string>{{"i0", "a"}, {"i1", "b"}, {"n0", "p"}, {"n1", "q"}}));
  EXPECT_EQ(structural_hash(nest), structural_hash(canonical_names(other.value()).first));
}

TEST(Units, MakeTransientsThatLiveOnArgumentsOfThePart) {
  const auto form = normalize(sdfg::parse(R"(sdfg 1 two
symbols n
array x: f64[n] argument
array y: f64[n] argument
array tmp: f64[n] heap transient
arguments n, x, y
loop i = 0 .. n {
  s0: tmp[i] = exp(x[i])
}
loop j = 0 .. n {
  s1: y[j] = tmp[n - j - 1] + tmp[j]
}
)")
                                  .value());
  ASSERT_TRUE(form);
  ASSERT_EQ(form->units.size(), 3u);
  EXPECT_EQ(form->units[0].nest.arguments, (std::vector<std::string>{"n0", "a0", "a2"}));  // tmp stays inside
  EXPECT_EQ(form->units[1].nest.arguments, (std::vector<std::string>{"n0", "a0", "a1"}));  // tmp goes out
}

// What is stored in a dead argument and read by nobody goes; the argument stays in the signature.
TEST(RemoveDead, StoresThatNobodyLooksAt) {
  const auto normal = [](const std::string& attribute, const std::string& body) {
    auto form =
        normalize(sdfg::parse("sdfg 1 t symbols n array x: f64[n] argument const alias 1 array y: f64[n] argument "
                              "alias 2 array d: f64[n] argument" +
                              attribute + " alias 3 arguments n, x, y, d " + body)
                      .value());
    EXPECT_TRUE(form);
    EXPECT_EQ(form->sdfg.arguments, (std::vector<std::string>{"n", "x", "y", "d"}));
    return form->sdfg;
  };
  const auto writes = [&](const std::string& attribute, const std::string& body) {
    return sdfg::touched(normal(attribute, body).root).written.contains("d");
  };
  const std::string unread = "loop i = 0 .. n { s0: d[i] = x[i] s1: y[i] = x[i] + 1.0 }";
  EXPECT_TRUE(writes("", unread));
  EXPECT_FALSE(writes(" dead", unread));
  EXPECT_FALSE(writes(" dead", "loop i = 1 .. n { s0: d[i] = d[i - 1] + x[i] }"));
  EXPECT_TRUE(writes(" dead", "loop i = 0 .. n { s0: d[i] = x[i] } loop j = 0 .. n { s1: y[j] = d[n - j - 1] }"));
  EXPECT_TRUE(writes(" dead", "loop i = 0 .. n { s0: d[i] = sqrt(x[i]) }"));  // sets errno
}

// A part of a nest must leave what a later part reads; and a nest with a dead array is another one than without.
TEST(Units, ADeadArrayIsDeadBehindItsLastRead) {
  const auto units = [](const std::string& attribute) {
    return normalize(
               sdfg::parse("sdfg 1 t symbols n array x: f64[n, n] argument array d: f64[n] argument" + attribute +
                           " arguments n, x, d loop i = 0 .. n { s0: d[i] = x[i, 0] } loop j = 0 .. n { loop k = 0 "
                           ".. n { s1: d[j] = d[j] * x[j, k] } } loop l = 0 .. n { s2: x[l, l] = d[n - l - 1] }")
                   .value())
        ->units;
  };
  const auto dead = [](const NormalForm::Unit& unit) {
    return std::ranges::count_if(unit.nest.containers, [](const sdfg::Container& c) { return c.dead; });
  };
  const auto live = units(""), with = units(" dead");
  ASSERT_EQ(with.size(), 4u);
  ASSERT_EQ(live.size(), 4u);
  EXPECT_EQ(dead(with[0]), 1);  // the whole
  for (std::size_t k : {1u, 2u, 3u}) {
    EXPECT_EQ(dead(with[k]), 0) << k;  // read later, or not written
    EXPECT_EQ(with[k].structural_hash, live[k].structural_hash);
  }
  EXPECT_NE(with[0].structural_hash, live[0].structural_hash);
}

}  // namespace
}  // namespace sous::transforms::normal
