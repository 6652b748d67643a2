// Properties of random cases: judged in batches, reported with the command that repeats them, shrunk, kept.
//
// SOUS_SEED (default 1) is the seed of the first case, SOUS_CASES (default 1000) how many there are: case k has the
// seed SOUS_SEED + k, so that SOUS_SEED=<seed> SOUS_CASES=1 repeats one. SOUS_SHRINK=0 keeps no failures, for whom the
// first is enough (tools/faults.py).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sdfg/sdfg.h"
#include "transforms/recipe.h"

namespace sous::tests {

struct Case {
  sdfg::Sdfg sdfg;
  transforms::Recipe recipe;
  double tolerance = 0;  // of floats, relative: not 0 where the recipe may reassociate
};

// Why a case fails. `invalid`: the interpreter refuses the case; `refused`: its recipe is refused, although it was
// sampled so that it applies. Both are faults of the generator, and no failures while shrinking; of a kept case, which
// was shrunk, a refusal is none either.
struct Verdict {
  std::string why;
  bool invalid = false, refused = false;
};
// For each case: nullopt if the property holds. In batches, because compiling many functions at once is cheap.
using Judge = std::function<std::vector<std::optional<Verdict>>(const std::vector<Case>&)>;

struct Property {
  std::string name;  // of the gtest test in suite Property
  std::function<Case(std::uint64_t seed)> make;
  Judge judge;
  std::size_t batch = 100;
  int shrink_rounds = 40;
  // At least so many percent of the cases have a recipe with this step, or, without a name, with any: where a sampler
  // gets nothing applied, a property says nothing.
  struct {
    std::string_view step;
    std::size_t percent = 0;
  } applied = {};
};

// Judges `percent` of the cases; each failure fails the running test, and so do too few recipes. Ends after three.
void hold(const Property& property, std::size_t percent = 100);

// The smallest case found that still fails: nodes, loops, steps and parts of expressions are taken away as long as it
// does.
Case shrink(const Case& failing, const Judge& judge, int rounds);

// A kept case: "# property: …", "# why: …", "# recipe: …", then the .sdfg text.
std::string to_file(const std::string& property, const Case& c, const std::string& why);
Result<Case> from_file(const std::string& text);

}  // namespace sous::tests
