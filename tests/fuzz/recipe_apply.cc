// A recipe applied to nests of the usual kinds: what comes out is a valid graph and small enough to be emitted, or the
// recipe is refused. The budgets of steps, isl and generated code are what is tried here.
#include "sdfg/check.h"
#include "sdfg/text.h"
#include "targets/target.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/nests.h"
#include "transforms/apply.h"

using namespace sous;

SOUS_FUZZ_TARGET(input) {
  const auto recipe = transforms::parse_recipe(input);
  if (!recipe) return;
  transforms::ApplyOptions options;
  options.budget.operations = 200'000;
  options.context.reassociate = true;
  options.context.hardware = {
      {"l1_bytes", 32 << 10}, {"l2_bytes", 1 << 20}, {"l3_bytes", 32 << 20}, {"simd_bits", 512}, {"cores", 2}};
  for (const std::string_view text : fuzz::nests) {
    const auto nest = sdfg::parse(text);
    SOUS_ASSERT(nest);
    const auto result = transforms::apply(*nest, *recipe, options);
    if (!result) continue;
    const auto valid = sdfg::check(*result);
    SOUS_ASSERT(valid || valid.error().code == "sdfg.depth");
    if (!valid) continue;
    const auto code = targets::find_target(recipe->target)->emit(*result, {.comment = transforms::to_text(*recipe)});
    SOUS_ASSERT(!code || code->code.size() < (std::size_t{8} << 20));
  }
}
