#include "frontends/c/loop_bound.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "frontends/c/lift.h"
#include "sdfg/loop_depth.h"
#include "sdfg/types.h"

namespace sous::frontends::c {
namespace {

namespace fs = std::filesystem;

int depth(std::string_view text) {
  const auto bound = loop_bound(text);
  return bound ? bound->depth : -1;
}

TEST(LoopBound, CountsLoopsInLoops) {
  EXPECT_EQ(depth("int f(int n) { return n; }"), 0);
  EXPECT_EQ(depth("void f(int n, double *a) { for (int i = 0; i < n; ++i) a[i] = 0; while (n) n--; }"), 1);
  EXPECT_EQ(depth("void f(int n, double *a) { for (int i = 0; i < n; ++i) for (int j = 0; j < n; ++j) a[i] += j; }"),
            2);
  EXPECT_EQ(depth("void f(int n) { while (n) { if (n > 3) do { n--; } while (n > 3); else n = 0; } }"), 2);
  EXPECT_EQ(depth("void f(int n) { for (;;) { n++; } for (;;) n--; }"), 1);
  EXPECT_EQ(depth("void f(int n) { switch (n) { case 1: for (;;) n++; default: l: for (;;) while (n) ; } }"), 2);
  EXPECT_EQ(depth("void f(int n) { do { n = 0; } while (0); }"), 0);
  const auto bound = loop_bound("void f(int n) { do { n = 0; } while (0); }");
  EXPECT_EQ(bound, (LoopBound{false, 0, false}));
  EXPECT_EQ(loop_bound("float x; void f(int n) { while (n) --n; }"), (LoopBound{true, 1, true}));
}

TEST(LoopBound, WordsInLiteralsAndCommentsAreNone) {
  EXPECT_EQ(loop_bound("int form(int before) { return \"for\"[0] + 'd'; } // for\n/* while */"), LoopBound());
  EXPECT_EQ(depth("int f() { return '\\''; } /* for (;;) for (;;) */ char *s = \"\\\" for (;;)\";"), 0);
}

TEST(LoopBound, SystemHeadersDoNotCount) {
  EXPECT_EQ(depth("# 1 \"a.c\"\n# 1 \"b.h\" 1 3\nvoid g() { for(;;) for(;;); }\n# 2 \"a.c\" 2\nint x;\n"), 0);
  EXPECT_EQ(depth("# 1 \"a.c\"\n# 1 \"b.h\" 1 3\nint y;\n# 2 \"a.c\" 2\nvoid g() { for (;;) for (;;); }\n"), 2);
}

TEST(LoopBound, CallsOfWhatIsInTheTextCountWhereTheyStand) {
  const std::string g =
      "static double g(double *a, int n) { double s = 0; for (int k = 0; k < n; ++k) s += a[k]; return s; }";
  EXPECT_EQ(depth(g + "void f(double *a, int n) { for (int i = 0; i < n; ++i) a[i] = g(a, i); }"), 2);
  EXPECT_EQ(depth("double g(double *, int);" + g + "void f(double *a, int n) { a[0] = g(a, n); }"), 1);
  EXPECT_EQ(depth("void f(int *a, int n) { for (int i = 0; i < n; ++i) a[i] = abs(a[i]); }"), 1);
  // Recursion comes to an end.
  EXPECT_GE(depth("int f(int n) { for (;;) n = f(n); }"), 1);
}

TEST(LoopBound, DefinitionsOfTheOldestStyle) {
  EXPECT_EQ(depth("int f(n) int n; { for (;;) n++; }"), 1);
  EXPECT_EQ(depth("int x; int g P((int)); int f(n, h) int n; int (*h)(); { for (;;) for (;;) n++; } int y;"), 2);
  EXPECT_EQ(depth("int g(n) register int n; { for (;;) n++; } int f(n) int n; { for (;;) n = g(n); }"), 2);
}

TEST(LoopBound, WhatCallsTheUnknownIsNotLifted) {
  EXPECT_EQ(depth("int h(int); void f(int n) { for (;;) for (;;) n = h(n); }"), 0);
  EXPECT_EQ(depth("int h(int); void f(int n) { for (;;) { n = h(n); for (;;) for (;;) n++; } }"), 2);
  EXPECT_EQ(depth("void f(int n, int (*h)(int)) { for (;;) for (;;) n = (*h)(n); }"), 0);
  EXPECT_EQ(depth("struct s { int (*h)(int); }; void f(int n, struct s *s) { for (;;) for (;;) n = s->h(n); }"), 0);
  EXPECT_EQ(depth("void f(int n, double *a) { for (;;) for (;;) a[n] = sqrt(a[n]) + fabsf((float)(n)); }"), 2);
  EXPECT_EQ(depth("int g(int n) { return h(n); } void f(int n) { for (;;) for (;;) n = g(n); }"), 0);
}

class LoopBoundFiles : public ::testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }
  std::string write(const std::string& name, const std::string& text) const {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }
  int depth_of(const std::string& text, const IncludeSearch& search = {}) const {
    const auto bound = loop_bound(write("main.c", text), search);
    return bound ? bound->depth : -1;
  }
  // Of this process: several run at a time.
  const fs::path folder_ = fs::path(::testing::TempDir()) / ("sous-loop-bound-" + std::to_string(::getpid()));
};

TEST_F(LoopBoundFiles, MacrosCountWhereTheyAreNamed) {
  const std::string each = "#define EACH(i, n) for (int i = 0; i < (n); ++i)\n";
  EXPECT_EQ(depth_of(each + "int x;"), 0);
  EXPECT_EQ(depth_of(each + "void f(int *a) { EACH(i, 9) a[i] = 0; }"), 1);
  EXPECT_EQ(depth_of(each + "void f(int *a) { EACH(i, 9) EACH(j, 9) { a[i] = j; } }"), 2);
  EXPECT_EQ(depth_of(each + "#define BOTH(n) EACH(i, n) EACH(j, n)\nvoid f(int *a) { BOTH(9) a[i] = j; }"), 2);
  EXPECT_EQ(depth_of("#define CLEAR(a) \\\n  do { for (int k = 0; k < 9; ++k) a[k] = 0; } while (0)\n"
                     "void f(int *a) { for (;;) { CLEAR(a); } }"),
            2);
  EXPECT_EQ(depth_of("#define APPLY(f, x) f(x)\n#define LOOP while (1)\nvoid f(int n) { LOOP LOOP n = APPLY(-, n); }"),
            2);
  EXPECT_EQ(depth_of("#define DEFINE(name) void name(int n) { for (;;) for (;;) n++; }\nDEFINE(g)\n"), 2);
  EXPECT_EQ(depth_of("#define CHECK(x) if (x) fail(#x)\nvoid f(int n) { for (;;) for (;;) { CHECK(n); } }"), 0);
  EXPECT_EQ(depth_of("#define NAME(a, b) a##_##b\nvoid NAME(g, loop)(int n) { for (;;) n++; }\n"
                     "void f(int n) { for (;;) NAME(g, loop)(n); }"),
            2);
  EXPECT_EQ(depth_of("void f(int n) { LOOP2 LOOP2 n++; }", {.macros = "#define LOOP2 while (1) while (1)\n"}), 4);
}

TEST_F(LoopBoundFiles, FilesThatAreIncluded) {
  write("inc/h.h", "static void g(int n) { for (;;) for (;;) n++; }\n");
  write("body.h", "while (n) n--;\n");
  EXPECT_EQ(depth_of("#include <h.h>\n"), 0) << "of the system";
  EXPECT_EQ(depth_of("#include <h.h>\n", {.folders = {(folder_ / "inc").string()}}), 2);
  EXPECT_EQ(depth_of("#include \"inc/h.h\"\n"), 2);
  EXPECT_EQ(depth_of("void f(int n) { for (;;) {\n#include \"body.h\"\n} for (;;) {\n#  include \"body.h\"\n} }"), 2);
  EXPECT_EQ(depth_of("#define HEADER \"body.h\"\n#include HEADER\n"), -1);
  EXPECT_EQ(depth_of("#ifdef HEADER\n#include HEADER\n#endif\n"), 0);
}

TEST_F(LoopBoundFiles, HeadersThatAreNotLookedInto) {
  const auto floating = [&](const std::string& text) { return loop_bound(write("main.c", text), {})->floating; };
  EXPECT_FALSE(floating("#include <stdio.h>\n#include <sys/types.h>\nint x;"));
  EXPECT_TRUE(floating("#include <GL/gl.h>\nGLfloat x[4];"));
  // What the compiler finds nowhere is another system's, under a condition; GL/gl.h is there.
  write("system/GL/gl.h", "typedef float GLfloat;\n");
  const auto on_system = [&](const std::string& text) {
    return loop_bound(write("main.c", text), {.system = {(folder_ / "system").string()}})->floating;
  };
  EXPECT_FALSE(on_system("#ifdef _WIN32\n#include <windows.h>\n#endif\nint x;"));
  EXPECT_TRUE(on_system("#include <GL/gl.h>\nGLfloat x[4];"));
  EXPECT_TRUE(on_system("#include </opt/lib/real.h>\nreal x;"));
  // The same of preprocessed text: what a header of the C library includes is the library's own.
  const auto markers = [](const std::string& header, const std::string& inner) {
    return "# 1 \"a.c\"\n# 1 \"" + header + "\" 1 3 4\nint y;\n# 9 \"" + inner + "\" 1 3 4\ndouble z;\n# 2 \"" +
           header + "\" 2 3 4\n# 2 \"a.c\" 2\nint x;\n";
  };
  const std::string bits = "/usr/include/x86_64-linux-gnu/bits/types.h";
  for (const char* header :
       {"/usr/include/stdio.h", "/usr/include/x86_64-linux-gnu/sys/types.h", "/usr/include/stdc-predef.h", "<built-in>",
        "/usr/lib/llvm-19/lib/clang/19/include/stddef.h"}) {
    EXPECT_FALSE(loop_bound(markers(header, bits))->floating) << header;
  }
  EXPECT_TRUE(loop_bound(markers("/usr/include/GL/gl.h", bits))->floating);
  // CLAMP of such a header is a macro, blur is a function.
  const std::string nest = "(int n) { for (;;) for (;;) n = ";
  EXPECT_EQ(depth_of("#include <glib.h>\nvoid f" + nest + "CLAMP(n, 0, 9); }"), 2);
  EXPECT_EQ(depth_of("#include <glib.h>\nvoid f" + nest + "blur(n); }"), 0);
}

TEST_F(LoopBoundFiles, BranchesOfConditions) {
  EXPECT_EQ(depth_of("void f(int n) {\n#ifdef A\nfor (;;) n++;\n#else\nfor (;;) for (;;) n--;\n#endif\n}"), 2);
  EXPECT_EQ(depth_of("#ifdef __cplusplus\nextern \"C\" {\n#endif\nvoid f(int n) { for (;;) n++; }\n#ifdef "
                     "__cplusplus\n}\n#endif\n"),
            1);
  EXPECT_EQ(depth_of("#ifdef __cplusplus\n#define BEGIN extern \"C\" {\n#else\n#define BEGIN\n#endif\nBEGIN int x;"),
            0);
  EXPECT_EQ(depth_of("#if 0\nit's for (;;) {{{\n#endif\nint x;"), 0);
  EXPECT_EQ(depth_of("void f(int n) { for (;;)\n#ifdef A\n{\n#endif\nn++;\n#ifdef A\n}\n#endif\n}"), -1);
}

TEST_F(LoopBoundFiles, WhatTextDoesNotTell) {
  EXPECT_EQ(depth_of("#define BEGIN {\nvoid f(int n) BEGIN for (;;) n++; }"), -1);
  EXPECT_EQ(depth_of("#define for if\n"), -1);
  EXPECT_FALSE(loop_bound((folder_ / "none.c").string(), {}));
  EXPECT_FALSE(loop_bound("void f() " + std::string(2000, '{')));
}

// No nest that the front end lifts from any C file of this tree is deeper than its text's bound.
TEST(LoopBound, IsOneOfWhatIsLifted) {
  const fs::path root = SOUS_SOURCE_DIR;
  const std::string utilities = (root / "benchmarks/polybench").string();
  int nests = 0, told = 0;
  for (const char* folder : {"benchmarks", "tests/e2e"}) {
    for (const auto& file : fs::recursive_directory_iterator(root / folder)) {
      if (file.path().extension() != ".c") continue;
      std::ifstream in(file.path());
      std::stringstream text;
      text << in.rdbuf();
      const auto unit = lift(text.str(), file.path().string(), {"-I" + utilities});
      const auto bound = loop_bound(file.path().string(), {.folders = {utilities}});
      if (!unit || !bound) continue;
      ++told;
      for (const auto& nest : unit->nests) {
        ++nests;
        EXPECT_LE(sdfg::loop_depth(nest.sdfg.root), bound->depth) << file.path() << ", " << nest.function;
        for (const auto& c : nest.sdfg.containers) {
          EXPECT_TRUE(bound->floating || !sdfg::is_float(c.type)) << file.path() << ", " << c.name;
        }
      }
    }
  }
  EXPECT_GT(nests, 100);
  EXPECT_GT(told, 60);
}

}  // namespace
}  // namespace sous::frontends::c
