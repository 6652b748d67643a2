// A nest as a vector of numbers: near vectors, similar nests. The layout is one list; see features.cc for how each
// value is read off the nest. Counts and magnitudes go in as sign(x)*log2(|x|+1), facts as 0 or 1, all times a fixed
// weight: so a distance means the same in every database and on every machine, which weights fitted to the contents of
// one database would not.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sdfg/sdfg.h"

namespace sous::tuning_db {

enum class Scale : std::uint8_t { Log, Plain };

// Levels count loops from the innermost of the path that does most of the work: _0 is innermost.
#define SOUS_FEATURE_LEVELS(X, name, scale, weight) \
  X(name##_0, scale, weight) X(name##_1, scale, weight) X(name##_2, scale, weight) X(name##_3, scale, weight)

//   name, scale, weight
#define SOUS_FEATURES(X)                           \
  /* operations, counted once per statement */     \
  X(ops_add, Log, 1)                               \
  X(ops_mul, Log, 1)                               \
  X(ops_div, Log, 1)                               \
  X(ops_min_max, Log, 1)                           \
  X(ops_compare, Log, 1)                           \
  X(ops_root, Log, 1)                              \
  X(ops_exponential, Log, 1)                       \
  X(ops_trigonometric, Log, 1)                     \
  X(ops_rounding, Log, 1)                          \
  X(ops_bit, Log, 1)                               \
  X(ops_cast, Log, 1)                              \
  X(ops_fma, Log, 1)                               \
  X(constants, Log, 0.25)                          \
  /* shape of the nest */                          \
  X(loops, Log, 2)                                 \
  X(depth, Log, 2)                                 \
  X(statements, Log, 2)                            \
  X(top_nodes, Log, 1)                             \
  X(imperfect_loops, Log, 1)                       \
  X(triangular_loops, Log, 2)                      \
  X(data_dependent_bounds, Log, 2)                 \
  X(ifs, Log, 1)                                   \
  X(whiles, Log, 1)                                \
  X(arrays, Log, 1)                                \
  X(scalars, Log, 0.5)                             \
  X(transient_arrays, Log, 1)                      \
  X(highest_rank, Log, 1)                          \
  /* reads and writes by stride per level */       \
  X(reads, Log, 1)                                 \
  X(writes, Log, 1)                                \
  X(indirect, Log, 2)                              \
  SOUS_FEATURE_LEVELS(X, reads_invariant, Log, 1)  \
  SOUS_FEATURE_LEVELS(X, reads_unit, Log, 1)       \
  SOUS_FEATURE_LEVELS(X, reads_line, Log, 1)       \
  SOUS_FEATURE_LEVELS(X, reads_far, Log, 1)        \
  SOUS_FEATURE_LEVELS(X, writes_invariant, Log, 1) \
  SOUS_FEATURE_LEVELS(X, writes_unit, Log, 1)      \
  SOUS_FEATURE_LEVELS(X, writes_line, Log, 1)      \
  SOUS_FEATURE_LEVELS(X, writes_far, Log, 1)       \
  /* sizes */                                      \
  SOUS_FEATURE_LEVELS(X, trips, Log, 0.125)        \
  SOUS_FEATURE_LEVELS(X, working_set, Log, 0.125)  \
  SOUS_FEATURE_LEVELS(X, reuse, Log, 0.25)         \
  X(footprint, Log, 0.25)                          \
  X(work, Log, 0.125)                              \
  X(work_per_byte, Log, 0.25)                      \
  X(size_power, Plain, 0.25)                       \
  X(sizes_known, Plain, 0.5)                       \
  X(widest_element, Log, 1)                        \
  X(narrowest_element, Log, 0.5)                   \
  X(floating, Plain, 2)                            \
  /* what hints at dependences */                  \
  X(self_updates, Log, 2)                          \
  X(reductions_innermost, Log, 2)                  \
  X(reductions_outer, Log, 2)                      \
  SOUS_FEATURE_LEVELS(X, in_every_write, Plain, 1) \
  X(read_and_written, Log, 1)                      \
  X(shifted_in_place, Log, 2)                      \
  X(stencil_points, Log, 1)                        \
  X(order_declared_free, Plain, 1)

enum class Feature : std::uint16_t {
#define X(name, ...) name,
  SOUS_FEATURES(X)
#undef X
};

#define X(...) +1
inline constexpr std::size_t feature_count = 0 SOUS_FEATURES(X);
#undef X

using FeatureVector = std::vector<float>;

std::string_view feature_name(Feature feature);
// What the number of a vector of the static embedding stands for, before it was scaled.
double feature_value(const FeatureVector& vector, Feature feature);

// `sizes`: values of the nest's symbols; one without a value counts as 1024.
FeatureVector features(const sdfg::Sdfg& nest, const std::map<std::string, std::int64_t>& sizes);

// What puts nests into the space that neighbours are searched in.
class Embedding {
 public:
  virtual ~Embedding() = default;
  virtual std::string version() const = 0;  // vectors of different versions are never compared
  virtual double reach() const = 0;         // evidence of a nest speaks for another one up to this distance
  // Errors: what the embedding cannot take; only the nest's hash finds it then.
  virtual Result<FeatureVector> embed(const sdfg::Sdfg& nest,
                                      const std::map<std::string, std::int64_t>& sizes) const = 0;
};

// The features themselves.
std::shared_ptr<const Embedding> static_embedding();

// Which nests are compared at all: the type that the nest mostly computes in, and its depth.
struct NestKey {
  sdfg::ElementType type = sdfg::ElementType::f64;
  int depth = 0;
  bool operator==(const NestKey&) const = default;
};
NestKey nest_key(const sdfg::Sdfg& nest);
// Whether a unit of `lifted`, a nest before normal form, may have one of these keys: the normal form adds no loops
// around a statement, and no types.
bool may_have_key(const sdfg::Sdfg& lifted, const std::vector<NestKey>& keys);

}  // namespace sous::tuning_db
