// A loop that goes on while a flag is set is left where the flag is cleared, and only where nothing follows in its
// body.
#include <gtest/gtest.h>

#include "tests/unit/targets/emitting.h"

namespace sous::targets {
namespace {

std::string searching(const std::string& condition, const std::string& body) {
  return "sdfg 1 f\nsymbols n\narray t: bool stack transient\narray j: i64 stack transient\narray A: f64[n] argument\n"
         "array found: i64[1] argument\narguments n, A, found\n\n"
         "s0: j[] = 0\ns1: t[] = " +
         std::string(condition == "t[]" ? "0 < {n}i64" : "false") + "\nwhile (" + condition + ") {\n" + body + "}\n";
}

std::size_t breaks(const std::string& text) {
  const auto graph = parsed(text);
  std::size_t count = 0;
  const std::string code = emitted("cpp", graph);
  for (std::size_t at = code.find("break;"); at != std::string::npos; at = code.find("break;", at + 1)) ++count;
  return count;
}

TEST(EarlyExits, WhereTheFlagIsClearedAndTheRestIsGuarded) {
  EXPECT_EQ(breaks(searching("t[]",
                             "if (A[0] == 2.0) {\ns2: found[0] = j[]\ns3: t[] = false\n}\n"
                             "if (t[]) {\ns4: j[] = j[] + 1\ns5: t[] = j[] < {n}i64\n}\n")),
            1u);
  EXPECT_EQ(breaks(searching("!t[]",
                             "if (A[0] == 2.0) {\ns3: t[] = true\n}\n"
                             "if (!t[]) {\ns4: j[] = j[] + 1\nif (A[0] == 3.0) {\ns6: t[] = true\n}\n}\n")),
            2u);
}

TEST(EarlyExits, NotWhereSomethingElseFollows) {
  const std::string cleared = "if (A[0] == 2.0) {\ns3: t[] = false\n}\n";
  EXPECT_EQ(breaks(searching("t[]", cleared + "s4: j[] = j[] + 1\n")), 0u);
  EXPECT_EQ(breaks(searching("t[]", cleared + "if (t[]) {\ns4: j[] = j[] + 1\n}\ns5: found[0] = j[]\n")), 0u);
  EXPECT_EQ(breaks(searching("t[]", "if (A[0] == 2.0) {\n" + cleared + "s4: j[] = j[] + 1\n}\n")), 0u);
  EXPECT_EQ(breaks(searching("t[]", cleared + "if (!t[]) {\ns4: j[] = j[] + 1\n}\n")), 0u);
  // Set, or to a value that only the run knows: the loop goes on.
  EXPECT_EQ(breaks(searching("t[]", "if (A[0] == 2.0) {\ns3: t[] = true\n}\n")), 0u);
  // A loop inside is not this one.
  EXPECT_EQ(breaks(searching("t[]", "loop i = 0 .. n {\n" + cleared + "}\n")), 0u);
}

}  // namespace
}  // namespace sous::targets
