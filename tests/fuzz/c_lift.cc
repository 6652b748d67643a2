// Preprocessed C: whatever it is, the front end lifts valid graphs or nothing; they survive the normal form, and what
// replaces them is spliced in.
#include "frontends/c/lift.h"
#include "frontends/c/loop_bound.h"
#include "frontends/c/splice.h"
#include "sdfg/check.h"
#include "sdfg/loop_depth.h"
#include "targets/target.h"
#include "tests/fuzz/fuzz.h"
#include "transforms/normal_form.h"

using namespace sous;

SOUS_FUZZ_TARGET(input) {
  if (input.size() > 8192) return;
  const std::string text(input);
  const auto bound = frontends::c::loop_bound(text);
  const auto unit = frontends::c::lift(text, "input.c", {"-std=gnu17", "-fopenmp"});
  if (!unit) return;
  std::vector<frontends::Replacement> replacements;
  for (const auto& nest : unit->nests) {
    SOUS_ASSERT(sdfg::check(nest.sdfg));
    SOUS_ASSERT(!bound || sdfg::loop_depth(nest.sdfg.root) <= bound->depth);
    transforms::NormalFormOptions options;
    options.budget.operations = 200'000;
    const auto normal = transforms::normalize(nest.sdfg, options);
    SOUS_ASSERT(normal && sdfg::check(normal->sdfg));
    for (const auto& part : normal->units) SOUS_ASSERT(sdfg::check(part.nest) && part.structural_hash.size() == 32);
    (void)targets::find_target("cpp")->emit(normal->sdfg, {});
    replacements.push_back(frontends::replacement(nest, "sous_f", nest.sdfg, "a note"));
  }
  SOUS_ASSERT(frontends::c::splice_preprocessed(text, replacements).size() >= text.size());
  SOUS_ASSERT(frontends::c::splice_readable(text, "input.c", replacements).size() >= text.size());
}
