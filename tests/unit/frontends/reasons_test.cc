// docs/frontend-c.md is the test: every example gives the code that it stands under, and every code of the sources is
// documented there.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "frontends/c/advice.h"
#include "frontends/c/lift.h"

namespace sous::frontends::c {
namespace {

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

struct Example {
  std::string code, text;
  std::vector<std::string> arguments;
};

std::vector<Example> examples(std::set<std::string>& headings) {
  std::vector<Example> result;
  std::istringstream page(read(std::string(SOUS_SOURCE_DIR) + "/docs/frontend-c.md"));
  std::string code;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("### `")) {
      code = line.substr(5, line.size() - 6);
      headings.insert(code);
    }
    if (!line.starts_with("```c")) continue;
    Example example{code, "", {}};
    if (line.size() > 5) example.arguments.push_back(line.substr(5));
    while (std::getline(page, line) && line != "```") example.text += line + "\n";
    result.push_back(std::move(example));
  }
  return result;
}

TEST(Reasons, EveryExampleGivesItsCode) {
  std::set<std::string> headings;
  const std::vector<Example> all = examples(headings);
  EXPECT_GT(all.size(), 40u);
  for (const Example& e : all) {
    auto unit = lift(e.text, "example.c", e.arguments);
    ASSERT_TRUE(unit.has_value()) << e.code << ": " << unit.error().to_string();
    std::string found;
    for (const Reason& r : unit->reasons) found += r.code + ": " + r.why + "\n";
    EXPECT_TRUE(std::ranges::any_of(unit->reasons, [&](const Reason& r) { return r.code == e.code; }))
        << e.code << " not among " << unit->reasons.size() << " reasons, " << unit->nests.size() << " nests:\n"
        << e.text << found;
  }
}

TEST(Reasons, SayWhatTheAuthorMayDo) {
  const auto unit = lift(R"(void f(int n, double *x) {
  for (int i = 0; i < n; i++) {
    if (x[i] > 1) goto done;
    x[i] = 0;
  }
done:;
})",
                         "f.c", {});
  ASSERT_TRUE(unit && !unit->reasons.empty());
  EXPECT_EQ(unit->reasons[0].code, "c.goto");
  EXPECT_EQ(unit->reasons[0].advice, "a loop without jumps");
  EXPECT_EQ(advice("c.alias.scalar"), "copy the scalar into a local variable before the loop");
  EXPECT_EQ(advice("c.alias.unknown-extent"), "declare the pointers restrict");
  EXPECT_EQ(advice("sdfg.alias"), "");
}

TEST(Reasons, EveryCodeIsDocumented) {
  std::set<std::string> headings;
  examples(headings);
  const std::regex code("\"(c\\.[a-z-]+(\\.[a-z-]+)*)\"");
  for (const auto& file : std::filesystem::directory_iterator(std::string(SOUS_SOURCE_DIR) + "/frontends/c")) {
    const std::string text = read(file.path());
    for (std::sregex_iterator it(text.begin(), text.end(), code), end; it != end; ++it)
      EXPECT_TRUE(headings.contains((*it)[1])) << (*it)[1] << " in " << file.path();
  }
}

// What a called function has that cannot be lifted is said of the loop that calls it, also where that function stands
// in a header.
TEST(Reasons, StandWhereTheNestIs) {
  const auto unit = lift(R"(# 900 "/usr/include/header.h" 1
void g(int);
static int now(int k) {
  g(k);
  return k;
}
# 1 "test.c" 2
void f(int n, int *a) {
  for (int i = 0; i < n; i++)
    a[i] = now(i);
})",
                         "test.c", {});
  ASSERT_TRUE(unit);
  ASSERT_EQ(unit->reasons.size(), 1u);
  EXPECT_EQ(unit->reasons[0].code, "c.call.unknown-effects");
  EXPECT_EQ(unit->reasons[0].line, 2);
}

}  // namespace
}  // namespace sous::frontends::c
