// Divisions by a divisor whose reciprocal is known: the theorem, in every small format; the functions of the runtime,
// against the division; what the targets make of them, against the interpreter.
#include "tests/unit/targets/emitting.h"

namespace sous::targets {
namespace {

// --- The theorem ----------------------------------------------------------------------------------------------------

// significand * 2^exponent; of a rounded number the significand has `precision` bits, or is 0.
struct Number {
  std::int64_t significand = 0;
  int exponent = 0;
};

int bits_of(std::int64_t magnitude) { return 64 - __builtin_clzll(static_cast<unsigned long long>(magnitude)); }

// To nearest, ties to even. `more`: the value is not quite this one, but a little larger in magnitude.
Number rounded(Number a, int precision, bool more = false) {
  const bool negative = a.significand < 0;
  std::int64_t m = negative ? -a.significand : a.significand;
  if (m == 0) return {0, 0};
  const int drop = bits_of(m) - precision;
  if (drop <= 0) {
    m <<= -drop;
  } else {
    const std::int64_t half = std::int64_t{1} << (drop - 1), rest = m & (2 * half - 1);
    m >>= drop;
    if (rest > half || (rest == half && (more || (m & 1) != 0))) ++m;
  }
  a.exponent += drop;
  if (m == std::int64_t{1} << precision) {
    m >>= 1;
    ++a.exponent;
  }
  return {negative ? -m : m, a.exponent};
}

Number quotient(std::int64_t a, std::int64_t b, int precision) {
  const int shift = 2 * precision + 2;
  return rounded({(a << shift) / b, -shift}, precision, (a << shift) % b != 0);
}

Number sum(Number a, Number b) {
  if (a.exponent < b.exponent) std::swap(a, b);
  if (a.significand == 0) return b;
  return {(a.significand << (a.exponent - b.exponent)) + b.significand, b.exponent};
}

Number product(Number a, Number b) { return {a.significand * b.significand, a.exponent + b.exponent}; }

// Every pair of significands, in every precision from 5 to 11 bits; and what docs/repeated-division.md says of q and r.
TEST(Division, TheoremInSmallFormats) {
  for (int precision = 5; precision <= 11; ++precision) {
    const std::int64_t low = std::int64_t{1} << (precision - 1), high = 2 * low;
    std::int64_t wrong = 0, unfaithful = 0, inexact = 0, outside = 0, small = 0;
    for (std::int64_t d = low; d < high; ++d) {
      const Number y = quotient(1, d, precision);
      for (std::int64_t x = low; x < high; ++x) {
        const Number q = rounded(product({x, 0}, y), precision);
        const Number exact = sum({x, 0}, product({-q.significand, q.exponent}, {d, 0}));
        const Number r = rounded(exact, precision);
        const Number result = rounded(sum(q, product(r, y)), precision);
        const Number expected = quotient(x, d, precision);
        wrong += result.significand != expected.significand || result.exponent != expected.exponent ? 1 : 0;
        inexact += rounded(exact, 2 * precision).significand != rounded(r, 2 * precision).significand ? 1 : 0;
        // |x - q*d| against d units in the last place of q.
        const Number unit = sum({exact.significand < 0 ? -exact.significand : exact.significand, exact.exponent},
                                {-d, expected.exponent});
        unfaithful += unit.significand > 0 ? 1 : 0;
        // x and d are 2^(precision - 1) and more here: q is 1/2 to less than 2, r no less than 2^(1 - 2*precision).
        const int binade = q.exponent + precision - 1;
        outside += binade != 0 && binade != -1 ? 1 : 0;
        small += r.significand != 0 && r.exponent < -2 * precision + 1 ? 1 : 0;
      }
    }
    EXPECT_EQ(wrong, 0) << precision;
    EXPECT_EQ(outside, 0) << precision;
    EXPECT_EQ(small, 0) << precision;
    EXPECT_GT(unfaithful, 0) << precision;  // the proof has to speak of these
    EXPECT_GT(inexact, 0) << precision;
  }
}

// --- The runtime ----------------------------------------------------------------------------------------------------

// Counts where divide_by, of a scalar or a vector, differs from the division (any NaN being a NaN): failures[0..3] for
// double, double vectors, float, float vectors; failures[4] is how many were compared.
constexpr const char* checker = R"(
namespace {
template <class T> struct Bits;
template <> struct Bits<double> { using type = uint64_t; };
template <> struct Bits<float> { using type = uint32_t; };
template <class T> T from_bits(uint64_t bits) {
  return __builtin_bit_cast(T, static_cast<typename Bits<T>::type>(bits));
}
template <class T> uint64_t to_bits(T x) { return __builtin_bit_cast(typename Bits<T>::type, x); }
template <class T> bool same(T a, T b) { return to_bits(a) == to_bits(b) || (a != a && b != b); }

uint64_t seed = 1;
uint64_t random_bits() {  // splitmix64
  uint64_t z = seed += 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

// Blocks of one divisor, or of one for each x.
template <class T>
struct Checker {
  static constexpr int most = 64 / static_cast<int>(sizeof(T));
  explicit Checker(int64_t* counts) : failures(counts) {}
  int64_t* failures;
  T x[most] = {}, d[most] = {};
  int count = 0;
  void add(T x_new, T d_new) {
    x[count] = x_new;
    d[count] = d_new;
    if (++count == most) flush();
  }
  void flush() {
    while (count > 0 && count < most) {
      x[count] = x[count - 1];
      d[count] = d[count - 1];
      ++count;
    }
    constexpr int where = sizeof(T) == 8 ? 0 : 2;
    const hn::ScalableTag<T> tag;
    const int lanes = static_cast<int>(hn::Lanes(tag));
    for (int at = 0; at < count; at += lanes) {
      alignas(64) T y[most], whole[most], part[most];
      for (int k = 0; k < lanes; ++k) y[k] = 1 / d[at + k];
      const auto xs = hn::LoadU(tag, x + at), ds = hn::LoadU(tag, d + at), ys = hn::Load(tag, y);
      hn::Store(sous::divide_by(tag, xs, ds, ys), tag, whole);
      const int some = 1 + at % lanes;
      hn::Store(sous::divide_by(tag, hn::FirstN(tag, static_cast<size_t>(some)), xs, ds, ys), tag, part);
      for (int k = 0; k < lanes; ++k) {
        const T expected = x[at + k] / d[at + k];
        failures[where] += same(sous::divide_by(x[at + k], d[at + k], y[k]), expected) ? 0 : 1;
        failures[where + 1] += same(whole[k], expected) && (k >= some || same(part[k], expected)) ? 0 : 1;
      }
    }
    failures[4] += count;
    count = 0;
  }
};

// Zeros, the least and greatest numbers of every kind, the bounds of the ranges, infinities, NaN; and beside each the
// next ones.
template <class T, class F>
void specials(F f) {
  using Range = sous::RepeatedDivision<T>;
  const T values[] = {T{0}, from_bits<T>(1), sizeof(T) == 8 ? T(0x1p-1022) : T(0x1p-126F), T{1}, T{3}, T(0.1), T{2},
                      Range::divisor_low, Range::divisor_high, Range::quotient_low,
                      Range::divisor_low * Range::quotient_low, sizeof(T) == 8 ? T(0x1.fffffffffffffp1023) : T(0x1.fffffep127F),
                      static_cast<T>(__builtin_inf()), static_cast<T>(__builtin_nan(""))};
  for (const T value : values) {
    for (int64_t beside = -2; beside <= 2; ++beside) {
      const T near = from_bits<T>(to_bits(value) + static_cast<uint64_t>(beside));
      f(near);
      f(-near);
    }
  }
}

template <class T>
void pairs_of_specials(Checker<T>& check) {
  specials<T>([&](T x) { specials<T>([&](T d) { check.add(x, d); }); });
  check.flush();
}

// Exponents over the whole range, and small ones; quotients next to the middle between two numbers; and operands just
// below a power of two, where x*y is more than one unit off.
template <class T>
void at_random(Checker<T>& check, int64_t count) {
  constexpr int digits = sizeof(T) == 8 ? 52 : 23;
  const uint64_t fraction = (uint64_t{1} << digits) - 1, one = to_bits(T{1});
  for (int64_t k = 0; k < count; ++k) {
    const T x = from_bits<T>(random_bits()), d = from_bits<T>(random_bits());
    check.add(x, d);
    const T a = from_bits<T>(one | (random_bits() & fraction)), b = from_bits<T>(one | (random_bits() & fraction));
    check.add(a, b);
    // Where T is float, a and half a unit more, times b, is exact in double before it is rounded.
    const T middle = sizeof(T) == 4 ? static_cast<T>((static_cast<double>(a) + 0x1p-24) * static_cast<double>(b))
                                    : sous::fma(a, b, b * T(0x1p-53));
    for (uint64_t beside = 0; beside < 3; ++beside) check.add(from_bits<T>(to_bits(middle) + beside - 1), b);
    const uint64_t below = one + fraction;
    check.add(from_bits<T>(below - (random_bits() & 63)), from_bits<T>(below - (random_bits() & 63)));
  }
  check.flush();
}

void every(int64_t stride, float d, Checker<float>& check) {
  for (uint64_t bits = random_bits() % static_cast<uint64_t>(stride); bits < (uint64_t{1} << 32);
       bits += static_cast<uint64_t>(stride))
    check.add(from_bits<float>(bits), d);
  check.flush();
}
}  // namespace

static int check(int64_t stride, int64_t* failures) {
  Checker<double> doubles(failures);
  Checker<float> floats(failures);
  pairs_of_specials(doubles);
  pairs_of_specials(floats);
  at_random(doubles, 300000);
  at_random(floats, 300000);
  for (const float d : {3.0F, 9.0F, 7.0F, 10.0F, 1.1F, 0.1F, 1e-8F, 1e20F, 0x1.fffffep0F, 0x1.000002p0F, -3.0F, 4.0F,
                        0x1p-30F, 0x1p100F, 0x1.8p-31F, 1e-40F, 3e38F, 0.0F})
    every(stride, d, floats);
  for (int k = 0; k < 8; ++k) every(stride, from_bits<float>(random_bits()), floats);
  return 1;
}
)";

// SOUS_MARCH as everywhere here; SOUS_STRIDE=1 takes every float there is (minutes).
TEST(Highway, RepeatedDivisionIsTheDivision) {
  const sdfg::Sdfg graph = parsed(
      "sdfg 1 t symbols stride array failures: i64[5] argument arguments stride, failures loop i = 0 .. 5 { s0: "
      "failures[i] = 0i64 }");
  const std::string source =
      "#include <initializer_list>\n#include \"targets/runtime/highway.h\"\n" + std::string(checker);
  const char* stride = std::getenv("SOUS_STRIDE");
  for (const std::string compiler : {"clang++-19", "g++-12"})
    for (const std::string contract : {"off", "fast"}) {
      tests::CompileOptions how{.include_root = SOUS_SOURCE_DIR, .compiler = compiler};
      how.flags += " -ffp-contract=" + contract;
      if (const char* march = std::getenv("SOUS_MARCH")) how.flags += std::string(" -march=") + march;
      const auto code = tests::GeneratedCode::compile(source, {{&graph, "check"}}, how);
      ASSERT_TRUE(code) << code.error().why;
      sdfg::Memory memory = tests::random_memory(graph, 1, {{"stride", stride ? std::atoll(stride) : 4099}});
      sdfg::Buffer& failures = memory.buffers.at("failures");
      failures.bytes.assign(40, std::byte{0});
      EXPECT_EQ(code->run(0, memory), 1);
      const auto* counts = reinterpret_cast<const std::int64_t*>(failures.bytes.data());
      for (const int kind : {0, 1, 2, 3}) EXPECT_EQ(counts[kind], 0) << kind << " " << compiler << " " << contract;
      EXPECT_GT(counts[4], 20'000'000);
    }
}

// --- The targets ----------------------------------------------------------------------------------------------------

TEST(Highway, RepeatedDivision) {
  const std::string text = R"(sdfg 1 t symbols n
array A: f64[n] argument  array B: f32[n] argument  array C: f64[n, n] argument  array s: f64 argument
array y: f64 registers transient  array z: f64 registers transient
arguments n, A, B, C, s
loop i = 0 .. n simd { a: A[i] = divide_by(A[i] * 3.0, 9.0, 0.1111111111111111) + 1.0 }
loop j = 0 .. n simd { b: B[j] = divide_by(B[j], 3.0f32, 0.33333334f32)  c: A[j] = A[j] + f64(B[j]) }
c0: y[] = 1.0 / s[]
loop k = 0 .. n simd { if (A[k] > 0.5) { d: A[k] = divide_by(A[k], s[], y[]) } }
loop l = 0 .. n simd private(z) {
  e: z[] = 1.0 / A[l]
  loop m = 0 .. n { f: C[m, l] = divide_by(C[m, l], A[l], z[]) }
})";
  EXPECT_FALSE(emitted("highway", parsed(text)).contains("// Not as vectors"));
  expect_like_interpreter(text, {0, 1, 2, 5, 8, 17, 33});
}

// Each of these divided by each, in lanes and one by one.
TEST(Highway, RepeatedDivisionOutOfRange) {
  const std::vector<std::string> values = {"0.0",
                                           "-0.0",
                                           "1.0",
                                           "-3.0",
                                           "5e-324",
                                           "-1e-310",
                                           "2e-308",
                                           "1e-290",
                                           "1e-200",
                                           "7e300",
                                           "1.7976931348623157e308",
                                           "inf(f64)",
                                           "-inf(f64)",
                                           "nan(f64)",
                                           "0.1",
                                           "1e-60"};
  std::string fill;
  for (std::size_t k = 0; k < values.size(); ++k)
    fill += "v" + std::to_string(k) + ": v[" + std::to_string(k) + "] = " + values[k] + "\n";
  // The sign of a NaN is the hardware's.
  const auto loops = [](const std::string& name, const std::string& schedule) {
    return "loop d" + name + " = 0 .. 16 {\n  y" + name + ": y[] = 1.0 / v[d" + name + "]\n  loop x" + name +
           " = 0 .. n " + schedule + " private(q" + name + ") {\n    q" + name + ": q" + name + "[] = divide_by(v[x" +
           name + "], v[d" + name + "], y[])\n    r" + name + ": R" + name + "[d" + name + ", x" + name +
           "] = select(q" + name + "[] == q" + name + "[], q" + name + "[], 7.0)\n" + "  }\n}\n";
  };
  expect_like_interpreter(R"(sdfg 1 t symbols n
array v: f64[16] argument  array Ra: f64[16, 16] argument  array Rb: f64[16, 16] argument
array y: f64 registers transient  array qa: f64 registers transient  array qb: f64 registers transient
arguments n, v, Ra, Rb
)" + fill + loops("a", "sequential") +
                              loops("b", "simd"),
                          {16, 13});
}

}  // namespace
}  // namespace sous::targets
