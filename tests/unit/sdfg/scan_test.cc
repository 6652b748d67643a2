// Loops over sets of points, and boxes around them, against points counted one by one.
#include "sdfg/scan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "sdfg/text.h"

namespace sous::sdfg {
namespace {

using Values = std::map<std::string, std::int64_t>;
using Place = std::vector<std::int64_t>;

// Dims #0, #1; the variable a, and the parameters n and t. Each text is an expression that is >= 0.
struct Part {
  std::vector<std::string> texts;
  std::size_t rank = 2;
};

Expr expr(std::string text) {
  for (const char* dim : {"0", "1"})
    for (std::size_t at = 0; (at = text.find(std::string("#") + dim, at)) != std::string::npos;)
      text.replace(at, 2, std::string("dim") + dim);
  const auto e = parse_expr(text);
  if (!e) ADD_FAILURE() << e.error().to_string();
  return e->substitute({{"dim0", Expr::symbol("#0")}, {"dim1", Expr::symbol("#1")}});
}

std::vector<ScalarExpr> conditions(const std::vector<std::string>& texts) {
  std::vector<ScalarExpr> result;
  for (const std::string& text : texts) result.push_back(at_most(0, expr(text)));
  return result;
}

Points points(const Part& part) {
  Points p{.dims = {"#0", "#1"}, .exists = {"a"}, .conditions = conditions(part.texts)};
  p.dims.resize(part.rank);
  return p;
}

bool holds(const ScalarExpr& c, const Values& values) {
  const auto a = c.args[0].symbolic.evaluate(values), b = c.args[1].symbolic.evaluate(values);
  EXPECT_TRUE(a && b);
  return c.op == ScalarOp::eq ? *a == *b : *a <= *b;
}
bool hold(const std::vector<ScalarExpr>& all, const Values& values) {
  return std::ranges::all_of(all, [&](const ScalarExpr& c) { return holds(c, values); });
}

constexpr std::int64_t low = -3, high = 14;  // all values of dims and a that the cases have

// How often each point is met.
std::map<Place, int> enumerated(const std::vector<Part>& parts, Values values) {
  std::map<Place, int> result;
  for (const Part& part : parts) {
    const auto all = points(part).conditions;
    for (std::int64_t x = low; x <= high; ++x)
      for (std::int64_t y = low; y <= (part.rank == 2 ? high : low); ++y)
        for (std::int64_t a = low; a <= high; ++a) {
          values["#0"] = x, values["#1"] = y, values["a"] = a;
          if (hold(all, values)) ++result[part.rank == 2 ? Place{x, y} : Place{x}];
        }
  }
  return result;
}

void run(const Scan& scan, Place& place, Values& values, std::set<Place>& found) {
  const std::size_t d = place.size();
  if (d == scan.from.size()) {
    found.insert(place);
    return;
  }
  const auto from = scan.from[d].evaluate(values), to = scan.to[d].evaluate(values);
  ASSERT_TRUE(from && to);
  for (std::int64_t x = *from; x <= *to; ++x) {
    values["#" + std::to_string(d)] = x;
    place.push_back(x);
    run(scan, place, values, found);
    place.pop_back();
  }
}

struct Case {
  std::vector<Part> parts;
  std::vector<std::string> around;
  std::size_t nests = 1;            // 0: none are found
  std::vector<std::int64_t> sizes;  // of the box; empty: none is known
};

const std::string a_runs[] = {"a", "n - a - 1"};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      // A row; a row if something runs; a row cut off, in a tile.
      {{{{"#0", "n - #0 - 1"}, 1}}, {}, 1, {}},
      {{{{"#0", "3 - #0", "a", "n - a - 1"}, 1}}, {}, 1, {4}},
      {{{{"#0 - t", "t + 3 - #0", "n - 1 - #0"}, 1}}, {"t", "n - 1 - t"}, 1, {4}},
      {{{{"#0 - t", "t + 3 - #0", "n - 1 - #0"}, 1}}, {"n"}, 1, {4}},
      // One element, of another sign.
      {{{{"#0 - t", "t - #0", "#1 + t - 9", "9 - t - #1"}}}, {}, 1, {1, 1}},
      // Triangles and a trapezoid.
      {{{{"#0 - t", "t + 3 - #0", "#1 - t", "#0 - #1", "n - 1 - #0"}}}, {}, 1, {4, 4}},
      {{{{"#0", "#1", "5 - #0 - #1", "a", "n - 1 - a"}}}, {}, 1, {6, 6}},
      {{{{"#0", "6 - #0", "2*#1 - #0", "6 - #1"}}}, {}, 1, {7, 7}},
      // Two rows beside one another, with a gap, and crossed.
      {{{{"#0 - t", "t + 2 - #0"}, 1}, {{"#0 - t - 1", "t + 3 - #0"}, 1}}, {}, 1, {4}},
      {{{{"#0 - t", "t + 1 - #0"}, 1}, {{"#0 - t - 4", "t + 5 - #0"}, 1}}, {}, 2, {6}},
      {{{{"#0 - 2", "2 - #0", "#1", "4 - #1"}}, {{"#0", "4 - #0", "#1 - 2", "2 - #1"}}}, {}, 2, {5, 5}},
      // By tiles: a is where one begins.
      {{{{"a", "9 - a", "a mod 4 * -1", "#0 - a", "a + 3 - #0", "9 - #0"}, 1}}, {}, 1, {10}},
      // Every second element; a diagonal is a line.
      {{{{"a", "4 - a", "#0 - 2*a", "2*a - #0"}, 1}}, {}, 0, {9}},
      {{{{"a", "4 - a", "#0 - a", "a - #0", "#1 - a", "a - #1"}}}, {}, 1, {5, 5}},
      // Nothing at all.
      {{{{"#0", "-1 - #0"}, 1}}, {}, 0, {}},
  };
  return all;
}

TEST(Scan, RunsThroughExactlyThePoints) {
  for (const Case& c : cases()) {
    std::vector<Points> parts;
    for (const Part& p : c.parts) parts.push_back(points(p));
    const auto around = conditions(c.around);
    const auto found = scan(parts, around);
    ASSERT_TRUE(found) << found.error().to_string();
    const bool nothing = c.nests == 0 && c.sizes.empty();
    ASSERT_EQ(found->has_value(), c.nests > 0 || nothing) << c.parts[0].texts[0] << " " << c.parts[0].texts[1];
    if (!*found) continue;
    EXPECT_EQ((*found)->size(), c.nests) << c.parts[0].texts[0] << " " << c.parts[0].texts[1];
    for (const std::int64_t n : {-1, 0, 1, 4, 9})
      for (const std::int64_t t : {0, 1, 8}) {
        Values values = {{"n", n}, {"t", t}};
        if (!hold(around, values)) continue;
        std::set<Place> expected, actual;
        for (const auto& [place, times] : enumerated(c.parts, values)) expected.insert(place);
        for (const Scan& s : **found) {
          Place place;
          if (hold(s.guard, values)) run(s, place, values, actual);
        }
        ASSERT_EQ(actual, expected) << c.parts[0].texts[0] << " " << c.parts[0].texts[1] << " n " << n << " t " << t;
      }
  }
}

TEST(Scan, BoxesHoldThePoints) {
  for (const Case& c : cases()) {
    std::vector<Points> parts;
    for (const Part& p : c.parts) parts.push_back(points(p));
    const auto around = conditions(c.around);
    const auto box = extents(parts, around);
    ASSERT_TRUE(box) << box.error().to_string();
    std::vector<std::int64_t> sizes;
    if (*box)
      for (const Extent& e : **box) sizes.push_back(e.size);
    ASSERT_EQ(sizes, c.sizes) << c.parts[0].texts[0] << " " << c.parts[0].texts[1];
    if (!*box) continue;
    for (const std::int64_t n : {-1, 0, 1, 4, 9})
      for (const std::int64_t t : {0, 1, 8}) {
        const Values values = {{"n", n}, {"t", t}};
        if (!hold(around, values)) continue;
        for (const auto& [place, times] : enumerated(c.parts, values))
          for (std::size_t d = 0; d < place.size(); ++d) {
            const std::int64_t at = place[d] - (**box)[d].least.evaluate(values).value_or(0);
            ASSERT_TRUE(0 <= at && at < sizes[d]) << c.parts[0].texts[0] << " n " << n << " t " << t;
          }
      }
  }
}

// Under some values of the parameters is enough.
TEST(Scan, KnowsWhatIsMetTwice) {
  const auto twice = [](const std::vector<Part>& parts) {
    std::vector<Points> all;
    for (const Part& p : parts) all.push_back(points(p));
    const auto result = is_repeated(all, {});
    EXPECT_TRUE(result);
    bool expected = false;
    for (const std::int64_t n : {-1, 0, 1, 4, 9})
      for (const std::int64_t t : {0, 1, 8})
        for (const auto& [place, times] : enumerated(parts, {{"n", n}, {"t", t}})) expected = expected || times > 1;
    EXPECT_EQ(result.value_or(!expected), expected);
    return expected;
  };
  EXPECT_TRUE(twice({{{"#0 - t", "t - #0", a_runs[0], a_runs[1]}, 1}}));
  EXPECT_FALSE(twice({{{"#0 - a", "a - #0", a_runs[0], a_runs[1]}, 1}}));
  EXPECT_FALSE(twice({{{"#0 - t", "t - #0", "a", "-a"}, 1}, {{"#0 - t - 1", "t + 1 - #0", "a", "-a"}, 1}}));
  EXPECT_TRUE(twice({{{"#0 - t", "t - #0", "a", "-a"}, 1}, {{"#0 - 1", "1 - #0", "a", "-a"}, 1}}));
  const Part row{{"#0", "t - #0"}, 1}, behind{{"#0 - t - 1", "t + 3 - #0"}, 1};
  EXPECT_TRUE(is_apart(points(row), points(behind), {}).value_or(false));
  EXPECT_FALSE(is_apart(points(row), points(row), {}).value_or(true));
  EXPECT_TRUE(is_apart(points(row), points(row), conditions({"-1 - t"})).value_or(false));
}

}  // namespace
}  // namespace sous::sdfg
