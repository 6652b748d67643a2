#include "sdfg/data_rows.h"

#include <gtest/gtest.h>

#include "sdfg/text.h"

namespace sous::sdfg {
namespace {

Sdfg parsed(const std::string& body) {
  const auto graph = parse(R"(sdfg 1 t symbols n, m
array v: f64[1099511627776] argument const  array y: f64[n] argument alias 1
array start: i32[n + 1] argument const alias 2  array pick: i32[n] argument const alias 3
arguments n, m, v, y, start, pick
)" + body);
  EXPECT_TRUE(graph) << graph.error().to_string();
  return *graph;
}

// "start[first .. last] / count" of the innermost loop; "": its length is no difference of neighbours.
std::string rows_of(const std::string& body) {
  const Sdfg graph = parsed(body);
  std::vector<const Loop*> around;
  const Region* region = &graph.root;
  for (;;) {
    const Loop& loop = std::get<Loop>(region->nodes.at(0).value);
    if (!std::holds_alternative<Loop>(loop.body.nodes.at(0).value)) {
      const auto rows = data_rows(loop, around);
      if (!rows) return "";
      return rows->starts + "[" + rows->first.to_string() + " .. " + rows->last.to_string() + "] / " +
             rows->count.to_string();
    }
    around.push_back(&loop);
    region = &loop.body;
  }
}

TEST(DataRows, LieBehindEachOther) {
  const std::string body = "{ s: y[i] = y[i] + v[k] }";
  EXPECT_EQ(rows_of("loop i = 0 .. n { loop k = start[i] .. start[i + 1] " + body + " }"), "start[0 .. n] / n");
  EXPECT_EQ(rows_of("loop i = 2 .. n - 1 { loop k = start[i - 1] .. start[i] " + body + " }"),
            "start[1 .. n - 2] / n - 3");
  EXPECT_EQ(rows_of("loop i = n - 1 .. -1 step -1 { loop k = start[i] .. start[i + 1] " + body + " }"),
            "start[0 .. n] / n");
  EXPECT_EQ(rows_of("loop t = 0 .. m { loop i = 0 .. n { loop k = start[i] .. start[i + 1] " + body + " } }"),
            "start[0 .. n] / n");
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
