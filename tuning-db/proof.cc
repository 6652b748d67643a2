#include "tuning-db/proof.h"

#include <algorithm>
#include <string>

#include "transforms/apply.h"
#include "transforms/normal_form.h"
#include "tuning-db/features.h"

namespace sous::tuning_db {
namespace {

// Whether the build had leave to reassociate, entries do not say: flags do, and so may pragmas. What is legal with
// leave is refused by builds without it.
constexpr bool leaves[] = {false, true};

// A forged nest can make the normal form take long: 2.4 s with 12 loops in each other, 11 with 24. Of the seeds none
// has more than half as many.
constexpr int most_depth = 12, most_nodes = 128;

Result<void> is_normal_form(const Entry& entry) {
  for (const bool reassociate : leaves) {
    TRY(const auto form, transforms::normalize(entry.nest, {.reassociate = reassociate, .budget = {}}));
    const bool found = std::ranges::any_of(form.units, [&](const auto& unit) { return unit.nest == entry.nest; });
    if (found) return {};
  }
  return fail("entry.normal-form", "the nest is not in normal form");
}

}  // namespace

Result<void> is_small(const sdfg::Sdfg& nest) {
  int nodes = 0;
  sdfg::visit(nest.root, [&](const sdfg::Node&) { ++nodes; });
  const int depth = nest_key(nest).depth;
  if (depth <= most_depth && nodes <= most_nodes) return {};
  return fail("entry.size", "the nest is " + std::to_string(depth) + " loops deep and has " + std::to_string(nodes) +
                                " nodes; at most " + std::to_string(most_depth) + " and " + std::to_string(most_nodes) +
                                " are taken");
}

Result<void> prove(const Entry& entry) {
  if (!(entry.baseline_seconds > 0) || !(entry.tuned_seconds > 0))
    return fail("entry.field", "what was measured took no time");
  TRY_VOID(is_small(entry.nest));
  TRY_VOID(is_normal_form(entry));
  transforms::ApplyOptions options;
  options.context.hardware = size_values(entry.hardware);
  Result<void> result;
  for (const bool reassociate : leaves) {
    options.context.reassociate = reassociate;
    const auto applied = transforms::apply(entry.nest, entry.recipe, options);
    if (applied) return {};
    result = std::unexpected(applied.error());
  }
  return result;
}

}  // namespace sous::tuning_db
