#include "sdfg/interp.h"

#include <gtest/gtest.h>

#include <cstring>

#include "sdfg/scalar_eval.h"
#include "sdfg/text.h"

namespace sous::sdfg {
namespace {

using Values = std::map<std::string, std::vector<double>>;
using Symbols = std::map<std::string, std::int64_t>;

Sdfg graph(const std::string& text) {
  auto sdfg = parse("sdfg 1 test\n" + text);
  EXPECT_TRUE(sdfg) << (sdfg ? "" : sdfg.error().to_string());
  return sdfg.value_or(Sdfg{});
}

std::uint64_t bits_of(double value, ElementType type) {
  return is_float(type) ? real_bits(value, type)
                        : canonical_bits(type, static_cast<std::uint64_t>(static_cast<std::int64_t>(value)));
}

// Runs the graph with these arguments and gives them back; the text of the error in "error" if there is one.
struct Outcome {
  Values values;
  std::string error;
};
Outcome run(const std::string& text, const Symbols& symbols, const Values& arguments, InterpOptions options = {}) {
  const Sdfg sdfg = graph(text);
  Memory memory;
  memory.symbols = symbols;
  for (const auto& [name, values] : arguments) {
    Buffer& buffer = memory.buffers[name];
    buffer.type = sdfg.find(name)->type;
    const auto size = static_cast<std::size_t>(info(buffer.type).bytes);
    for (const double value : values) {
      const std::uint64_t bits = bits_of(value, buffer.type);
      const auto* first = reinterpret_cast<const std::byte*>(&bits);
      buffer.bytes.insert(buffer.bytes.end(), first, first + size);
    }
  }
  Outcome outcome;
  const auto done = interpret(sdfg, memory, options);
  if (!done) outcome.error = done.error().code;
  for (const auto& [name, buffer] : memory.buffers) {
    const auto size = static_cast<std::size_t>(info(buffer.type).bytes);
    for (std::size_t at = 0; at < buffer.bytes.size(); at += size) {
      std::uint64_t bits = 0;
      std::memcpy(&bits, &buffer.bytes[at], size);
      bits = canonical_bits(buffer.type, bits);
      outcome.values[name].push_back(is_float(buffer.type) ? real_from_bits(bits, buffer.type)
                                                           : static_cast<double>(static_cast<std::int64_t>(bits)));
    }
  }
  return outcome;
}

TEST(Interp, MatrixProductOverATriangle) {
  const auto done = run(R"(
symbols n
array A: f64[n, n] argument
array x: f64[n] argument
array y: f64[n] argument
arguments n, A, x, y
loop i = 0 .. n {
  s0: y[i] = 0.0
  loop j = 0 .. i + 1 {
    s1: y[i] += A[i, j] * x[j]
  }
})",
                        {{"n", 3}}, {{"A", {1, 0, 0, 2, 3, 0, 4, 5, 6}}, {"x", {1, 2, 3}}, {"y", {9, 9, 9}}});
  EXPECT_EQ(done.error, "");
  EXPECT_EQ(done.values.at("y"), (std::vector<double>{1, 8, 32}));
}

TEST(Interp, DescendingAndStridedLoopsKeepTheirOrder) {
  const auto done = run(R"(
array x: i32[6] argument
arguments x
loop i = 4 .. -1 step -2 {
  s0: x[i] = x[i + 1] + 1
}
loop j = 0 .. 0 {
  s1: x[j + 100] = 0
})",
                        {}, {{"x", {0, 1, 2, 3, 4, 50}}});
  EXPECT_EQ(done.error, "");
  EXPECT_EQ(done.values.at("x"), (std::vector<double>{2, 1, 4, 3, 51, 50}));
}

TEST(Interp, GathersBoundsFromMemoryIfAndWhile) {
  const auto done = run(R"(
array idx: i32[3] argument const
array count: i32 argument const
array x: f64[3] argument
array t: i32 stack transient
arguments idx, count, x
loop i = 0 .. count[] {
  if (x[idx[i]] > 1.5) {
    s0: x[idx[i]] = -x[idx[i]]
  } else {
    s1: x[idx[i]] = 7.0
  }
}
s2: t[] = 0
while (t[] < 3) {
  s3: t[] = t[] + 1
}
s4: x[1] = f64(t[]))",
                        {}, {{"idx", {2, 0, 1}}, {"count", {2}}, {"x", {1, 2, 3}}});
  EXPECT_EQ(done.error, "");
  EXPECT_EQ(done.values.at("x"), (std::vector<double>{7, 3, -3}));
}

TEST(Interp, StridesOffsetAndStoreSize) {
  const std::string text = R"(
symbols n
array x: f64[n, 2] strides [-1, n] offset n - 1 argument
arguments n, x
s0: x[0, 1] = x[2, 0])";
  EXPECT_EQ(store_size(graph(text), "x", {{"n", 3}}), 6);
  EXPECT_EQ(store_size(graph(text), "x", {{"n", 0}}), 0);
  const auto done = run(text, {{"n", 3}}, {{"x", {1, 2, 3, 4, 5, 6}}});
  EXPECT_EQ(done.values.at("x"), (std::vector<double>{1, 2, 3, 4, 5, 1}));
}

TEST(Interp, NobodyCanRelyOnADeadContainer) {
  const char* text = R"(
array x: f64[2] argument
array t: f64[2] argument dead
arguments x, t
s0: t[0] = x[0] + 1.0
s1: x[1] = t[0]
)";
  const auto one = run(text, {}, {{"x", {1, 0}}, {"t", {5, 6}}});
  EXPECT_EQ(one.error, "");
  EXPECT_EQ(one.values.at("x"), (std::vector<double>{1, 2}));
  EXPECT_NE(one.values.at("t")[0], 2);
  EXPECT_EQ(one.values.at("t"), run(text, {}, {{"x", {2, 0}}, {"t", {7, 8}}}).values.at("t"));
}

TEST(Interp, SingleFloatsRoundOnEachOperation) {
  const auto done = run(R"(
array x: f32[2] argument
arguments x
s0: x[1] = x[0] * x[0] + -1.0f32)",
                        {}, {{"x", {1 + 0x1p-23, 0}}});
  EXPECT_EQ(done.values.at("x")[1], 0x1p-22);  // fused: 0x1p-22 + 0x1p-46
}

// What evaluating `code` (of type i32, over x[0] and x[1]) gives, or the error.
std::string computed(const std::string& code, double a, double b, const std::string& type = "i32") {
  const auto done =
      run("array x: " + type + "[2] argument\narray y: " + type + " argument\narguments x, y\ns0: y[] = " + code, {},
          {{"x", {a, b}}, {"y", {0}}});
  return done.error.empty() ? std::to_string(static_cast<long long>(done.values.at("y")[0])) : done.error;
}

TEST(Interp, IntegerArithmeticWrapsAndTruncates) {
  EXPECT_EQ(computed("x[0] + x[1]", 100, 100, "i8"), "-56");
  EXPECT_EQ(computed("x[0] * x[1]", 255, 255, "u8"), "1");
  EXPECT_EQ(computed("-x[0]", -128, 0, "i8"), "-128");
  EXPECT_EQ(computed("x[0] / x[1]", -7, 2), "-3");
  EXPECT_EQ(computed("x[0] % x[1]", -7, 2), "-1");
  EXPECT_EQ(computed("x[0] >> x[1]", -7, 1), "-4");
  EXPECT_EQ(computed("x[0] >> x[1]", 0x80, 1, "u8"), "64");
  EXPECT_EQ(computed("x[0] << x[1]", 3, 31), "-2147483648");
  EXPECT_EQ(computed("min(x[0], x[1])", -1, 1, "u16"), "1");
}

TEST(Interp, ErrorsOfArithmetic) {
  EXPECT_EQ(computed("x[0] / x[1]", 1, 0), "interp.division");
  EXPECT_EQ(computed("x[0] % x[1]", -128, -1, "i8"), "interp.division");
  EXPECT_EQ(computed("x[0] << x[1]", 1, 32), "interp.shift");
  EXPECT_EQ(computed("x[0] >> x[1]", 1, -1), "interp.shift");
  EXPECT_EQ(computed("f32(u8(f32(300)))", 0, 0, "f32"), "interp.cast-range");
  EXPECT_EQ(computed("select(x[1] == 0, 5, x[0] / x[1])", 1, 0), "5");  // the other arm is not evaluated
}

TEST(Interp, ErrorsOfMemory) {
  const std::string header = "symbols n\narray x: f64[n] argument\narray t: f64[2] stack transient\narguments n, x\n";
  const auto code = [&](const std::string& body) { return run(header + body, {{"n", 2}}, {{"x", {1, 2}}}).error; };
  EXPECT_EQ(code("s0: x[n] = 0.0"), "interp.out-of-bounds");
  EXPECT_EQ(code("s0: x[0] = x[-1]"), "interp.out-of-bounds");
  EXPECT_EQ(code("s0: t[0] = 1.0\ns1: x[0] = t[1]"), "interp.undefined-read");
  EXPECT_EQ(code("loop i = 0 .. 2 private(t) { if ({i}i32 == 0) { s0: t[0] = 1.0 } s1: x[i] = t[0] }"),
            "interp.undefined-read");
  EXPECT_EQ(code("s0: x[1 floordiv (n - 2)] = 0.0"), "interp.expr");
  EXPECT_EQ(run(header, {}, {{"x", {1, 2}}}).error, "interp.symbol");
  EXPECT_EQ(run(header, {{"n", 3}}, {{"x", {1, 2}}}).error, "interp.buffer");
  EXPECT_EQ(run(header + "assume n - 5 >= 0", {{"n", 2}}, {{"x", {1, 2}}}).error, "interp.assumption");
  EXPECT_EQ(run(header + "while (true) { s0: x[0] = 0.0 }", {{"n", 2}}, {{"x", {1, 2}}}, {.max_operations = 100}).error,
            "interp.budget");
}

// The error of a loop with this head over x[0..8) = 0, 1, …
std::string order_error(const std::string& head, const std::string& body) {
  return run("array x: f64[16] argument\narray t: f64 stack transient\narray c: i32 argument\narguments x, c\n" + head +
                 " { " + body + " }",
             {}, {{"x", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}}, {"c", {0}}})
      .error;
}

TEST(Interp, ParallelLoopsAreHeldAgainstTheDescendingOrder) {
  EXPECT_EQ(order_error("loop i = 0 .. 8 parallel", "s0: x[i] = x[i + 8]"), "");
  EXPECT_EQ(order_error("loop i = 1 .. 8 parallel", "s0: x[i] = x[i - 1]"), "interp.order");
  EXPECT_EQ(order_error("loop i = 0 .. 8 parallel", "s0: t[] = x[i] s1: x[i] = -t[]"), "interp.order");
  EXPECT_EQ(order_error("loop i = 0 .. 8 parallel private(t)", "s0: t[] = x[i] s1: x[i] = -t[]"), "");
  EXPECT_EQ(order_error("loop i = 0 .. 8 parallel", "s0: c[] += {i}i32"), "");  // an integer sum: any order is right
  EXPECT_EQ(order_error("loop i = 0 .. 8 parallel reduce(+: x)", "s0: x[0] += x[8] / 3.0"), "");
  EXPECT_EQ(order_error("loop j = 0 .. 2 parallel", "loop i = 0 .. 8 { s0: x[i + j] = {i}f64 }"), "interp.order");
}

TEST(Interp, SimdLoopsAreHeldAgainstLockstep) {
  EXPECT_EQ(order_error("loop i = 0 .. 8 simd(lanes=4)", "s0: x[i] = x[i + 1]"), "");
  EXPECT_EQ(order_error("loop i = 4 .. 12 simd(lanes=4)", "s0: x[i] = x[i - 4]"), "");
  EXPECT_EQ(order_error("loop i = 4 .. 12 simd(lanes=8)", "s0: x[i] = x[i - 4]"), "interp.order");
  EXPECT_EQ(order_error("loop i = 4 .. 12 simd", "s0: x[i] = x[i - 4]"), "interp.order");  // eight f64 in 64 bytes
  EXPECT_EQ(order_error("loop i = 0 .. 8 simd(lanes=4)", "s0: c[] += {i}i32"), "interp.order");
  EXPECT_EQ(order_error("loop i = 0 .. 8 simd(lanes=4) reduce(+: c)", "s0: c[] += {i}i32"), "");
  EXPECT_EQ(
      order_error("loop i = 0 .. 8 simd(lanes=4)", "if (x[i] > 3.0) { loop k = 0 .. i { s0: x[i] = x[i] + 1.0 } }"),
      "");
}

}  // namespace
}  // namespace sous::sdfg
