// What stands side by side in other orders, against the proof that asks isl for everything: the same answers.
#include "sdfg/sibling_moves.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "tests/unit/sdfg/analysed.h"

namespace sous::sdfg {
namespace {

constexpr const char* head =
    "sdfg 1 t symbols n array A: f64[n, n] argument array x: f64[n] argument array y: f64[n] argument "
    "array t: f64 stack transient arguments n, A, x, y ";

Analysed nest(const std::string& body) { return analysed(head + body); }

// The tree with each list of it, one at a time, in each order.
void for_each_order(const ScheduleTree& tree, const std::function<void(const ScheduleTree&)>& ask) {
  std::vector<std::size_t> order(tree.size());
  for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
  do {
    ScheduleTree moved;
    for (const std::size_t k : order) moved.push_back(tree[k]);
    ask(moved);
  } while (std::ranges::next_permutation(order).found);
  for (std::size_t k = 0; k < tree.size(); ++k) {
    const auto with = [&](const ScheduleTree& children) {
      ScheduleTree changed = tree;
      if (auto* loop = std::get_if<ScheduleLoop>(&changed[k].value)) loop->children = children;
      if (auto* guard = std::get_if<ScheduleGuard>(&changed[k].value)) guard->children = children;
      ask(changed);
    };
    if (const auto* loop = std::get_if<ScheduleLoop>(&tree[k].value)) for_each_order(loop->children, with);
    if (const auto* guard = std::get_if<ScheduleGuard>(&tree[k].value)) for_each_order(guard->children, with);
  }
}

const char* const bodies[] = {
    "s0: x[0] = 1.0 s1: y[0] = 2.0 s2: x[1] = y[0]",
    "loop i = 0 .. n { s0: x[i] = 1.0 } loop j = 0 .. n { s1: y[j] = 2.0 } loop k = 0 .. n { s2: A[k, k] = x[k] }",
    "loop i = 0 .. n { s0: t[] = x[i] s1: y[i] = t[] s2: A[i, 0] = 1.0 }",
    "loop i = 1 .. n { s0: x[i] = y[i - 1] s1: y[i] = 1.0 s2: A[i, 1] = 0.0 }",
    "loop i = 0 .. n { if ({i}i64 < 4i64) { s0: x[i] = 0.0 s1: y[i] = 1.0 } s2: A[i, i] = x[i] }",
    "loop i = 0 .. n { loop j = 0 .. n { s0: A[i, j] = x[j] } loop k = 0 .. i { s1: y[k] = 1.0 } s2: x[i] = 3.0 }",
};

TEST(SiblingMoves, AreRightWhereIslSaysSo) {
  int told = 0, refused = 0;
  for (const char* body : bodies) {
    const Analysed a = nest(body);
    for_each_order(a.scop.tree, [&](const ScheduleTree& tree) {
      const std::string exact = answer(respects(a.dependences, a.scop, tree));
      EXPECT_EQ(answer(respects_as(a.dependences, a.scop, a.scop.tree, tree)), exact) << body;
      if (exact != "legal") ++refused;
      if (!moves_only_unrelated(a.dependences.data(), a.scop.tree, tree)) return;
      ++told;
      EXPECT_EQ(exact, "legal") << body;
    });
  }
  EXPECT_GT(told, 20);
  EXPECT_GT(refused, 10);
}

TEST(SiblingMoves, OtherChangesAreNotTold) {
  const Analysed a = nest("loop i = 0 .. n { s0: x[i] = 1.0 s1: y[i] = 2.0 }");
  ScheduleTree turned = a.scop.tree, doubled = a.scop.tree;
  ScheduleLoop& loop = *find_loop(turned, "i");
  std::ranges::reverse(loop.children);
  EXPECT_TRUE(moves_only_unrelated(a.dependences.data(), a.scop.tree, turned));
  loop.schedule = Parallel{};
  EXPECT_FALSE(moves_only_unrelated(a.dependences.data(), a.scop.tree, turned));
  doubled.push_back(doubled[0]);
  EXPECT_FALSE(moves_only_unrelated(a.dependences.data(), a.scop.tree, doubled));
}

}  // namespace
}  // namespace sous::sdfg
