// Kinds of nests, for people who look at many: read off the numbers of a nest (tuning-db/features.h), never off names.
#pragma once

#include <span>
#include <string_view>

#include "tuning-db/features.h"

namespace sous::tuning_db {

// One declaration: the condition of the first row that holds says the family. `has(f)`: the feature is not zero.
//   name, title, what its nests do, condition
#define SOUS_FAMILIES(X)                                                                                        \
  X(indirect, "Indirect", "subscripts or bounds are read from arrays: sparse matrices, look-ups, histograms",   \
    has(indirect) || has(data_dependent_bounds))                                                                \
  X(sequence, "Sequences", "several nests in a row, which hand arrays to each other", value(top_nodes) > 1)     \
  X(factorization, "Factorizations", "sums over elements of the array that they change: solvers, Cholesky, LU", \
    has(shifted_in_place) && sums)                                                                              \
  X(sweep, "Sweeps", "elements from others of the array that is written: recurrences, time steps",              \
    has(shifted_in_place))                                                                                      \
  X(product, "Products", "sums of products in three loops or more: matrices times matrices, convolutions",      \
    sums&& multiplies&& value(depth) > 2)                                                                       \
  X(vector_product, "Matrix-vector", "sums of products in two loops or one", sums&& multiplies)                 \
  X(sum, "Sums", "sums, products or extrema of what lies along a loop", sums)                                   \
  X(stencil, "Stencils", "each element from several of another array around it", has(stencil_points))           \
  X(pointwise, "Element by element", "each element from those at its place", true)

enum class Family : std::uint8_t {
#define X(name, ...) name,
  SOUS_FAMILIES(X)
#undef X
};

struct FamilyInfo {
  std::string_view name, title, summary;
};
// In the order of the declaration.
std::span<const FamilyInfo> families();
const FamilyInfo& info(Family family);

// `vector`: of the static embedding.
Family family_of(const FeatureVector& vector);

}  // namespace sous::tuning_db
