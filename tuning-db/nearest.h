// Nearest neighbours among the stored vectors, by Euclidean distance, with FAISS's exact flat index: below 100,000
// vectors a query is a scan of a few milliseconds, and nothing is approximated. The only file that sees FAISS is
// nearest.cc. The index is derived data: it is built from the store's vectors when first asked, and never saved, since
// reading vectors costs as much as reading an index would.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sdfg/result.h"
#include "tuning-db/features.h"
#include "tuning-db/store.h"

namespace sous::tuning_db {

// Euclid's; of two lengths, of what both have.
double distance(const FeatureVector& a, const FeatureVector& b);

// Entries are compared only with nests that they could serve at all.
struct NearestFilter {
  std::optional<NestKey> key;
  std::optional<Isa> isa;
  std::set<std::string_view> without = {};  // ids
};

struct Hit {
  std::string id;
  double distance = 0;
  bool operator==(const Hit&) const = default;
};

class Nearest {
 public:
  // Errors: nearest.dimension (vectors of different lengths), nearest.faiss.
  static Result<Nearest> build(std::vector<StoredVector> vectors);

  // At most k, nearest first; equal distances in order of id. Errors: nearest.dimension, nearest.faiss.
  Result<std::vector<Hit>> search(const FeatureVector& query, std::size_t k, const NearestFilter& filter = {}) const;
  // The slow twin, which defines what `search` finds.
  Result<std::vector<Hit>> search_slowly(const FeatureVector& query, int k, const NearestFilter& filter = {}) const;

  std::size_t size() const;
  const FeatureVector* vector(const std::string& id) const;  // null: there is none
  std::vector<NestKey> keys() const;                         // of the vectors, each once

  Nearest(Nearest&&) noexcept;
  Nearest& operator=(Nearest&&) noexcept;
  ~Nearest();

  struct Impl;

 private:
  explicit Nearest(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace sous::tuning_db
