#include "sdfg/inspection.h"

#include <gtest/gtest.h>

#include "sdfg/text.h"

namespace sous::sdfg {
namespace {

// "i + 2*at{loops: place}": what is looked at; loops that are gone through have a "*". "": nothing can be.
std::string looked_at(const std::string& body, const std::string& container = "x", bool values = false) {
  const auto graph = parse(R"(sdfg 1 t symbols n, m
array x: f64[1099511627776] argument const  array v: f64[1099511627776] argument const
array y: f64[n] argument alias 1  array at: i32[n * m] argument const alias 2  array start: i32[n + 1] argument const alias 3
array twin: i32[n] argument alias 4  array same: i32[n] argument const alias 4
array on: bool[n] argument const alias 5  array row: u64[n + 1] argument const alias 6  array j: i32 stack transient  array w: i64 stack transient  array u: u32 stack transient
arguments n, m, x, v, y, at, start, twin, same, on, row
)" + body);
  if (!graph) {
    ADD_FAILURE() << graph.error().to_string();
    return "?";
  }
  const auto text = [](const Visits& visits) {
    std::string result;
    for (const Visits::Loop& loop : visits.loops)
      result += loop.symbol + (loop.through ? "* " : loop.unless_negative ? "+ " : " ");
    return "{" + result + ": " + visits.value.to_string() + "}";
  };
  const auto found = values ? values_read(*graph, container) : reaches(*graph, container);
  std::string all;
  if (!found) return all;
  for (const Reach& reach : *found) {
    all += (all.empty() ? "" : "; ") + text(reach.fixed);
    for (const Reach::Element& e : reach.elements)
      all += " + " + e.factor.to_string() + "*" + e.container + text(e.place);
  }
  return all;
}

TEST(Inspection, SparseRows) {
  const std::string rows = "loop i = 0 .. n { loop k = start[i] .. start[i + 1] { s: y[i] = y[i] + v[k] * x[at[k]] } }";
  EXPECT_EQ(looked_at(rows), "{: 0} + 1*at{i* k : k}");
  EXPECT_EQ(looked_at(rows, "v"), "{i* k : k}");
  // What bounds and subscripts read is read, too.
  EXPECT_EQ(looked_at(rows, "at"), "{i* k : k}");
  EXPECT_EQ(looked_at(rows, "start"), "{i : i}; {i : i + 1}");
  EXPECT_EQ(looked_at(rows, "same"), "");
}

// All that is read of a container, as values: in bounds, in subscripts, and by itself.
TEST(Inspection, ValuesThatAreRead) {
  EXPECT_EQ(looked_at("loop i = 0 .. n { loop k = 0 .. m - at[i] { s: y[i] = y[i] + v[k - at[i]] } }", "at", true),
            "{: 0} + 1*at{i : i}; {: 0} + 1*at{i* k : i}");
  EXPECT_EQ(looked_at("loop i = 0 .. n { s: y[i] = f64(at[2*i]) }", "at", true), "{: 0} + 1*at{i : 2*i}");
  // What is not read in any case, or may change meanwhile.
  EXPECT_EQ(looked_at("loop i = 0 .. n { if (on[i]) { s: y[i] = f64(at[i]) } }", "at", true), "");
  EXPECT_EQ(looked_at("loop i = 0 .. n { s: y[i] = f64(at[i]) t: at[i] = 1 }", "at", true), "");
}

TEST(Inspection, SubscriptsAreSumsWithElementsAndVariables) {
  EXPECT_EQ(looked_at("loop i = 0 .. n { loop k = 0 .. m { s: y[i] = x[m*at[i*m + k] + k] } }"),
            "{i k : k} + m*at{i k : i*m + k}");
  EXPECT_EQ(looked_at("loop i = 0 .. n { a: j[] = at[2*i] * 3 - 1 s: y[i] = x[j[] + 1] }"), "{: 0} + 3*at{i : 2*i}");
  EXPECT_EQ(looked_at("loop i = 0 .. n { s: y[i] = x[at[i] + same[i]] }"), "{: 0} + 1*at{i : i} + 1*same{i : i}");
  EXPECT_EQ(looked_at("loop i = 0 .. n { loop k = 0 .. i { s: y[i] = x[at[k]] } }"), "{: 0} + 1*at{i* k : k}");
}

// `table[(size_t)at[i] * m + k]`: the index is the same number.
TEST(Inspection, UnsignedOf64BitsIsTheSameModulo) {
  const std::string head = "loop i = 0 .. n { loop k = 0 .. m { ";
  EXPECT_EQ(looked_at(head + "a: w[] = i64(u64(at[i]) * u64({m}i32) + u64({k}i32)) s: y[i] = x[w[]] } }"),
            "{i k : k} + m*at{i k : i}");
  EXPECT_EQ(looked_at(head + "a: w[] = i64(row[i] * {m}u64 - 1u64) s: y[i] = x[w[] + k] } }"),
            "{i k : k - 1} + m*row{i k : i}");
  // In 32 bits it is not; nor is what becomes something else than an index first.
  EXPECT_EQ(looked_at(head + "a: w[] = i64(u64(u32(at[i]) * u32({m}i32))) s: y[i] = x[w[]] } }"), "");
  EXPECT_EQ(looked_at(head + "a: w[] = i64(row[i] / 2u64) s: y[i] = x[w[]] } }"), "");
}

// `const int *column = at + start[i]; … x[column[k]]`
TEST(Inspection, RowsThatBeginAtAnElement) {
  const std::string rows =
      "loop i = 0 .. n { a: j[] = start[i + 1] - start[i] loop k = 0 .. j[] { s: y[i] = v[k + start[i]] * x[at[k + "
      "start[i]]] } }";
  EXPECT_EQ(looked_at(rows), "{: 0} + 1*at{i* k : k + start[i]}");
  EXPECT_EQ(looked_at(rows, "v"), "{i* k : k + start[i]}");
  // Where all are as long, where they begin is enough.
  EXPECT_EQ(looked_at("loop i = 0 .. n { loop k = 0 .. m { s: y[i] = v[k + start[i]] } }", "v"),
            "{i k : k} + 1*start{i k : i}");
  EXPECT_EQ(
      looked_at("loop i = 0 .. n { if (on[i]) { a: j[] = start[i + 1] - start[i] loop k = 0 .. j[] { s: y[i] = v[k + "
                "start[i]] } } }",
                "v"),
      "");
}

TEST(Inspection, NotWhatIsComputedInTheNestOrWraps) {
  for (const char* body : {
           "loop i = 0 .. n { a: twin[i] = 3i32 s: y[i] = x[twin[i]] }",  // written
           "loop i = 0 .. n { a: twin[i] = 3i32 s: y[i] = x[same[i]] }",  // under another name
           "loop i = 0 .. n { a: j[] = j[] + at[i] s: y[i] = x[j[]] }",
           "loop i = 0 .. n { a: u[] = u32(at[i]) + 1u32 s: y[i] = x[u[]] }",
           "loop i = 0 .. n { a: j[] = at[i] * at[i] s: y[i] = x[j[]] }", "loop i = 0 .. n { s: y[i] = x[at[at[i]]] }",
           "loop i = 0 .. n { loop k = 0 .. m { s: y[i] = x[at[k * k]] } }",  // as long as the nest itself
       })
    EXPECT_EQ(looked_at(body), "") << body;
}

TEST(Inspection, OnlyElementsThatAreReadInAnyCase) {
  EXPECT_EQ(looked_at("loop i = 0 .. n { if (on[i]) { s: y[i] = x[at[i]] } }"), "");
  EXPECT_EQ(looked_at("loop i = 0 .. n { if (on[i]) { loop k = start[i] .. start[i + 1] { s: y[i] = x[k] } } }"), "");
  EXPECT_EQ(looked_at("loop i = 0 .. n { while (on[i]) { s: y[i] = x[at[i]] } }"), "");
  // By the condition itself, or by another statement of the loop.
  EXPECT_EQ(looked_at("loop i = 0 .. n { if (at[i] >= 0i32) { s: y[i] = x[at[i]] } }"), "{: 0} + 1*at{i : i}");
  EXPECT_EQ(looked_at("loop i = 0 .. n { if (on[i]) { s: y[i] = x[at[i]] } t: y[i] = v[at[i]] }"),
            "{: 0} + 1*at{i : i}");
  // In another loop that is read, too, but nobody looks there.
  EXPECT_EQ(looked_at("loop i = 0 .. n { if (on[i]) { s: y[i] = x[at[i]] } } loop q = 0 .. n { t: y[q] = v[at[q]] }"),
            "");
}

// The front end's own condition, ahead of a loop over size_t.
TEST(Inspection, ALoopFromAnUnsignedElement) {
  const std::string rows = "loop k = row[i] .. row[i + 1] { s: y[i] = y[i] + x[at[k]] } ";
  const std::string begin = "loop i = 0 .. n { ", half = "if (row[i] <= 9223372036854775807u64) { ";
  EXPECT_EQ(looked_at(begin + half + rows + "} }"), "{: 0} + 1*at{i* k+ : k}");
  EXPECT_EQ(looked_at(begin + "if (row[i] <= 922337203685477580u64) { " + rows + "} }"), "");
  EXPECT_EQ(looked_at(begin + half + rows + "t: y[i] = v[at[i]] } }", "v"), "");
  EXPECT_EQ(looked_at(begin + "if (row[0] <= 9223372036854775807u64) { " + rows + "} }"), "");
}

TEST(Inspection, AsManyElementsAsAccesses) {
  const auto once = [](const std::string& body) {
    const auto graph = parse(R"(sdfg 1 t symbols n, m
array x: f32[1099511627776, m] argument const  array y: f32[n, m] argument alias 1  array at: i32[n] argument const alias 2
arguments n, m, x, y, at
)" + body);
    EXPECT_TRUE(graph);
    const auto found = graph ? reaches(*graph, "x") : std::nullopt;
    return found && meets_each_once(*found);
  };
  EXPECT_TRUE(once("loop i = 0 .. n { s: y[i, 0] = x[at[i], 0] }"));
  EXPECT_FALSE(once("loop i = 0 .. n { loop d = 0 .. m { s: y[i, d] = x[at[i], d] } }"));
}

}  // namespace
}  // namespace sous::sdfg
