#include "tuning-db/families.h"

#include <array>

namespace sous::tuning_db {
namespace {

constexpr auto table = std::to_array<FamilyInfo>({
#define X(name, title, summary, ...) {#name, title, summary},
    SOUS_FAMILIES(X)
#undef X
});

}  // namespace

std::span<const FamilyInfo> families() { return table; }

const FamilyInfo& info(Family family) { return table[static_cast<std::size_t>(family)]; }

Family family_of(const FeatureVector& vector) {
  using enum Feature;
  // Counts, which come back from logarithms a little off.
  const auto value = [&](Feature f) { return feature_value(vector, f) - 0.5; };
  const auto has = [&](Feature f) { return value(f) > 0; };
  const bool sums = has(reductions_innermost) || has(reductions_outer), multiplies = has(ops_mul) || has(ops_fma);
#define X(name, title, summary, ...) \
  if (__VA_ARGS__) return Family::name;
  SOUS_FAMILIES(X)
#undef X
}

}  // namespace sous::tuning_db
