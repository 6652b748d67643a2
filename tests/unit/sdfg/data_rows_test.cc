#include "sdfg/data_rows.h"

#include <gtest/gtest.h>

#include "sdfg/text.h"

namespace sous::sdfg {
namespace {

Sdfg parsed(const std::string& body) {
  const auto graph = parse(R"(sdfg 1 t symbols n, m
array v: f64[1099511627776] argument const  array y: f64[n] argument alias 1
array start: i32[n + 1] argument alias 2  array row: u64[n + 1] argument const alias 4  array pick: i32[n] argument const alias 3
arguments n, m, v, y, start, row, pick
)" + body);
  EXPECT_TRUE(graph) << graph.error().to_string();
  return *graph;
}

std::string text_of(const std::optional<DataRows>& rows) {
  if (!rows) return "";
  return rows->starts + "[" + rows->first.to_string() + " .. " + rows->last.to_string() + "] / " +
         rows->count.to_string();
}
std::string innermost(RowWalk& walk, const Region& region) {
  return match(
      region.nodes.at(0).value, [](const State&) { return std::string("?"); },
      [&](const Loop& l) {
        if (std::holds_alternative<State>(l.body.nodes.at(0).value)) return text_of(walk.of(l));
        return walk.inside(l, [&] { return innermost(walk, l.body); });
      },
      [&](const If& i) { return walk.inside(i, [&] { return innermost(walk, i.then_body); }); },
      [&](const While& w) { return walk.inside(w, [&] { return innermost(walk, w.body); }); });
}
// "start[first .. last] / count" of the innermost loop; "": its length is no difference of neighbours that is known
// ahead.
std::string rows_of(const std::string& body) {
  const Sdfg graph = parsed(body);
  RowWalk walk(graph, graph.root);
  const std::string found = innermost(walk, graph.root);
  EXPECT_EQ(row_lengths(graph).empty(), found.empty()) << body;
  return found;
}

TEST(DataRows, LieBehindEachOther) {
  const std::string body = "{ s: y[i] = y[i] + v[k] }";
  EXPECT_EQ(rows_of("loop i = 0 .. n { loop k = start[i] .. start[i + 1] " + body + " }"), "start[0 .. n] / n");
  EXPECT_EQ(rows_of("loop i = 2 .. n - 1 { loop k = start[i - 1] .. start[i] " + body + " }"),
            "start[1 .. n - 2] / n - 3");
  EXPECT_EQ(rows_of("loop i = n - 1 .. -1 step -1 { loop k = start[i] .. start[i + 1] " + body + " }"),
            "start[0 .. n] / n");
  EXPECT_EQ(rows_of("loop i = 0 .. n { loop k = start[n - 1 - i] .. start[n - i] " + body + " }"), "start[0 .. n] / n");
  EXPECT_EQ(rows_of("loop i = n .. 0 step -1 { loop k = start[n - i] .. start[n - i + 1] " + body + " }"),
            "start[0 .. n] / n");
  EXPECT_EQ(rows_of("loop i = 0 .. n { loop k = start[i] - 1 .. start[i + 1] - 1 " + body + " }"), "start[0 .. n] / n");
  EXPECT_EQ(rows_of("loop t = 0 .. m { loop i = 0 .. n { loop k = start[i] .. start[i + 1] " + body + " } }"),
            "start[0 .. n] / n");
}

TEST(DataRows, UnsignedOnesMayLieInTheUpperHalf) {
  const std::string loop = "loop k = row[i] .. row[i + 1] { s: y[i] = y[i] + v[k] }";
  EXPECT_EQ(rows_of("loop i = 0 .. n { if (row[i] <= 9223372036854775807u64) { " + loop + " } }"), "row[0 .. n] / n");
  EXPECT_EQ(rows_of("loop i = 0 .. n { if (row[i] <= 9223372036854775806u64) { " + loop + " } }"), "");
}

TEST(DataRows, OnlyWhatIsReadInAnyCaseAndNotWritten) {
  const std::string loop = "loop k = start[i] .. start[i + 1] { s: y[i] = y[i] + v[k] }";
  EXPECT_EQ(rows_of("loop i = 0 .. n { if (pick[i] > 0i32) { " + loop + " } }"), "");
  EXPECT_EQ(rows_of("loop i = 0 .. n { while (pick[i] > 0i32) { " + loop + " } }"), "");
  EXPECT_EQ(rows_of("loop i = 0 .. n { loop k = start[i] .. start[i + 1] { s: start[i] = pick[i] } }"), "");
  EXPECT_EQ(rows_of("loop t = 0 .. m { loop q = 0 .. t { loop i = 0 .. n { " + loop + " } } }"), "");
}

TEST(DataRows, NotWhereTheyMayLieApart) {
  const std::string body = "{ s: y[i] = y[i] + v[k] }";
  for (const char* loops : {
           "loop i = 0 .. n { loop k = start[i] .. pick[i + 1] ",
           "loop i = 0 .. n { loop k = 0 .. start[i] ",
           "loop i = 0 .. n { loop k = start[i] .. start[i + 2] ",
           "loop i = 0 .. n { loop k = start[pick[i]] .. start[pick[i] + 1] ",
           "loop i = 0 .. n step 2 { loop k = start[i] .. start[i + 1] ",
           "loop i = 0 .. n { loop k = start[i] .. start[i + 1] + 1 ",
       })
    EXPECT_EQ(rows_of(std::string(loops) + body + " }"), "") << loops;
  EXPECT_EQ(rows_of("loop t = 0 .. m { loop i = 0 .. t { loop k = start[i] .. start[i + 1] " + body + " } }"), "");
}

TEST(DataRows, OfOneLength) {
  const Sdfg graph =
      parsed("loop i = 0 .. n { loop k = start[i] .. start[i + 1] { s: y[i] = y[i] + v[k] * v[pick[i]] } }");
  const RowLengths lengths = row_lengths(graph);
  ASSERT_EQ(lengths, (RowLengths{{"start", "start_length"}}));
  const Sdfg equal = with_equal_rows(graph, lengths);
  EXPECT_EQ(equal.symbols, (std::vector<std::string>{"n", "m", "start_length"}));
  const Loop& row = std::get<Loop>(std::get<Loop>(equal.root.nodes[0].value).body.nodes[0].value);
  EXPECT_EQ(row.end - row.begin, Expr::symbol("start_length"));
  EXPECT_EQ(touched(equal.root).read, (std::set<std::string>{"v", "y", "pick"}));
  EXPECT_TRUE(row_lengths(parsed("loop i = 0 .. n { s: y[i] = v[i] }")).empty());
}

}  // namespace
}  // namespace sous::sdfg
