#include "sdfg/dependences.h"

#include <gtest/gtest.h>

#include "sdfg/dependence_data.h"
#include "sdfg/text.h"

namespace sous::sdfg {
namespace {

struct Analysed {
  Scop scop;
  Dependences dependences;
};

Analysed analyse(const std::string& text) {
  auto sdfg = parse(text);
  if (!sdfg) ADD_FAILURE() << sdfg.error().to_string();
  Analysed a{scop_of(sdfg.value_or(Sdfg{})), {}};
  auto d = Dependences::compute(a.scop);
  if (!d) ADD_FAILURE() << d.error().to_string();
  if (d) a.dependences = *d;
  return a;
}

std::string all(const Analysed& a) {
  std::string text;
  for (const Dependence& d : a.dependences.all()) text += d.to_string(a.scop) + "\n";
  return text;
}

std::string carriers(const Analysed& a, const std::string& loop) {
  auto carried = carried_by(a.dependences, a.scop, a.scop.tree, loop);
  if (!carried) return carried.error().to_string();
  std::string text;
  for (const Carried& c : *carried)
    text += a.dependences.all()[static_cast<std::size_t>(c.dependence)].to_string(a.scop) +
            (c.self_update ? " update" : "") + "\n";
  return text;
}

constexpr const char* head =
    "sdfg 1 t symbols n array A: f64[n, n] argument array x: f64[n] argument "
    "array t: f64 stack transient arguments n, A, x ";

Analysed nest(const std::string& body) { return analyse(head + body); }

TEST(Dependences, RecurrenceIsCarriedWithItsDistance) {
  auto a = nest("loop i = 2 .. n { s0: x[i] = x[i - 2] + 1.0 }");
  EXPECT_EQ(all(a), "flow dependence s0 -> s0 on x (2)\n");
  EXPECT_NE(carriers(a, "i"), "");
}

TEST(Dependences, IndependentIterationsCarryNothing) {
  auto a = nest("loop i = 0 .. n { loop j = 0 .. n { s0: A[i, j] = A[i, j] + 1.0 } }");
  EXPECT_EQ(all(a), "");
}

TEST(Dependences, AntiDependenceOfAShiftToTheLeft) {
  auto a = nest("loop i = 0 .. n - 1 { s0: x[i] = x[i + 1] }");
  EXPECT_EQ(all(a), "anti dependence s0 -> s0 on x (1)\n");
}

TEST(Dependences, DisjointHalvesDoNotDepend) {
  auto a = nest("loop i = 0 .. n floordiv 2 { s0: x[i] = x[i + n floordiv 2] }");
  EXPECT_EQ(all(a), "");
}

TEST(Dependences, EvenAndOddElementsDoNotDepend) {
  auto a = nest("loop i = 0 .. n floordiv 2 - 1 { s0: x[2*i] = x[2*i + 1] }");
  EXPECT_EQ(all(a), "");
}

TEST(Dependences, ReductionIsASelfUpdate) {
  auto a = nest("loop i = 0 .. n { loop j = 0 .. n { s0: x[i] = x[i] + A[i, j] } }");
  EXPECT_EQ(carriers(a, "i"), "");
  EXPECT_NE(carriers(a, "j").find("update"), std::string::npos);
}

TEST(Dependences, InterchangeOfANegativeDistanceIsIllegal) {
  auto a = nest("loop i = 1 .. n { loop j = 0 .. n - 1 { s0: A[i, j] = A[i - 1, j + 1] } }");
  ScheduleTree tree = a.scop.tree;
  auto& i = std::get<ScheduleLoop>(tree[0].value);
  auto j = std::get<ScheduleLoop>(i.children[0].value);
  auto inner = i;
  inner.children = j.children;
  j.children = {inner};
  auto result = respects(a.dependences, a.scop, {j});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, "legality.dependence");
}

TEST(Dependences, LostAndDoubledInstancesAreFound) {
  auto a = nest("loop i = 0 .. n { s0: x[i] = 1.0 }");
  auto tree = a.scop.tree;
  std::get<ScheduleLoop>(tree[0].value).end = Expr::symbol("n") - 1;
  EXPECT_EQ(respects(a.dependences, a.scop, tree).error().code, "legality.instances");
  EXPECT_EQ(respects(a.dependences, a.scop, {a.scop.tree[0], a.scop.tree[0]}).error().code, "legality.instances");
  EXPECT_TRUE(respects(a.dependences, a.scop, a.scop.tree));
}

TEST(Dependences, TemporaryIsPrivatizable) {
  auto a = nest("loop i = 0 .. n { s0: t[] = x[i] s1: x[i] = t[] * t[] }");
  EXPECT_EQ(privatizable(a.dependences, a.scop, a.scop.tree, "i", "t"), Result<bool>(true));
  auto carried = nest("loop i = 0 .. n { s0: x[i] = t[] s1: t[] = x[i] }");
  EXPECT_EQ(privatizable(carried.dependences, carried.scop, carried.scop.tree, "i", "t"), Result<bool>(false));
}

bool is_private(const std::string& body) {
  auto a = nest("loop i = 0 .. n { " + body + " }");
  return *privatizable(a.dependences, a.scop, a.scop.tree, "i", "t");
}

// In branches and loops that no one statement of the nest is: what every way through writes before it reads it.
TEST(Dependences, TemporaryInBranchesAndWhileLoopsIsPrivatizable) {
  EXPECT_TRUE(is_private("while (x[i] > 1.0) { s0: t[] = x[i] s1: x[i] = t[] * 0.5 }"));
  EXPECT_TRUE(is_private("if (x[i] > 1.0) { s0: t[] = x[i] } else { s1: t[] = 2.0 } s2: x[i] = t[]"));
  EXPECT_TRUE(is_private("s0: t[] = 1.0 if (x[i] > 1.0) { s1: t[] = x[i] } s2: x[i] = t[]"));
  EXPECT_TRUE(is_private("do { s0: t[] = x[i] s1: x[i] = x[i] * 0.5 } while (t[] > 1.0) s2: x[i] = t[]"));
  EXPECT_TRUE(is_private("if (x[i] > 1.0) { s0: t[] = x[i] if (t[] > 2.0) { s1: x[i] = t[] } }"));
}

TEST(Dependences, TemporaryThatOneWayLeavesUnwrittenIsNotPrivatizable) {
  EXPECT_FALSE(is_private("while (x[i] > 1.0) { s0: t[] = x[i] s1: x[i] = x[i] * 0.5 } s2: x[i] = t[]"));
  EXPECT_FALSE(is_private("if (x[i] > 1.0) { s0: t[] = x[i] } s1: x[i] = t[]"));
  EXPECT_FALSE(is_private("if (x[i] > 1.0) { s0: t[] = x[i] } else { s1: x[i] = t[] }"));
  EXPECT_FALSE(is_private("while (x[i] > 1.0) { s0: x[i] = x[i] * t[] s1: t[] = x[i] }"));
  EXPECT_FALSE(is_private("while (t[] > 1.0) { s0: t[] = x[i] s1: x[i] = 0.0 }"));
}

// Whichever element data say, it is one of the array's.
TEST(Dependences, ArrayThatIsFilledAsAWholeIsPrivatizableThoughDataSayWhatIsRead) {
  const auto is_own = [](const std::string& extent, const std::string& body) {
    const auto sdfg = parse("sdfg 1 t symbols n array x: f64[n] argument array p: i64[n] argument array t: f64[" +
                            extent + "] heap transient arguments n, x, p loop i = 0 .. n { " + body + " }");
    EXPECT_TRUE(sdfg) << sdfg.error().to_string();
    const Scop scop = scop_of(*sdfg);
    return *privatizable(Dependences::compute(scop).value(), scop, scop.tree, "i", "t");
  };
  const std::string filled = "loop j = 0 .. 8 { loop k = 0 .. 8 { s0: t[8 * j + k] = x[i] } } ";
  EXPECT_TRUE(is_own("64", filled + "loop q = 0 .. 64 { s1: x[i] = x[i] + t[p[q]] }"));
  EXPECT_TRUE(is_own("n", "loop j = 0 .. n { s0: t[j] = x[i] } loop q = 0 .. n { s1: x[i] = x[i] + t[p[q]] }"));
  // Counted into by data.
  EXPECT_TRUE(is_own("64", filled + "loop q = 0 .. n { s1: t[p[q]] = t[p[q]] + 1.0 } s2: x[i] = t[3]"));
  // From n on, of which nobody says that it is not negative.
  EXPECT_TRUE(is_own("64", filled + "loop q = n - 3 .. 64 { s1: x[i] = x[i] + t[q] }"));
  EXPECT_FALSE(is_own("65", filled + "loop q = n - 3 .. 65 { s1: x[i] = x[i] + t[q] }"));
  EXPECT_FALSE(is_own("65", filled + "loop q = 0 .. 64 { s1: x[i] = x[i] + t[p[q]] }"));
  EXPECT_FALSE(is_own("64", "loop q = 0 .. 64 { s1: x[i] = x[i] + t[p[q]] } " + filled));
  EXPECT_FALSE(is_own("64", "loop q = 0 .. 64 { s0: t[p[q]] = x[i] } loop j = 0 .. 64 { s1: x[i] = x[i] + t[j] }"));
  EXPECT_FALSE(is_own("64", "if (x[i] > 0.0) { " + filled + "} loop q = 0 .. 64 { s1: x[i] = x[i] + t[p[q]] }"));
}

// What a function is given may go on behind the extent that its parameter has.
TEST(Dependences, DataMayReadBehindTheOutermostExtentOfAnArgument) {
  const auto reads_own = [](const std::string& extents, const std::string& row, const std::string& read) {
    const auto sdfg = parse("sdfg 1 t symbols n array t: f64[" + extents +
                            "] argument alias 1 array p: i64[n] argument alias 2 array x: f64[n] argument alias 3 "
                            "arguments n, t, p, x loop i = 0 .. n { loop j = 0 .. 64 { s0: t[" +
                            row + "] = x[i] } loop q = 0 .. 64 { s1: x[i] = x[i] + t[" + read + "] } }");
    EXPECT_TRUE(sdfg) << sdfg.error().to_string();
    const Scop scop = scop_of(*sdfg);
    return *reads_own_values(Dependences::compute(scop).value(), scop, scop.tree, "i", "t");
  };
  EXPECT_TRUE(reads_own("64", "j", "q"));
  EXPECT_FALSE(reads_own("64", "j", "p[q]"));
  EXPECT_TRUE(reads_own("5, 64", "3, j", "3, p[q]")) << "a row has its length";
  EXPECT_FALSE(reads_own("1, 64", "0, j", "p[q], q"));
}

TEST(Dependences, WhatIsWrittenOutsideTheLoopIsNotItsOwn) {
  auto a = nest("s0: t[] = 1.0 loop i = 0 .. n { s1: t[] = x[i] s2: x[i] = t[] }");
  EXPECT_EQ(privatizable(a.dependences, a.scop, a.scop.tree, "i", "t"), Result<bool>(false));
}

TEST(Dependences, TriangleIsExact) {
  auto a = nest("loop i = 0 .. n { loop j = 0 .. i { s0: x[i] = x[i] - A[i, j] * x[j] } }");
  // x[j] with j < i was written by earlier i only: no anti dependence to a later one.
  EXPECT_EQ(all(a).find("anti dependence s0 -> s0 on x (*"), std::string::npos) << all(a);
}

TEST(Dependences, GuardIsPartOfTheDomain) {
  auto a = nest("loop i = 0 .. n { if ({i}i64 < 1i64) { s0: x[i] = x[n - 1] } }");
  ASSERT_EQ(a.scop.statements.size(), 1u);
  EXPECT_FALSE(a.scop.statements[0].opaque);
}

TEST(Dependences, GatherIsAMayAccess) {
  auto a = analyse(
      "sdfg 1 t symbols n array x: f64[n] argument array k: i64[n] argument arguments n, x, k "
      "loop i = 0 .. n { s0: x[k[i]] = 1.0 }");
  EXPECT_EQ(all(a), "output dependence s0 -> s0 on x (*)\n");
}

TEST(Dependences, AScatterMayWriteWhatAnyIterationReads) {
  auto a = analyse(
      "sdfg 1 t symbols n array x: f64[n] argument array y: f64[n] argument array at: i64[n] argument "
      "arguments n, x, y, at loop i = 0 .. n - 1 { s0: x[at[i]] = 1.0 s1: y[i] = x[i + 1] }");
  EXPECT_NE(carriers(a, "i").find("flow dependence s0 -> s1 on x"), std::string::npos) << carriers(a, "i");
  EXPECT_NE(carriers(a, "i").find("anti dependence s1 -> s0 on x"), std::string::npos) << carriers(a, "i");
}

TEST(Dependences, ArraysOfOneAliasClassMayBeTheSame) {
  const std::string arrays =
      "sdfg 1 t symbols n array x: f64[n] argument alias 1 array y: f64[n] argument alias 1 arguments n, x, y ";
  EXPECT_NE(carriers(analyse(arrays + "loop i = 0 .. n { s0: x[i] = y[i] }"), "i"), "");
}

// y may be x: its read is none of the reduction into x, and stands between two of them.
TEST(Dependences, ReadsOfWhatMayBeReducedIntoAreNoPartOfTheReduction) {
  const auto updates = [](const std::string& y) {
    const Analysed a = analyse("sdfg 1 t symbols n array x: f64[n] argument alias 1 array y: f64[n] argument alias " +
                               y + " arguments n, x, y loop i = 0 .. n { s0: x[0] = x[0] + y[i] }");
    std::string all;
    for (const Carried& c : *carried_by(a.dependences, a.scop, a.scop.tree, "i"))
      all += (all.empty() ? "" : " ") + a.dependences.all()[static_cast<std::size_t>(c.dependence)].container +
             (c.self_update ? "+" : "");
    return all;
  };
  EXPECT_EQ(updates("2"), "x+ x+ x+");
  EXPECT_EQ(updates("1"), "x+ y x+ y x+");
}

TEST(Dependences, BudgetIsAnError) {
  auto sdfg = parse(std::string(head) + "loop i = 2 .. n { s0: x[i] = x[i - 2] + 1.0 }");
  ASSERT_TRUE(sdfg);
  EXPECT_EQ(Dependences::compute(scop_of(*sdfg), {.operations = 3}).error().code, "isl.budget");
}

// Of two loops side by side only the second's dependences are known: what they say about it is what all of them say,
// and what concerns the first is refused.
TEST(Dependences, AmongSomeStatements) {
  const Analysed a = nest(
      "loop i = 1 .. n { s0: x[i] = x[i - 1] } loop j = 1 .. n { loop k = 1 .. n { s1: A[j, k] = A[j - 1, k] + x[j] } "
      "}");
  const auto some = Dependences::compute_among(a.scop, {1});
  ASSERT_TRUE(some);
  EXPECT_TRUE(a.dependences.cover({0, 1}));
  EXPECT_TRUE(some->cover({1}));
  EXPECT_FALSE(some->cover({0, 1}));
  ASSERT_EQ(some->all().size(), 1u);
  EXPECT_EQ(some->all()[0].to_string(a.scop), "flow dependence s1 -> s1 on A (1, 0)");

  const auto with = [&](const char* symbol) {
    ScheduleTree tree = a.scop.tree;
    find_loop(tree, symbol)->schedule = Parallel{};
    const auto legal = respects_as(*some, a.scop, a.scop.tree, tree);
    return legal ? "" : legal.error().code;
  };
  EXPECT_EQ(with("k"), "");
  EXPECT_EQ(with("j"), "legality.carried");
  EXPECT_EQ(with("i"), "isl.scope");
  EXPECT_EQ(carried_by(*some, a.scop, a.scop.tree, "i").error().code, "isl.scope");
  EXPECT_EQ(carried_by(*some, a.scop, a.scop.tree, "j")->size(), 1u);
  EXPECT_EQ(respects(*some, a.scop, a.scop.tree).error().code, "isl.scope");
  ScheduleTree exchanged = a.scop.tree;
  std::swap(exchanged[0], exchanged[1]);
  EXPECT_EQ(respects_as(*some, a.scop, a.scop.tree, exchanged).error().code, "isl.scope");
}

// s1 of another iteration of i in each: its order towards s0 is another one, though s0 stays where it is.
TEST(Dependences, AmongSomeStatementsMovedToOtherIterations) {
  const Analysed a = nest("loop i = 1 .. n { s0: x[i] = x[i] + A[i - 1, 0] loop j = 0 .. n { s1: A[i, j] = x[i] } }");
  const auto some = Dependences::compute_among(a.scop, {1});
  ASSERT_TRUE(some);
  ScheduleTree moved = a.scop.tree;
  ScheduleLoop* inner = find_loop(moved, "j");
  std::get<ScheduleLeaf>(inner->children[0].value).iterators[0] = Expr::symbol("n") - Expr::symbol("i");
  EXPECT_EQ(respects_as(*some, a.scop, a.scop.tree, moved).error().code, "isl.scope");
  EXPECT_EQ(respects_as(a.dependences, a.scop, a.scop.tree, moved).error().code, "legality.dependence");
}

TEST(ScheduleTree, LowerOfLiftIsTheGraph) {
  auto sdfg =
      parse(std::string(head) +
            "loop i = 0 .. n { s0: x[i] = 0.0 loop j = i .. n { if ({j}i64 < 4i64) { s1: x[i] = x[i] + A[i, j] } } }");
  ASSERT_TRUE(sdfg);
  auto scop = scop_of(*sdfg);
  EXPECT_EQ(print(lower(scop, scop.tree)), print(*sdfg));
}

// The parallel loop's partial sum is one for all iterations of j: that they add to it is j's own to say.
TEST(Dependences, AReductionOfALoopAroundExcusesNoLoopInside) {
  const std::string body = "loop i = 0 .. n parallel reduce(+: x) { loop j = 0 .. n";
  const std::string sum = " { s0: x[0] = x[0] + A[i, j] } }";
  auto sequential = nest(body + sum), lockstep = nest(body + " simd" + sum),
       reduced = nest(body + " simd reduce(+: x)" + sum);
  EXPECT_EQ(carriers(sequential, "i"), "");
  EXPECT_NE(carriers(sequential, "j"), "");
  EXPECT_TRUE(respects(sequential.dependences, sequential.scop, sequential.scop.tree));
  EXPECT_FALSE(respects(lockstep.dependences, lockstep.scop, lockstep.scop.tree));
  EXPECT_TRUE(respects(reduced.dependences, reduced.scop, reduced.scop.tree));
}

// Updates that have changed places still must not run at the same time: a loop that was reversed carries the pairs that
// it had, though their targets are first now.
TEST(Dependences, UpdatesThatHaveChangedPlacesAreCarried) {
  const std::string ints = "sdfg 1 t symbols n array x: i32[n] argument array B: i32[n, n] argument arguments n, x, B ";
  const std::string around =
      "sdfg 1 t symbols n array x: f64[n] argument array B: f64[n, n] argument arguments n, x, B ";
  for (const std::string& text :
       {ints + "loop i = 0 .. n { loop j = 0 .. n { s0: x[0] = x[0] + B[i, j] } }",
        ints + "loop i = 1 .. n { loop j = 0 .. n { s0: x[0] = max(x[0], x[i] + B[i, j]) } }",
        around + "loop i = 0 .. n parallel reduce(+: x) { loop j = 0 .. n { s0: x[0] = x[0] + B[i, j] } }"}) {
    const Analysed a = analyse(text);
    ScheduleTree tree = a.scop.tree;
    ScheduleLoop& j = *find_loop(tree, "j");
    std::swap(j.begin, j.end);
    j.begin = j.begin - 1;
    j.end = j.end - 1;
    j.step = -1;
    EXPECT_TRUE(respects(a.dependences, a.scop, tree)) << text;
    const auto carried = carried_by(a.dependences, a.scop, tree, "j");
    ASSERT_TRUE(carried);
    EXPECT_FALSE(carried->empty()) << text;
    for (const Schedule& schedule : {Schedule(Parallel{}), Schedule(Simd{}), Schedule(GpuBlock{0})}) {
      j.schedule = schedule;
      EXPECT_FALSE(respects(a.dependences, a.scop, tree)) << text;
    }
  }
}

std::string told(const Analysed& a, const ScheduleTree& tree, const std::string& loop) {
  const auto carried = carried_by(a.dependences, a.scop, tree, loop);
  if (!carried) return carried.error().to_string();
  std::string text = loop + ":";
  for (const Carried& c : *carried)
    text += " " + std::to_string(c.dependence) + (c.distance ? "/" + std::to_string(*c.distance) : "") +
            (c.self_update ? "u" : "");
  return text;
}

// Of the program's own loops the distances of dependences tell mostly what they carry; of any other tree the relations
// do, which are asked here by a hint that makes no difference.
TEST(Dependences, DistancesTellOfLoopsWhatRelationsDo) {
  for (const char* body :
       {"loop i = 2 .. n { s0: x[i] = x[i - 2] + 1.0 }",
        "loop i = 1 .. n { loop j = 1 .. n { s0: A[i, j] = A[i - 1, j - 1] + A[i, j - 1] } }",
        "loop i = 1 .. n { loop j = 0 .. n - 1 { s0: A[i, j] = A[i - 1, j + 1] + A[i - 1, j] } }",
        "loop i = 0 .. n { loop j = 0 .. n { s0: x[i] = x[i] + A[i, j] } }",
        "loop i = 0 .. n { loop j = 0 .. n { s0: x[j] = x[j] + A[i, j] } loop k = 1 .. n { s1: x[k] = x[k - 1] } }",
        "loop i = 0 .. n { loop j = 0 .. i { s0: A[i, j] = A[j, i] + x[i + j] s1: x[i] = A[i, j] } }",
        "loop i = 2 .. n step 2 { s0: x[i] = x[i - 2] + 1.0 s1: x[i - 1] = x[i] }",
        "loop i = n - 1 .. 1 step -1 { s0: x[i] = x[i - 1] }",
        "loop i = 0 .. n { loop j = 0 .. 4 { s0: t[] = A[i, j] s1: x[i] = x[i] + t[] } }"}) {
    const auto a = nest(body);
    ScheduleTree hinted = a.scop.tree;
    for (const std::string& loop : loop_symbols(hinted)) find_loop(hinted, loop)->prefetch = 1;
    for (const std::string& loop : loop_symbols(hinted))
      EXPECT_EQ(told(a, a.scop.tree, loop), told(a, hinted, loop)) << body;
  }
}

TEST(Dependences, WhatWasAskedIsNotAskedAgain) {
  const auto a = nest("loop i = 1 .. n { loop j = 1 .. n { s0: A[i, j] = A[i - 1, j] } }");
  const Dependences::Data& data = a.dependences.data();
  for (int k = 0; k < 3; ++k)
    for (const char* loop : {"i", "j"}) EXPECT_TRUE(carried_by(a.dependences, a.scop, a.scop.tree, loop));
  EXPECT_EQ(data.asked.size(), 1u);
  ScheduleTree parallel = a.scop.tree;
  find_loop(parallel, "j")->schedule = Parallel{};
  for (int k = 0; k < 3; ++k) EXPECT_TRUE(respects_as(a.dependences, a.scop, a.scop.tree, parallel));
  EXPECT_EQ(data.proven.size(), 1u);
  find_loop(parallel, "i")->schedule = Parallel{};
  for (int k = 0; k < 3; ++k) EXPECT_FALSE(respects_as(a.dependences, a.scop, a.scop.tree, parallel));
  EXPECT_EQ(data.proven.size(), 2u);
}

TEST(Dependences, WhatIsKeptIsOfThatLoopThatContainerAndThatQuestion) {
  const auto a = nest("loop i = 0 .. n { s0: t[] = x[i] loop j = 0 .. n { s1: A[i, j] = t[] + x[j] } }");
  const auto answers = [&](const char* loop, const char* container) {
    const auto asked = [&](auto& question) {
      return question(a.dependences, a.scop, a.scop.tree, loop, container).value() ? "yes " : "no ";
    };
    return std::string(asked(reads_own_values)) + asked(reads_older_values) + asked(privatizable);
  };
  for (int again = 0; again < 2; ++again) {
    EXPECT_EQ(answers("i", "t"), "yes no yes ");
    EXPECT_EQ(answers("j", "t"), "no yes no ");
    EXPECT_EQ(answers("i", "x"), "no yes no ");
    EXPECT_EQ(answers("i", "A"), "yes yes no ");
  }
  EXPECT_EQ(a.dependences.data().asked.size(), 1u);
}

}  // namespace
}  // namespace sous::sdfg
