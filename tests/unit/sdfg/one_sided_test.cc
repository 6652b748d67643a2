// Subscripts by data that are not negative, and loops that end by them.
#include "sdfg/one_sided.h"

#include <gtest/gtest.h>

#include "sdfg/data_ends.h"
#include "sdfg/dependences.h"
#include "sdfg/schedule_tree.h"
#include "sdfg/text.h"

namespace sous::sdfg {
namespace {

Sdfg graph(const std::string& body, const std::string& d = "i32[n] argument const natural") {
  const auto parsed = parse("sdfg 1 t symbols n, m array R: i32[m] argument array S: i32[n, m] argument array d: " + d +
                            " array e: u16[n] argument const array w: i32[n] argument const array c: i32 stack "
                            "transient arguments n, m, R, S, d, "
                            "e, w " +
                            body);
  EXPECT_TRUE(parsed) << body << parsed.error().to_string();
  return parsed.value_or(Sdfg{});
}

const Loop& inner(const Sdfg& sdfg) {
  return std::get<Loop>(std::get<Loop>(sdfg.root.nodes[0].value).body.nodes[0].value);
}

std::string text(const std::set<std::string>& names) {
  std::string result;
  for (const std::string& name : names) result += name;
  return result;
}

TEST(OneSided, SumsWithElementsThatAreNotNegative) {
  const Sdfg sdfg = graph("");
  const auto side = [&](const Expr& e) {
    const auto found = one_sided(e, sdfg);
    return found ? (found->above ? ">= " : "<= ") + found->end.to_string() : std::string("none");
  };
  const Expr i = Expr::symbol("i"), d = Expr::read("d", {i}), e = Expr::read("e", {i}), w = Expr::read("w", {i});
  EXPECT_EQ(side(i - d), "<= i");
  EXPECT_EQ(side(i * 2 + d * 3 + e + 1), ">= 2*i + 1");
  EXPECT_EQ(side(i - w), "none");  // may be negative
  EXPECT_EQ(side(d - e), "none");
  EXPECT_EQ(side(i * d), "none");
  EXPECT_EQ(side(i), "none");
  EXPECT_TRUE(is_natural(*sdfg.find("e")));
  EXPECT_FALSE(is_natural(*sdfg.find("w")));
}

TEST(OneSided, DistancesThatLaterIterationsWrite) {
  const auto ahead = [](const std::string& body, const std::string& loop = "loop j = 0 .. m") {
    const Sdfg sdfg = graph("loop i = 0 .. n { " + loop + " { " + body + " } }");
    return text(distances_ahead(inner(sdfg))) + "/" + text(decisive_signs(sdfg, sdfg.root));
  };
  EXPECT_EQ(ahead("s0: R[m - j] = R[m - j] + R[m - j - d[i]]"), "d/d");
  EXPECT_EQ(ahead("s0: R[j] = R[j] + R[j - d[i]]", "loop j = m .. 0 step -1"), "d/d");
  EXPECT_EQ(ahead("if (R[m - j] < R[m - j - w[i] - 1]) { s0: R[m - j] = 1 }"), "w/w");
  EXPECT_EQ(ahead("s0: R[j] = R[j + e[i]]"), "e/");  // is not negative in any case
  EXPECT_EQ(ahead("s0: S[i, j] = S[i, j + d[i]]"), "d/d");
  EXPECT_EQ(ahead("s0: S[i, j] = S[i, j + d[i] + w[i]]"), "dw/dw");
  // The other way, both ways, or nothing that data decide.
  EXPECT_EQ(ahead("s0: R[j] = R[j] + R[j - d[i]]"), "/");
  EXPECT_EQ(ahead("s0: R[j] = R[j + d[i]] + R[j - w[i]]"), "/");
  EXPECT_EQ(ahead("s0: R[j] = R[j + d[i] - 1]"), "/");
  EXPECT_EQ(ahead("s0: S[i, j] = S[i - 1, j + d[i]]"), "/");
  EXPECT_EQ(ahead("s0: R[j] = R[j + d[j]]"), "/");
  // Through a variable that is an element.
  const auto decided = [](const std::string& body) {
    const Sdfg sdfg = graph("loop i = 0 .. n { s0: c[] = w[i] loop j = 0 .. m - c[] { " + body + " } }");
    return text(decisive_signs(sdfg, sdfg.root));
  };
  EXPECT_EQ(decided("s1: R[j] = R[j + c[]]"), "w");
  EXPECT_EQ(decided("s1: R[j] = R[j + c[]] s2: c[] = 3"), "");
  // What changes the distances.
  EXPECT_EQ(text(decisive_signs(
                graph("loop i = 0 .. n { loop j = 0 .. m { s0: R[j] = R[j + d[i]] s1: d[j] = 3 } }", "i32[n] argument"),
                graph("loop i = 0 .. n { loop j = 0 .. m { s0: R[j] = R[j + d[i]] s1: d[j] = 3 } }", "i32[n] argument")
                    .root)),
            "");
}

TEST(OneSided, RowsAtADistanceThatDataSay) {
  const auto at_distance = [](const std::string& body) {
    return is_at_data_distance(inner(graph("loop i = 0 .. n { loop j = 0 .. m { " + body + " } }")));
  };
  EXPECT_TRUE(at_distance("s0: S[i, j] = S[i - 1, j - w[i]]"));
  EXPECT_TRUE(at_distance("if (w[i] < 3) { s0: S[i, j] = S[i - w[i], j] }"));
  EXPECT_FALSE(at_distance("s0: S[i, j] = S[i - 1, j - 3]"));
  EXPECT_FALSE(at_distance("s0: S[i, j] = R[j + w[i]]"));
  EXPECT_FALSE(at_distance("s0: S[i, j] = S[i - 1, w[j]]"));
}

TEST(OneSided, LanesMayReadAhead) {
  const auto in_lanes = [](const std::string& statement, const std::string& d = "i32[n] argument const natural") {
    const Sdfg sdfg = graph("loop i = 0 .. n { loop j = 0 .. m { " + statement + " } }", d);
    const Scop scop = scop_of(sdfg);
    const auto dependences = Dependences::compute(scop, {});
    EXPECT_TRUE(dependences);
    ScheduleTree tree = scop.tree;
    find_loop(tree, "j")->schedule = Simd{};
    return respects(*dependences, scop, tree).has_value();
  };
  EXPECT_TRUE(in_lanes("s0: R[m - j] = R[m - j] + R[m - j - d[i]]"));
  EXPECT_FALSE(in_lanes("s0: R[m - j] = R[m - j] + R[m - j - d[i]]", "i32[n] argument const"));
  EXPECT_FALSE(in_lanes("s0: R[j] = R[j] + R[j - d[i]]"));
  EXPECT_TRUE(in_lanes("s0: R[j] = R[j + e[i]]"));
}

TEST(DataEnds, OpenAndClosed) {
  const std::string loop = "loop i = 0 .. n { loop j = 0 .. m - d[i] { s0: R[j] = R[j] + R[j + d[i]] } }";
  const Sdfg sdfg = graph(loop), open = open_ends(sdfg);
  EXPECT_EQ(open, graph("loop i = 0 .. n { loop j = 0 .. m { if (i64(d[i]) < {m - j}i64) { "
                        "s0: R[j] = R[j] + R[j + d[i]] } } }"));
  EXPECT_EQ(open_ends(open), open);
  EXPECT_EQ(without_ends(open), graph("loop i = 0 .. n { loop j = 0 .. m { s0: R[j] = R[j] + R[j + d[i]] } }"));
  EXPECT_EQ(without_ends(sdfg), without_ends(open));
  EXPECT_EQ(without_ends(graph("loop i = 0 .. n { loop j = m .. d[i] - 1 step -1 { s0: R[j] = R[j - d[i]] } }")),
            graph("loop i = 0 .. n { loop j = m .. -1 step -1 { s0: R[j] = R[j - d[i]] } }"));
  EXPECT_EQ(closed_ends(open), graph("loop i = 0 .. n { if ({0}i64 < {m}i64) { loop j = 0 .. min(m, m - d[i]) { "
                                     "s0: R[j] = R[j] + R[j + d[i]] } } }"));
  // A condition around the loop goes in and comes out again; it is asked where an iteration would ask it.
  const std::string row = "loop j = 0 .. m - d[i] { s0: R[j] = R[j] + R[j + d[i]] }";
  const Sdfg taken = open_ends(graph("loop i = 0 .. n { if (w[i] < 9) { " + row + " } }"));
  EXPECT_EQ(taken, graph("loop i = 0 .. n { loop j = 0 .. m { if (i64(d[i]) < {m - j}i64) { if (w[i] < 9) { "
                         "s0: R[j] = R[j] + R[j + d[i]] } } } }"));
  EXPECT_EQ(closed_ends(taken),
            graph("loop i = 0 .. n { if ({0}i64 < {m}i64) { if (i64(d[i]) < {m}i64) { if (w[i] < 9) { "
                  "loop j = 0 .. min(m, m - d[i]) { s0: R[j] = R[j] + R[j + d[i]] } } } } }"));
  const Sdfg asked = graph(
      "loop i = 0 .. n { loop j = 0 .. m { if (i64(d[i]) < {m - j}i64) { if (w[j] < 9) { "
      "s0: R[j] = R[j] + R[j + d[i]] } } } }");
  EXPECT_EQ(closed_ends(asked), graph("loop i = 0 .. n { if ({0}i64 < {m}i64) { loop j = 0 .. min(m, m - d[i]) { "
                                      "if (w[j] < 9) { s0: R[j] = R[j] + R[j + d[i]] } } } }"));
  // Where it does not matter, or may be anything, loops end where they ended.
  for (const std::string other : {"loop i = 0 .. n { loop j = 0 .. m - d[i] { s0: R[j] = R[j] + 1 } }",
                                  "loop i = 0 .. n { loop j = 0 .. d[i] { s0: R[j] = R[j + d[i]] } }",
                                  "loop i = 0 .. n { loop j = 0 .. m - w[i] { s0: R[j] = R[j + d[i]] } }"})
    EXPECT_EQ(open_ends(graph(other)), graph(other)) << other;
  // Another condition, or one beside what runs in any case.
  for (const std::string other :
       {"loop i = 0 .. n { loop j = 0 .. m { if (i64(d[j]) < {m - j}i64) { s0: R[j] = 1 } } }",
        "loop i = 0 .. n { loop j = 0 .. m { if (i64(d[i]) < {j}i64) { s0: R[j] = 1 } s1: R[j] = 2 } }",
        "loop i = 0 .. n { loop j = 0 .. m { if (i64(d[i]) < {m - j}i64) { s0: R[j] = 1 } else { s1: R[j] = 2 } } }"})
    EXPECT_EQ(closed_ends(graph(other)), graph(other)) << other;
}

}  // namespace
}  // namespace sous::sdfg
