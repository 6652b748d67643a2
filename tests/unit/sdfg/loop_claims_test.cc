// Proofs from what is known of a tree against those that ask isl for everything: the same answers.
#include "sdfg/loop_claims.h"

#include <gtest/gtest.h>

#include "tests/unit/sdfg/analysed.h"

namespace sous::sdfg {
namespace {

constexpr const char* head =
    "sdfg 1 t symbols n array A: f64[n, n] argument array x: f64[n] argument "
    "array t: f64 stack transient array u: f64[n] stack transient arguments n, A, x ";

Analysed nest(const std::string& body) { return analysed(head + body); }

// Against a tree that is legal, and as if nothing were known of one.
void expect_same(const Analysed& a, const ScheduleTree& legal, const ScheduleTree& tree, const std::string& what) {
  ASSERT_EQ(answer(respects(a.dependences, a.scop, legal)), "legal") << what;
  EXPECT_EQ(answer(respects_as(a.dependences, a.scop, legal, tree)), answer(respects(a.dependences, a.scop, tree)))
      << what;
}

const char* const bodies[] = {
    "loop i = 0 .. n { s0: t[] = A[i, 0] s1: x[i] = t[] + 1.0 }",
    "loop i = 0 .. n { s0: x[i] = t[] s1: t[] = A[i, 0] }",
    "loop i = 0 .. n { s0: t[] = 0.0 loop j = 0 .. n { s1: t[] = t[] + A[i, j] } s2: x[i] = t[] }",
    "loop i = 0 .. n { loop j = 0 .. n { s0: t[] = A[i, j] } s1: x[i] = t[] }",
    "loop i = 0 .. n { if ({i}i64 < 4i64) { s0: t[] = A[i, 0] } s1: x[i] = t[] }",
    "loop i = 0 .. n { loop j = 0 .. n { s0: u[j] = A[i, j] } loop k = 0 .. n { s1: x[k] = x[k] + u[k] } }",
    "loop i = 1 .. n { loop j = 1 .. n { s0: t[] = A[i - 1, j] s1: A[i, j] = t[] + A[i, j - 1] } }",
    "loop i = 1 .. n { loop j = 0 .. n - 1 { s0: t[] = A[i - 1, j + 1] s1: A[i, j] = t[] } }",
    "loop i = 0 .. n { loop j = 0 .. n { s0: t[] = A[i, j] s1: x[j] = x[j] + t[] } }",
    "loop i = 0 .. n { loop j = 0 .. i { s0: t[] = A[j, i] s1: A[i, j] = t[] } }",
    "loop i = n - 1 .. 0 step -1 { s0: t[] = x[i] s1: x[i] = t[] + x[i - 1] }",
};

TEST(LoopClaims, SchedulesAndPrivatesAreRightWhereIslSaysSo) {
  for (const char* body : bodies) {
    const Analysed a = nest(body);
    for (const std::string& symbol : loop_symbols(a.scop.tree))
      for (const Schedule& schedule :
           {Schedule(Sequential{}), Schedule(Parallel{}), Schedule(Simd{4}), Schedule(Unroll{2})})
        for (const std::vector<std::string>& privates : {std::vector<std::string>{}, {"t"}, {"u"}, {"t", "u"}})
          for (const bool sums : {false, true}) {
            ScheduleTree tree = a.scop.tree;
            ScheduleLoop& loop = *find_loop(tree, symbol);
            loop.schedule = schedule;
            loop.privates = privates;
            if (sums) loop.reductions.push_back({.container = "x", .op = ReductionOp::sum});
            expect_same(a, a.scop.tree, tree, body + (" " + symbol));
            // And from there on.
            if (!privates.empty() || !respects(a.dependences, a.scop, tree)) continue;
            ScheduleTree more = tree;
            find_loop(more, symbol)->privates.push_back("t");
            expect_same(a, tree, more, body + (" then private " + symbol));
          }
  }
}

// Tiles of the outer loop, and both loops of two exchanged, around or inside of loops with privates.
TEST(LoopClaims, OrdersAroundPrivatesAreRightWhereIslSaysSo) {
  for (const char* body : bodies) {
    const Analysed a = nest(body);
    for (const std::string& symbol : loop_symbols(a.scop.tree)) {
      ScheduleTree legal = a.scop.tree;
      find_loop(legal, symbol)->privates = {"t"};
      if (!respects(a.dependences, a.scop, legal)) continue;
      ScheduleLoop& outer = std::get<ScheduleLoop>(legal[0].value);
      if (outer.step != 1) continue;
      ScheduleTree tiled = legal;
      ScheduleLoop tile = outer, points = outer;
      tile.symbol = "tile";
      tile.step = 8;
      tile.privates.clear();
      points.begin = Expr::symbol("tile");
      points.end = Expr::min(Expr::symbol("tile") + 8, outer.end);
      tile.children = {{points}};
      tiled[0] = {tile};
      expect_same(a, legal, tiled, body + (" tiled, private to " + symbol));
      const auto* inner = std::get_if<ScheduleLoop>(&outer.children[0].value);
      const bool band = inner != nullptr && outer.children.size() == 1 && !inner->end.uses(outer.symbol);
      if (!band) continue;
      ScheduleLoop first = *inner, second = outer;
      second.children = inner->children;
      first.children = {{second}};
      expect_same(a, legal, {{first}}, body + (" exchanged, private to " + symbol));
    }
  }
}

// Each iteration of `two` writes u for two points and reads it for two. Begun one point earlier, the same loop reads
// what the iteration before has written.
TEST(LoopClaims, APrivateIsKeptOnlyWhereItsIterationsHoldTheSameInstances) {
  const Analysed a =
      nest("loop p = 0 .. n { s0: u[p] = A[p, 0] } loop q = 0 .. n { s1: x[q] = u[2 * (q floordiv 2)] }");
  const Expr begin = Expr::max(Expr::symbol("two"), 0), end = Expr::min(Expr::symbol("two") + 2, Expr::symbol("n"));
  ScheduleLoop p = *find_loop(a.scop.tree, "p"), q = *find_loop(a.scop.tree, "q");
  p.begin = q.begin = begin;
  p.end = q.end = end;
  ScheduleLoop once;
  once.symbol = "once";
  once.begin = 0;
  once.end = 1;
  once.privates = {"u"};
  once.children = {{p}, {q}};
  const auto from = [&](int first) {
    ScheduleLoop two;
    two.symbol = "two";
    two.begin = first;
    two.end = Expr::symbol("n");
    two.step = 2;
    two.children = {{once}};
    return ScheduleTree{{two}};
  };
  expect_same(a, from(0), from(-1), "from -1");
  EXPECT_EQ(answer(respects_as(a.dependences, a.scop, from(0), from(-1))), "legality.private");
  expect_same(a, from(0), from(-2), "from -2");
}

}  // namespace
}  // namespace sous::sdfg
