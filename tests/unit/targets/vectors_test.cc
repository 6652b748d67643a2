// targets/runtime/vectors.h against Highway itself: every operation that generated code uses, for every type and number
// of lanes, on the same numbers, gives the same bits.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "sdfg/text.h"
#include "tests/support/generated.h"
#include "tests/support/random_nest.h"

namespace sous::targets {
namespace {

constexpr const char* program = R"(
static uint64_t state;
static uint64_t random_bits() {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return state >> 11;
}
template <class T> static T number() {
  const int64_t n = static_cast<int64_t>(random_bits() % 4001) - 2000;
  return sous::is_float<T> ? static_cast<T>(n) / static_cast<T>(16) : static_cast<T>(n);
}
static uint64_t folded(uint64_t sum, const void* from, size_t bytes) {
  for (size_t k = 0; k < bytes; ++k) sum = (sum ^ static_cast<const unsigned char*>(from)[k]) * 1099511628211u;
  return sum;
}
constexpr int64_t room = 16 * 9 + 32;

template <class T, size_t most> static uint64_t of_one_type(size_t rest, int64_t stride) {
  const hn::CappedTag<T, most> d;
  using D = decltype(d);
  const hn::RebindToSigned<D> di;
  using I = hn::TFromD<decltype(di)>;
  T q[room], p[room];
  I w[room];
  for (int64_t k = 0; k < room; ++k) q[k] = number<T>(), p[k] = number<T>(), w[k] = static_cast<I>(random_bits() % 99);
  const auto a = hn::LoadU(d, q), b = sous::load_strided(d, q + 8, stride);
  const auto m = hn::FirstN(d, rest);
  const auto c = sous::load(d, m, q + 3);
  auto z = hn::IfThenElse(hn::And(m, hn::Lt(a, b)), hn::Add(a, b), hn::Sub(hn::Mul(a, b), c));
  z = hn::IfThenElseZero(hn::Not(hn::Or(hn::Gt(a, c), hn::Xor(hn::Eq(a, z), m))), z);
  z = hn::Add(hn::Max(z, a), hn::Min(z, hn::Set(d, static_cast<T>(3))));
  if constexpr (sous::is_float<T>) {
    z = hn::Add(hn::MulAdd(z, a, b), hn::MulSub(c, a, b));
    z = hn::Add(hn::NegMulAdd(z, a, b), hn::NegMulSub(c, a, b));
    z = hn::CopySign(hn::Sqrt(hn::Abs(z)), hn::Neg(b));
    z = hn::Add(hn::Add(sous::Floor(z), sous::Ceil(hn::Add(z, a))), hn::Add(sous::Round(b), sous::Trunc(a)));
    z = sous::fmax(d, sous::fmin(d, z, a), sous::fused(d, a, b, c));
    z = hn::Add(z, sous::cast(d, di, hn::LoadU(di, w)));
    if (!hn::AllFalse(d, hn::Le(z, a))) p[0] += 1;
    if (hn::AllTrue(d, hn::Ge(hn::Abs(z), hn::Zero(d)))) p[1] += 1;
  } else {
    z = hn::ShiftRight<2>(hn::ShiftLeft<3>(z));
    z = hn::Add(hn::And(z, hn::Or(hn::Not(a), hn::Xor(b, c))), hn::Neg(hn::Sub(z, a)));
    p[0] += hn::AllFalse(d, hn::Gt(z, a)) ? 1 : 2;
  }
  sous::store(d, hn::AndNot(hn::Lt(z, a), m), z, p + 2);
  sous::store_strided(d, z, p + 20, stride);
  sous::store_reversed(d, sous::load_reversed(d, q + 20), p + 99);
  hn::Vec<D> tile[hn::MaxLanes(d)];
  sous::load_transposed(d, q, stride, tile);
  for (size_t k = 0; k < hn::Lanes(d); ++k) z = hn::Add(hn::Add(z, z), tile[k]);
  sous::store_strided(d, m, sous::iota(d, stride, 3), p + 60, stride);
  if (rest > 0) p[120] = sous::last_lane(d, m, z);
  p[121] = sous::reduce(d, z, [](T x, T y) { return T(x + y); });
  hn::StoreU(z, d, p + 130);
  return folded(1, p, sizeof p);
}

template <size_t lanes> static uint64_t of_two_types(size_t rest) {
  const hn::CappedTag<double, lanes> d;
  const hn::Rebind<float, decltype(d)> f;
  const hn::Rebind<int32_t, decltype(d)> w;
  const hn::Rebind<int64_t, decltype(d)> l;
  float q[room];
  int32_t i[room];
  double p[room] = {};
  for (int64_t k = 0; k < room; ++k) q[k] = number<float>(), i[k] = number<int32_t>();
  auto x = sous::cast(d, f, hn::LoadU(f, q));
  x = hn::Add(x, sous::cast(d, w, hn::LoadU(w, i)));
  x = hn::Add(x, sous::cast(d, l, sous::cast(l, w, sous::load(w, hn::FirstN(w, rest), i + 5))));
  x = hn::IfThenElse(sous::mask_cast(d, f, hn::Lt(hn::LoadU(f, q + 3), hn::Zero(f))), x, hn::Neg(x));
  hn::StoreU(sous::cast(f, d, x), f, q + 40);
  sous::store(w, sous::mask_cast(w, d, hn::Gt(x, hn::Zero(d))), hn::LoadU(w, i + 9), i + 30);
  hn::StoreU(x, d, p + 9);
  return folded(folded(folded(1, p, sizeof p), q, sizeof q), i, sizeof i);
}

// Memory and conversions of elements of one or two bytes, beside wider ones that compute.
template <class N, class W, size_t most> static uint64_t of_narrow_memory(size_t rest, int64_t stride) {
  const hn::CappedTag<W, most> d;
  const hn::Rebind<N, decltype(d)> h;
  const hn::Rebind<int32_t, decltype(d)> w;
  N q[room], p[room] = {};
  for (int64_t k = 0; k < room; ++k) q[k] = static_cast<N>(random_bits());
  const auto m = hn::FirstN(h, rest);
  auto x = hn::Add(sous::cast(d, h, hn::LoadU(h, q)), sous::cast(d, h, sous::load(h, m, q + 3)));
  x = hn::Add(x, sous::cast(d, h, sous::load_strided(h, q + 8, stride)));
  x = hn::Add(x, sous::cast(d, h, sous::load_reversed(h, q + 60)));
  const auto sixteenth = sous::cast(h, d, hn::Mul(x, hn::Set(d, static_cast<W>(0.0625))));  // fits
  const auto low = sous::cast(h, w, sous::cast(w, d, x));                                   // and what does not
  hn::StoreU(sixteenth, h, p);
  sous::store(h, m, low, p + 20);
  sous::store_strided(h, low, p + 40, stride);
  sous::store_reversed(h, sixteenth, p + 20 + 8 * 15);
  sous::store(h, sous::mask_cast(h, d, hn::Gt(x, hn::Set(d, static_cast<W>(99)))), hn::LoadU(h, q + 9), p + 141);
  hn::StoreU(hn::IfThenElse(hn::AndNot(m, hn::FirstN(h, 5)), low, sixteenth), h, p + 158);
  return folded(1, p, sizeof p);
}
template <class N> static void each_narrow(int64_t*& out, size_t rest, int64_t stride) {
  *out++ += static_cast<int64_t>(of_narrow_memory<N, float, 4>(rest, stride));
  *out++ += static_cast<int64_t>(of_narrow_memory<N, float, 16>(rest, stride));
  *out++ += static_cast<int64_t>(of_narrow_memory<N, double, 2>(rest, stride));
  *out++ += static_cast<int64_t>(of_narrow_memory<N, double, 8>(rest, stride));
}

template <class T> static void each(int64_t*& out, size_t rest, int64_t stride) {
  *out++ += static_cast<int64_t>(of_one_type<T, 2>(rest, stride));
  *out++ += static_cast<int64_t>(of_one_type<T, 4>(rest, stride));
  *out++ += static_cast<int64_t>(of_one_type<T, 8>(rest, stride));
  *out++ += static_cast<int64_t>(of_one_type<T, 16>(rest, stride));
}
static int check(int64_t seed, int64_t* results) {
  state = static_cast<uint64_t>(seed);
  for (size_t rest = 0; rest <= 17; ++rest) {
    int64_t* out = results;
    const int64_t stride = 1 + static_cast<int64_t>(rest) % 8;
    each<double>(out, rest, stride);
    each<float>(out, rest, stride);
    each<int32_t>(out, rest, stride);
    each<int64_t>(out, rest, stride);
    each<uint32_t>(out, rest, stride);
    each<uint64_t>(out, rest, stride);
    *out++ += static_cast<int64_t>(of_two_types<2>(rest));
    *out++ += static_cast<int64_t>(of_two_types<4>(rest));
    *out++ += static_cast<int64_t>(of_two_types<8>(rest));
    each_narrow<uint8_t>(out, rest, stride);
    each_narrow<int8_t>(out, rest, stride);
    each_narrow<uint16_t>(out, rest, stride);
    each_narrow<int16_t>(out, rest, stride);
  }
  return 1;
}
)";

TEST(Vectors, AreHighways) {
  const auto graph = sdfg::parse(
      "sdfg 1 t symbols seed array results: i64[43] argument arguments seed, results loop i = 0 .. 43 { s0: results[i] "
      "= 0i64 }");
  ASSERT_TRUE(graph) << graph.error().to_string();
  const char* march = std::getenv("SOUS_MARCH");
  for (const std::string compiler : {"clang++-19", "g++-12"}) {
    std::vector<std::vector<std::byte>> results;
    for (const std::string define : {"", "#define SOUS_HIGHWAY\n"}) {
      tests::CompileOptions how{.include_root = SOUS_SOURCE_DIR, .compiler = compiler};
      how.flags += " -O1 -Wno-unused-function";
      if (march != nullptr) how.flags += std::string(" -march=") + march;
      const auto code = tests::GeneratedCode::compile(define + "#include \"targets/runtime/highway.h\"\n" + program,
                                                      {{&*graph, "check"}}, how);
      ASSERT_TRUE(code) << code.error().why;
      sdfg::Memory memory = tests::random_memory(*graph, 1, {{"seed", 12345}});
      sdfg::Buffer& out = memory.buffers.at("results");
      out.bytes.assign(out.bytes.size(), std::byte{0});
      EXPECT_EQ(code->run(0, memory), 1);
      results.push_back(out.bytes);
    }
    EXPECT_EQ(results[0], results[1]) << compiler;
  }
}

}  // namespace
}  // namespace sous::targets
