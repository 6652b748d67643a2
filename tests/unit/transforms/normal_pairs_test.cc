// Different spellings of one computation have one normal form: the units' structural hashes are equal.
#include <gtest/gtest.h>

#include "sdfg/text.h"
#include "transforms/normal_form.h"

namespace sous::transforms {
namespace {

NormalForm normal(const std::string& text) {
  const auto graph = sdfg::parse(text);
  EXPECT_TRUE(graph) << graph.error().to_string();
  auto form = normalize(graph.value());
  EXPECT_TRUE(form) << form.error().to_string();
  return std::move(form).value();
}

// Hashes of the whole, then of the top-level nests in their order.
std::vector<std::string> hashes(const NormalForm& form) {
  std::vector<std::string> result;
  for (const NormalForm::Unit& unit : form.units) result.push_back(unit.structural_hash);
  return result;
}

void expect_equal_forms(const std::string& a, const std::string& b) {
  const NormalForm x = normal(a), y = normal(b);
  EXPECT_EQ(hashes(x), hashes(y)) << sdfg::print(x.sdfg) << "\n" << sdfg::print(y.sdfg);
}

TEST(NormalFormPairs, GemmWithPermutedLoopsTemporariesAndNames) {
  expect_equal_forms(R"(sdfg 1 gemm
symbols n, m, k
array A: f64[n, k] argument
array B: f64[k, m] argument
array C: f64[n, m] argument
arguments n, m, k, A, B, C
loop i = 0 .. n {
  loop j = 0 .. m {
    s0: C[i, j] = C[i, j] * 1.5
  }
  loop p = 0 .. k {
    loop j2 = 0 .. m {
      s1: C[i, j2] = C[i, j2] + 2.5 * A[i, p] * B[p, j2]
    }
  }
}
)",
                     R"(sdfg 1 other
symbols columns, rows, depth
array left: f64[rows, depth] argument
array t: f64 stack transient
array right: f64[depth, columns] argument
array out: f64[rows, columns] argument
arguments out, left, right, columns, depth, rows
loop c = 0 .. columns {
  loop r = rows - 1 .. -1 step -1 {
    first: out[r, c] = 1.5 * out[r, c]
    loop d = 1 .. depth + 1 {
      a: t[] = 2.5 * left[r, d - 1]
      b: out[r, c] = t[] * right[d - 1, c] + out[r, c]
    }
  }
}
)");
}

TEST(NormalFormPairs, AtaxByRowsAndByColumns) {
  expect_equal_forms(R"(sdfg 1 atax
symbols m, n
array A: f64[m, n] argument
array x: f64[n] argument
array y: f64[n] argument
array tmp: f64[m] argument
arguments m, n, A, x, y, tmp
loop i0 = 0 .. n {
  s0: y[i0] = 0.0
}
loop i = 0 .. m {
  s1: tmp[i] = 0.0
  loop j = 0 .. n {
    s2: tmp[i] = tmp[i] + A[i, j] * x[j]
  }
  loop j2 = 0 .. n {
    s3: y[j2] = y[j2] + A[i, j2] * tmp[i]
  }
}
)",
                     R"(sdfg 1 atax
symbols m, n
array A: f64[m, n] argument
array x: f64[n] argument
array y: f64[n] argument
array tmp: f64[m] argument
array acc: f64 stack transient
arguments m, n, A, x, y, tmp
loop i = 0 .. m {
  s1: acc[] = 0.0
  loop j = 0 .. n {
    s2: acc[] = acc[] + x[j] * A[i, j]
  }
  s3: tmp[i] = acc[]
}
loop c = 0 .. n {
  s4: y[c] = 0.0
  loop i2 = 0 .. m {
    s5: y[c] = A[i2, c] * tmp[i2] + y[c]
  }
}
)");
}

TEST(NormalFormPairs, SyrkOnEitherTriangleOrder) {
  expect_equal_forms(R"(sdfg 1 syrk
symbols n, m
array A: f64[n, m] argument
array C: f64[n, n] argument
arguments n, m, A, C
loop i = 0 .. n {
  loop j = 0 .. i + 1 {
    s0: C[i, j] = C[i, j] * 1.5
  }
  loop k = 0 .. m {
    loop j2 = 0 .. i + 1 {
      s1: C[i, j2] = C[i, j2] + A[i, k] * A[j2, k]
    }
  }
}
)",
                     R"(sdfg 1 syrk
symbols n, m
array A: f64[n, m] argument
array C: f64[n, n] argument
arguments n, m, A, C
loop j = 0 .. n {
  loop i = j .. n {
    s0: C[i, j] = C[i, j] * 1.5
    loop k = 0 .. m {
      s1: C[i, j] = C[i, j] + A[i, k] * A[j, k]
    }
  }
}
)");
}

TEST(NormalFormPairs, CovarianceByColumnsAndByRows) {
  expect_equal_forms(R"(sdfg 1 covariance
symbols n, m
array data: f64[n, m] argument
array mean: f64[m] argument
array cov: f64[m, m] argument
arguments n, m, data, mean, cov
loop j = 0 .. m {
  s0: mean[j] = 0.0
  loop i = 0 .. n {
    s1: mean[j] = mean[j] + data[i, j]
  }
  s2: mean[j] = mean[j] / f64({n}i64)
}
loop i2 = 0 .. n {
  loop j2 = 0 .. m {
    s3: data[i2, j2] = data[i2, j2] - mean[j2]
  }
}
loop i3 = 0 .. m {
  loop j3 = i3 .. m {
    s4: cov[i3, j3] = 0.0
    loop k = 0 .. n {
      s5: cov[i3, j3] = cov[i3, j3] + data[k, i3] * data[k, j3]
    }
    s6: cov[i3, j3] = cov[i3, j3] / (f64({n}i64) - 1.0)
    s7: cov[j3, i3] = cov[i3, j3]
  }
}
)",
                     R"(sdfg 1 covariance
symbols n, m
array data: f64[n, m] argument
array mean: f64[m] argument
array cov: f64[m, m] argument
array acc: f64 stack transient
arguments n, m, data, mean, cov
loop j0 = 0 .. m {
  s0: mean[j0] = 0.0
}
loop i = 0 .. n {
  loop j = 0 .. m {
    s1: mean[j] = mean[j] + data[i, j]
  }
}
loop j1 = 0 .. m {
  s2: mean[j1] = mean[j1] / f64({n}i64)
}
loop j2 = 0 .. m {
  loop i2 = 0 .. n {
    s3: data[i2, j2] = data[i2, j2] - mean[j2]
  }
}
loop i3 = 0 .. m {
  loop j3 = i3 .. m {
    s4: acc[] = 0.0
    loop k = 0 .. n {
      s5: acc[] = acc[] + data[k, j3] * data[k, i3]
    }
    s6: cov[i3, j3] = acc[] / (f64({n}i64) - 1.0)
    s7: cov[j3, i3] = cov[i3, j3]
  }
}
)");
}

TEST(NormalFormPairs, Jacobi2dWithTransposedSweepAndOffsets) {
  expect_equal_forms(R"(sdfg 1 jacobi2d
symbols t, n
array A: f64[n, n] argument
array B: f64[n, n] argument
arguments t, n, A, B
loop s = 0 .. t {
  loop i = 1 .. n - 1 {
    loop j = 1 .. n - 1 {
      s0: B[i, j] = 0.2 * (A[i, j] + A[i, j - 1] + A[i, j + 1] + A[i + 1, j] + A[i - 1, j])
    }
  }
  loop i2 = 1 .. n - 1 {
    loop j2 = 1 .. n - 1 {
      s1: A[i2, j2] = 0.2 * (B[i2, j2] + B[i2, j2 - 1] + B[i2, j2 + 1] + B[i2 + 1, j2] + B[i2 - 1, j2])
    }
  }
}
)",
                     R"(sdfg 1 jacobi2d
symbols t, n
array A: f64[n, n] argument
array B: f64[n, n] argument
array sum: f64 stack transient
arguments t, n, A, B
loop s = 1 .. t + 1 {
  loop i = 0 .. n - 2 {
    loop j = 0 .. n - 2 {
      s00: sum[] = A[i + 1, j + 1] + A[i + 1, j]
      s01: sum[] = sum[] + A[i + 1, j + 2]
      s02: sum[] = sum[] + A[i + 2, j + 1] + A[i, j + 1]
      s03: B[i + 1, j + 1] = sum[] * 0.2
    }
  }
  loop j2 = n - 2 .. 0 step -1 {
    loop i2 = 1 .. n - 1 {
      s1: A[i2, j2] = 0.2 * (B[i2, j2] + B[i2, j2 - 1] + B[i2, j2 + 1] + B[i2 + 1, j2] + B[i2 - 1, j2])
    }
  }
}
)");
}

TEST(NormalFormPairs, TwoProductsInEitherOrderClearedTogetherOrApart) {
  expect_equal_forms(R"(sdfg 1 together
symbols n, m
array A: f64[n, m] argument
array p: f64[m] argument
array q: f64[n] argument
array r: f64[n] argument
array s: f64[m] argument
arguments n, m, A, p, q, r, s
loop i0 = 0 .. m {
  s0: s[i0] = 0.0
}
loop i = 0 .. n {
  s1: q[i] = 0.0
  loop j = 0 .. m {
    s2: s[j] = s[j] + r[i] * A[i, j]
    s3: q[i] = q[i] + A[i, j] * p[j]
  }
}
)",
                     R"(sdfg 1 apart
symbols h, w
array M: f64[h, w] argument
array x: f64[h] argument
array y: f64[w] argument
array a: f64[w] argument
array b: f64[h] argument
arguments h, w, M, x, y, a, b
loop i = 0 .. h {
  s0: b[i] = 0.0
}
loop i2 = 0 .. h {
  loop j2 = 0 .. w {
    s1: b[i2] = b[i2] + M[i2, j2] * a[j2]
  }
}
loop j = 0 .. w {
  s2: y[j] = 0.0
  loop i3 = 0 .. h {
    s3: y[j] = y[j] + M[i3, j] * x[i3]
  }
}
)");
}

TEST(NormalFormPairs, AStoreThatIsOverwrittenAtOnce) {
  expect_equal_forms(R"(sdfg 1 two
symbols n
array A: f64[n] argument
array u: f64[n] argument
array v: f64[n] argument
arguments n, A, u, v
loop i = 0 .. n {
  s0: A[i] = A[i] + u[i] * v[i]
  s1: A[i] = A[i] + 2.0 * v[i]
}
)",
                     R"(sdfg 1 one
symbols n
array A: f64[n] argument
array u: f64[n] argument
array v: f64[n] argument
arguments n, A, u, v
loop i = 0 .. n {
  s0: A[i] = A[i] + u[i] * v[i] + 2.0 * v[i]
}
)");
}

// The element holds the value; what is stored in it need not be kept in a scalar, too.
TEST(NormalFormPairs, CovariancesScaledInPlaceOrThroughATemporary) {
  const auto scaled = [](const std::string& body, const std::string& scalar) {
    return "sdfg 1 scale\nsymbols m\narray cov: f64[m, m] argument\narray c: f64 argument\n" + scalar +
           "arguments m, cov, c\nloop i = 0 .. m {\n  loop j = i .. m {\n" + body + "  }\n}\n";
  };
  expect_equal_forms(scaled("    a: cov[i, j] = cov[i, j] / (c[] - 1.0)\n    b: cov[j, i] = cov[i, j]\n", ""),
                     scaled("    a: t[] = cov[i, j] / (c[] - 1.0)\n    b: cov[i, j] = t[]\n    c: cov[j, i] = t[]\n",
                            "array t: f64 stack transient\n"));
}

// What is used several times is computed once: in a scalar, in the element, beside other loops or alone.
TEST(NormalFormPairs, DeviationsInPlaceOrThroughATemporary) {
  const std::string head =
      "symbols n, m\narray x: f64[m] argument\narray A: f64[n, m] argument\narray c: f64 argument\n";
  expect_equal_forms("sdfg 1 in_place\n" + head + R"(arguments n, m, x, A, c
loop j = 0 .. m {
  loop i = 0 .. n {
    s0: x[j] = x[j] + A[i, j]
  }
  s1: x[j] = x[j] / c[]
  s2: x[j] = sqrt(x[j])
  s3: x[j] = select(x[j] <= 0.1, 1.0, x[j])
}
)",
                     "sdfg 1 temporary\n" + head + R"(array root: f64 stack transient
arguments n, m, x, A, c
loop i = 0 .. n {
  loop j = 0 .. m {
    s0: x[j] = x[j] + A[i, j]
  }
}
loop k = 0 .. m {
  s1: root[] = sqrt(x[k] / c[])
  s2: x[k] = select(root[] <= 0.1, 1.0, root[])
}
)");
}

// Each link names the one before it twice: written out, the last would have 2^40 operands, or a polynomial of degree
// 2^40.
TEST(NormalFormPairs, ChainsOfSquaresStayAsLongAsTheyAre) {
  for (const auto& [type, first] : {std::pair<std::string, std::string>{"f64", "x[i]"},
                                    {"u32", "x[i]"},
                                    {"i32", "{i + n}i32"},
                                    {"i32", "{n}i32"}}) {
    std::string scalars, chain = "  s0: t0[] = " + first + "\n";
    for (int k = 0; k <= 40; ++k) scalars += "array t" + std::to_string(k) + ": " + type + " stack transient\n";
    for (int k = 1; k <= 40; ++k) {
      const std::string before = "t" + std::to_string(k - 1) + "[]";
      chain += "  s" + std::to_string(k) + ": t" + std::to_string(k) + "[] = " + before + " * " + before + "\n";
    }
    const NormalForm form = normal("sdfg 1 f\nsymbols n\narray x: " + type + "[n] argument\n" + scalars +
                                   "arguments n, x\nloop i = 0 .. n {\n" + chain + "  end: x[i] = t40[]\n}\n");
    EXPECT_LT(sdfg::print(form.sdfg).size(), 20000u) << type;
  }
}

// Both products are equal but for what the third does with them.
TEST(NormalFormPairs, ThreeProductsTheFirstTwoInEitherOrder) {
  const std::string head = R"(symbols n
array A: f64[n, n] argument
array B: f64[n, n] argument
array C: f64[n, n] argument
array D: f64[n, n] argument
array E: f64[n, n] argument
array F: f64[n, n] argument
array G: f64[n, n] argument
arguments n, A, B, C, D, E, F, G
)";
  int loops = 0;
  const auto product = [&loops](const std::string& to, const std::string& left, const std::string& right) {
    const std::string k = std::to_string(loops++), i = "i" + k, j = "j" + k, p = "p" + k,
                      at = to + "[" + i + ", " + j + "]";
    return "loop " + i + " = 0 .. n {\n  loop " + j + " = 0 .. n {\n    a" + k + ": " + at + " = 0.0\n    loop " + p +
           " = 0 .. n {\n      b" + k + ": " + at + " = " + at + " + " + left + "[" + i + ", " + p + "] * " + right +
           "[" + p + ", " + j + "]\n    }\n  }\n}\n";
  };
  const std::string first =
      "sdfg 1 f\n" + head + product("E", "A", "B") + product("F", "C", "D") + product("G", "E", "F");
  const std::string second =
      "sdfg 1 f\n" + head + product("F", "C", "D") + product("E", "A", "B") + product("G", "E", "F");
  expect_equal_forms(first, second);
  // Another computation: what was the left operand is the right one.
  const std::string other =
      "sdfg 1 f\n" + head + product("F", "C", "D") + product("E", "A", "B") + product("G", "F", "E");
  EXPECT_EQ(hashes(normal(first)), hashes(normal(other)));  // but for the names
  EXPECT_NE(hashes(normal(first)), hashes(normal("sdfg 1 f\n" + head + product("F", "C", "D") + product("E", "A", "B") +
                                                 product("G", "E", "E"))));
}

// Where the element is read meanwhile, perhaps under another name, or work would be done twice (then through a scalar).
TEST(NormalFormPairs, AStoreThatIsOverwrittenButSeen) {
  const auto stores = [](const std::string& body, const std::string& alias) {
    const NormalForm form =
        normal("sdfg 1 f\nsymbols n\narray A: f64[n] argument" + alias + "\narray u: f64[n] argument" + alias +
               "\narguments n, A, u\nloop i = 0 .. n {\n" + body + "}\n");
    int count = 0;
    sdfg::visit(form.sdfg.root,
                [&](const sdfg::Node& node) { count += std::holds_alternative<sdfg::State>(node.value); });
    return count;
  };
  EXPECT_EQ(stores("  a: A[i] = u[i] + 1.0\n  b: A[i] = A[i] * u[i]\n", ""), 1);
  EXPECT_EQ(stores("  a: A[i] = u[i] + 1.0\n  b: A[i] = A[i] * u[i]\n", " alias 1"), 2);  // another name
  EXPECT_EQ(stores("  a: A[i] = u[i] + 1.0\n  b: A[i] = A[i] * A[n - i - 1]\n", ""), 2);  // another element
  EXPECT_EQ(stores("  a: A[i] = sqrt(u[i])\n  b: A[i] = A[i] * A[i]\n", ""), 2);          // work done twice
  EXPECT_EQ(stores("  a: A[i] = u[i] + 1.0\n  b: u[i] = A[i] * 2.0\n  c: A[i] = A[i] + 1.0\n", ""), 3);  // between
}

std::string normal_text(const std::string& body) {
  return sdfg::print(normal("sdfg 1 f\nsymbols n\narray A: f64[n] argument\narray f: f32[n] argument\n"
                            "array u: f64[n] argument\narray v: f64[n] argument\narguments n, A, f, u, v\n" +
                            body)
                         .sdfg);
}

// What C would not contract is marked, whatever folding brings to light; of two products C contracts the first.
TEST(NormalFormPairs, FoldingUncoversNoProductForASum) {
  const auto one = [](const std::string& statement) {
    return normal_text("loop i = 0 .. n { s: " + statement + " }\n");
  };
  for (const std::string product : {"1.0 * (u[i] * v[i])", "u[i] * v[i] / 1.0", "(u[i] * v[i] - 0.0)",
                                    "-(-(u[i] * v[i]))", "select(true, u[i] * v[i], 0.0)"}) {
    EXPECT_TRUE(one("A[i] = A[i] + " + product).contains("uncontracted(")) << product;
    EXPECT_FALSE(one("A[i] = A[i] * " + product).contains("uncontracted(")) << product;
  }
  EXPECT_TRUE(one("f[i] = f[i] + f32(f64(f[i] * f[n - i - 1]))").contains("uncontracted("));
  EXPECT_FALSE(one("A[i] = A[i] + u[i] * v[i]").contains("uncontracted("));
  const std::string two = one("A[i] = v[i] * u[n - i - 1] + u[i] * A[i]");
  EXPECT_TRUE(two.contains("uncontracted(A[i] * u[i])")) << two;
}

// Calls that may set errno are made in the program's order, and where it makes them.
TEST(NormalFormPairs, CallsThatSetErrnoStay) {
  const std::string loops = normal_text(
      "loop i = 0 .. n { loop j = 0 .. n { a: A[i] = A[i] + sqrt(u[j]) } }\nloop k = 0 .. n { b: v[k] = exp(v[k]) }\n");
  EXPECT_LT(loops.find("sqrt"), loops.find("exp")) << loops;
  const std::string lazy =
      normal_text("loop i = 0 .. n {\n  a: A[i] = sqrt(u[i])\n  b: A[i] = select(v[i] > 1.0, A[i], 0.0)\n}\n");
  EXPECT_FALSE(lazy.contains("select(1.0 < v[i], sqrt")) << lazy;
}

// A product of another statement is no part of the sum that uses it: C does not contract it there.
TEST(NormalFormPairs, ProductsOfOtherStatementsAreNotContracted) {
  const auto with = [](const std::string& body) {
    return "sdfg 1 f\nsymbols n\narray A: f64[n] argument\narray t: f64 stack transient\narray u: f64[n] argument\n"
           "arguments n, A, u\nloop i = 0 .. n {\n" +
           body + "}\n";
  };
  const std::string two = with("  a: t[] = u[i] * 3.0\n  b: A[i] = A[i] + t[]\n");
  const NormalForm form = normal(two);
  EXPECT_NE(sdfg::print(form.sdfg).find("uncontracted("), std::string::npos) << sdfg::print(form.sdfg);
  expect_equal_forms(two, with("  a: A[i] = A[i] + uncontracted(3.0 * u[i])\n"));
  expect_equal_forms(with("  a: t[] = u[i] * 3.0\n  b: A[i] = A[i] * t[]\n"),
                     with("  a: A[i] = A[i] * (3.0 * u[i])\n"));
  EXPECT_NE(hashes(form), hashes(normal(with("  a: A[i] = A[i] + 3.0 * u[i]\n"))));
}

TEST(NormalFormPairs, PrivatesInWhateverOrderTheProgramDeclaresThem) {
  const auto escape = [](const std::string& declared, const std::string& steps, const std::string& value) {
    return "sdfg 1 t symbols n array A: f64[n] argument " + declared +
           " array out: f64[n] argument arguments n, A, out " + "loop i = 0 .. n { s0: " + steps +
           "[] = 0 s1: " + value + "[] = A[i] while (0.5 < " + value + "[]) { s2: " + value + "[] = " + value +
           "[] * 0.5 s3: " + steps + "[] = " + steps + "[] + 1 } s4: out[i] = f64(" + steps + "[]) + " + value + "[] }";
  };
  const std::string a = "array a: i32 stack transient ", b = "array b: f64 stack transient ";
  expect_equal_forms(escape(a + b, "a", "b"), escape(b + a, "a", "b"));
}

}  // namespace
}  // namespace sous::transforms
