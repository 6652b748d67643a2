#include "tests/support/rewritten.h"

#include <gtest/gtest.h>

#include "sdfg/check.h"
#include "sdfg/interp.h"
#include "sdfg/text.h"
#include "targets/target.h"
#include "tests/support/generated.h"
#include "tests/support/random_nest.h"
#include "tests/support/run_compiled.h"
#include "transforms/apply.h"

namespace sous::tests {

Result<sdfg::Sdfg> applied(const sdfg::Sdfg& before, const std::string& steps, const std::string& target) {
  TRY(transforms::Recipe recipe, transforms::recipe_from_text(steps + " -> " + target));
  return transforms::apply(before, recipe, {});
}

std::string refusal(const sdfg::Sdfg& before, const std::string& steps) {
  const auto after = applied(before, steps);
  return after ? "applied\n" + sdfg::print(*after) : after.error().code;
}

std::string nodes(const sdfg::Sdfg& sdfg) {
  const std::string text = sdfg::print(sdfg);
  const std::size_t at = text.find("\n\n");
  return at == std::string::npos ? text : text.substr(at + 2);
}

Rewritten rewritten(const sdfg::Sdfg& before, const std::string& steps, const std::string& target) {
  const auto after = applied(before, steps, target);
  if (!after) ADD_FAILURE() << after.error().to_string() << "\n" << sdfg::print(before) << "\n" << steps;
  return {.before = before, .steps = steps, .after = after.value_or(before)};
}

void expect_same_interpreted(const Rewritten& nest, const std::vector<Sizes>& sizes, Undefined undefined) {
  const auto valid = sdfg::check(nest.after);
  ASSERT_TRUE(valid) << valid.error().to_string() << "\n" << sdfg::print(nest.after);
  std::size_t run = 0;
  for (const Sizes& s : sizes) {
    sdfg::Memory expected = random_memory(nest.before, 1, s), actual = expected;
    const auto first = sdfg::interpret(nest.before, expected);
    if (!first && undefined == Undefined::LeftOut) continue;
    ASSERT_TRUE(first) << first.error().to_string() << "\n" << sdfg::print(nest.before);
    ++run;
    const auto second = sdfg::interpret(nest.after, actual);
    ASSERT_TRUE(second) << second.error().to_string() << "\n" << sdfg::print(nest.after);
    const auto found = difference(expected, actual);
    ASSERT_FALSE(found) << *found << "\n" << sdfg::print(nest.after);
  }
  if (undefined == Undefined::LeftOut) {
    EXPECT_GT(run, 10U) << sdfg::print(nest.before);
  }
}

std::vector<std::string> expect_same_compiled(const std::vector<Rewritten>& nests, const std::vector<Sizes>& sizes,
                                              const std::string& target, Undefined undefined) {
  std::vector<targets::Function> functions;
  std::vector<std::string> code_of;
  std::vector<Generated> generated;
  for (std::size_t k = 0; k < nests.size(); ++k) {
    targets::EmitOptions options = exact_options(target);
    options.function = "f" + std::to_string(k);
    const auto function = targets::find_target(target)->emit(nests[k].after, options);
    if (!function) ADD_FAILURE() << function.error().to_string() << "\n" << nests[k].steps;
    functions.push_back(function.value_or(targets::Function{targets::find_target(target), "", {}}));
    code_of.push_back(functions.back().code);
    generated.push_back({&nests[k].after, options.function});
  }
  const auto code = GeneratedCode::compile(
      source_file(functions, "the steps' results"), generated,
      {.include_root = SOUS_SOURCE_DIR,
       .flags = "-O1 -march=native -fopenmp -fwrapv -ffp-contract=off -DSOUS_ROUNDS_PRODUCTS -Wall "
                "-Wextra -Werror"});
  const auto run = [&] {
    ASSERT_TRUE(code) << code.error().to_string();
    for (std::size_t k = 0; k < nests.size(); ++k)
      for (const Sizes& s : sizes) {
        const sdfg::Memory memory = random_memory(nests[k].before, 2, s);
        sdfg::Memory expected = memory;
        const auto first = sdfg::interpret(nests[k].before, expected);
        if (!first && undefined == Undefined::LeftOut) continue;
        ASSERT_TRUE(first) << first.error().to_string();
        for (const auto guard : {GuardPage::Behind, GuardPage::InFront}) {
          sdfg::Memory actual = memory;
          ASSERT_EQ(code->run(k, actual, guard), 1) << code_of[k];
          const auto found = difference(expected, actual);
          ASSERT_FALSE(found) << *found << "\n" << nests[k].steps << "\n" << code_of[k];
        }
      }
  };
  run();
  return code_of;
}

}  // namespace sous::tests
