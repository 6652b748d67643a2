#include "transforms/sizeless.h"

#include <gtest/gtest.h>

#include "sdfg/text.h"
#include "transforms/normal_form.h"

namespace sous::transforms {
namespace {

sdfg::Sdfg parsed(const std::string& text) {
  auto graph = sdfg::parse(text);
  EXPECT_TRUE(graph) << graph.error().to_string();
  return graph.value_or(sdfg::Sdfg{});
}

// The first unit's, of the normal form.
std::string hash_of(const std::string& text) {
  const auto form = normalize(parsed(text));
  EXPECT_TRUE(form) << form.error().to_string();
  return sizeless_hash(form->units.at(0).nest);
}

// A sum of a row's `taps` neighbours over `columns` of `rows` rows; `n`: the symbols that these use.
std::string rows(const std::string& symbols, const std::string& rows, const std::string& columns,
                 const std::string& taps = "3") {
  return "sdfg 1 f\n" + (symbols.empty() ? "" : "symbols " + symbols + "\n") + "array A: f64[" + rows + ", " + columns +
         "] argument\narray B: f64[" + rows + ", " + columns + "] argument\narguments " +
         (symbols.empty() ? "" : symbols + ", ") + "A, B\nloop i = 0 .. " + rows + " {\n  loop j = 0 .. " + columns +
         " - 4 {\n    loop t = 0 .. " + taps + " {\n      s: A[i, j] = A[i, j] + B[i, j + t]\n    }\n  }\n}\n";
}

TEST(Sizeless, ConstantsAndSymbolsAreOneNest) {
  const std::string by_symbols = hash_of(rows("n, m", "n", "m"));
  EXPECT_EQ(hash_of(rows("", "700", "640")), by_symbols);
  EXPECT_EQ(hash_of(rows("", "33", "2000")), by_symbols);
  EXPECT_EQ(hash_of(rows("n", "n", "n")), by_symbols);
  EXPECT_EQ(hash_of(rows("n", "2*n + 1", "100")), by_symbols);
}

TEST(Sizeless, SmallConstantsAreStructure) {
  const std::string three = hash_of(rows("", "700", "640"));
  EXPECT_NE(hash_of(rows("", "700", "640", "4")), three);
  EXPECT_NE(hash_of(rows("", "7", "640")), three);
  EXPECT_NE(hash_of(rows("n", "n", "640", "n")), three);
}

TEST(Sizeless, TrianglesStayTriangles) {
  const auto triangle = [](const std::string& symbols, const std::string& n, const std::string& begin,
                           const std::string& end) {
    return hash_of("sdfg 1 f\n" + symbols + "array A: f64[" + n + ", " + n + "] argument\narguments " +
                   (symbols.empty() ? "" : "n, ") + "A\nloop i = 0 .. " + n + " {\n  loop j = " + begin + " .. " + end +
                   " {\n    s: A[i, j] = 2.0 * A[i, j]\n  }\n}\n");
  };
  EXPECT_EQ(triangle("", "700", "i + 1", "700"), triangle("symbols n\n", "n", "i + 1", "n"));
  EXPECT_EQ(triangle("", "700", "0", "i"), triangle("symbols n\n", "n", "0", "i"));
  EXPECT_NE(triangle("", "700", "0", "i"), triangle("", "700", "i + 1", "700"));
  EXPECT_NE(triangle("", "700", "0", "i"), triangle("", "700", "0", "700"));
}

// What becomes of a subscript of a flat array.
std::string subscript(const std::string& text) {
  const auto graph = without_sizes(
      parsed("sdfg 1 f\nsymbols n, m\narray A: f64[n*m + 900] argument\narguments n, m, A\nloop i = 0 .. n {\n"
             "  loop j = 0 .. m {\n    s: A[" +
             text + "] = 1.0\n  }\n}\n"));
  const std::string all = sdfg::print(graph);
  const std::size_t begin = all.find("s: A[") + 5;
  return all.substr(begin, all.find("] = ") - begin);
}

TEST(Sizeless, SubscriptsKeepWhatIsNoSize) {
  EXPECT_EQ(subscript("m*i + j"), subscript("640*i + j"));
  EXPECT_EQ(subscript("j + n - 1"), subscript("j + 699"));
  EXPECT_EQ(subscript("n - 1 - j"), subscript("699 - j"));
  EXPECT_NE(subscript("n - 1 - j"), subscript("n - 1 + j"));
  EXPECT_EQ(subscript("4*i + j + 3"), "4*i + j + 3");
  EXPECT_EQ(subscript("j mod 64 + i floordiv 48"), "i floordiv 48 + j mod 64");
  EXPECT_EQ(subscript("min(i, n - 2) + m floordiv 2"), subscript("min(i, 99) + 320"));
}

TEST(Sizeless, OnlyTheSameNestDiffersInSizesAlone) {
  const auto normal = [](const std::string& text) { return normalize(parsed(text))->units.at(0).nest; };
  EXPECT_TRUE(differ_in_sizes_alone(normal(rows("", "700", "640")), normal(rows("n, m", "n", "m"))));
  EXPECT_FALSE(differ_in_sizes_alone(normal(rows("", "700", "640")), normal(rows("n, m", "n", "m", "5"))));
}

}  // namespace
}  // namespace sous::transforms
