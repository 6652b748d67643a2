// What stands in comments of generated code came from outside and stays a comment.
#include <gtest/gtest.h>

#include "targets/cpp/text.h"
#include "targets/target.h"
#include "tests/unit/targets/emitting.h"

namespace sous::targets {
namespace {

constexpr std::string_view nest =
    "sdfg 1 f\nsymbols n\narray A: f64[n] argument\narguments n, A\n\nloop i = 0 .. n {\n  s: A[i] = 1.0\n}\n";

TEST(Comments, NothingGetsOut) {
  EXPECT_EQ(comment_lines("one\ntwo"), "// one\n// two\n");
  EXPECT_EQ(comment_lines("a.c\rint evil;"), "// a.c int evil;\n");
  EXPECT_EQ(comment_lines("joined \\ \\\nint x;"), "// joined\n// int x;\n");
  EXPECT_EQ(comment_lines("joined ?\?/\nint x;"), "// joined ??\n// int x;\n");
  EXPECT_EQ(comment_lines("\v\f\n"), "//\n");
}

TEST(Comments, OfAFunctionAndAFile) {
  const std::string evil = "x\r#error evil\\\n*/ int y; /*";
  for (const std::string& target : target_names()) {
    const std::string file = tests::source_file({emitted_function(target, parsed(nest), {.comment = evil})}, evil);
    for (std::size_t at = file.find("evil"); at != std::string::npos; at = file.find("evil", at + 1)) {
      const std::size_t line = file.rfind('\n', at) + 1;
      EXPECT_EQ(file.substr(line == std::string::npos ? 0 : line, 3), "// ") << file;
    }
    EXPECT_EQ(file.find('\r'), std::string::npos);
  }
}

}  // namespace
}  // namespace sous::targets
