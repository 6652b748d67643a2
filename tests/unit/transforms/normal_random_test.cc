// The normal form behaves as its input, bit for bit, on random nests (tests/support/random_nest.h).
#include <gtest/gtest.h>

#include <cstdlib>

#include "sdfg/check.h"
#include "sdfg/text.h"
#include "tests/support/random_nest.h"
#include "transforms/normal_form.h"

namespace sous::transforms {
namespace {

std::uint64_t first_seed() {
  const char* given = std::getenv("SOUS_SEED");
  return given ? std::strtoull(given, nullptr, 10) : 1;
}

int rounds() {
  const char* given = std::getenv("SOUS_ROUNDS");
  return given ? std::atoi(given) : 40;
}

// Runs `form` on the memory that `input` runs on and compares all arguments.
void expect_same(const sdfg::Sdfg& input, const sdfg::Sdfg& form, const sdfg::Memory& memory) {
  sdfg::Memory before = memory, after = memory;
  const sdfg::InterpOptions options{.check_orders = false};
  const auto expected = sdfg::interpret(input, before, options);
  ASSERT_TRUE(expected) << expected.error().to_string();
  const auto got = sdfg::interpret(form, after, options);
  ASSERT_TRUE(got) << got.error().to_string() << "\n" << sdfg::print(input) << "\n" << sdfg::print(form);
  ASSERT_TRUE(before.buffers == after.buffers) << sdfg::print(input) << "\n" << sdfg::print(form);
}

void expect_normal_form_behaves(const std::string& text) {
  const auto input = sdfg::parse(text);
  ASSERT_TRUE(input) << input.error().to_string();
  const auto form = normalize(*input);
  ASSERT_TRUE(form) << form.error().to_string();
  const auto valid = sdfg::check(form->sdfg);
  ASSERT_TRUE(valid) << valid.error().to_string() << "\n" << sdfg::print(form->sdfg);
  sdfg::visit(form->sdfg.root, [&](const sdfg::Node& node) {
    if (const auto* state = std::get_if<sdfg::State>(&node.value))
      EXPECT_TRUE(sdfg::as_assignment(*state)) << sdfg::print(form->sdfg);
  });
  for (const std::uint64_t memory : tests::memory_seeds)
    expect_same(*input, form->sdfg, tests::random_memory(*input, memory));
}

// One tasklet with two readers of its result, two tasklets in one state.
TEST(NormalForm, StatesOfSeveralTaskletsBehaveAsTheirSequence) {
  expect_normal_form_behaves(R"(sdfg 1 t
symbols n
array A: f64[n] argument
array B: f64[n] argument
array C: f64[n] argument
arguments n, A, B, C
loop i = 0 .. n {
  s0: {
    n0 = access A
    n1 = tasklet(x: f64) x * 2.0
    n2 = access B
    n3 = access C
    n4 = tasklet(y: f64) y + 1.0
    n5 = access A
    n0 -> n1 as x: A[i]
    n1 -> n2 as out: B[i]
    n1 -> n3 as out: C[i]
    n3 -> n4 as y: C[i]
    n4 -> n5 as out: A[i]
  }
}
)");
}

TEST(NormalForm, BehavesAsItsInputAtRandom) {
  const std::uint64_t first = first_seed();
  for (std::uint64_t seed = first; seed < first + static_cast<std::uint64_t>(rounds()); ++seed) {
    SCOPED_TRACE("SOUS_SEED=" + std::to_string(seed));
    const sdfg::Sdfg input = tests::random_nest(seed);
    const auto form = normalize(input);
    ASSERT_TRUE(form) << form.error().to_string();
    const auto valid = sdfg::check(form->sdfg);
    ASSERT_TRUE(valid) << valid.error().to_string() << "\n" << sdfg::print(input) << "\n" << sdfg::print(form->sdfg);
    for (const std::uint64_t memory : tests::memory_seeds)
      ASSERT_NO_FATAL_FAILURE(expect_same(input, form->sdfg, tests::random_memory(input, memory)));
    for (const NormalForm::Unit& unit : form->units) {
      const auto valid_unit = sdfg::check(unit.nest);
      ASSERT_TRUE(valid_unit) << valid_unit.error().to_string() << "\n" << sdfg::print(unit.nest);
    }
  }
}

TEST(NormalForm, OfANormalFormIsItselfAtRandom) {
  const std::uint64_t first = first_seed();
  for (std::uint64_t seed = first; seed < first + static_cast<std::uint64_t>(rounds() / 2); ++seed) {
    SCOPED_TRACE("SOUS_SEED=" + std::to_string(seed));
    const auto once = normalize(tests::random_nest(seed));
    ASSERT_TRUE(once);
    const auto twice = normalize(once->sdfg);
    ASSERT_TRUE(twice);
    EXPECT_EQ(sdfg::print(once->sdfg), sdfg::print(twice->sdfg));
  }
}

}  // namespace
}  // namespace sous::transforms
