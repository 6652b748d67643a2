// A map of the nests of a database: the space that neighbours are searched in, seen from where the nests differ most
// (principal components). Of a view it is always the same, and it costs the same however large the database is: beyond
// `most_mapped` nests those with the lowest hashes stand for all, and hashes know nothing of what a nest does.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "tuning-db/families.h"
#include "tuning-db/view.h"

namespace sous::tuning_db {

inline constexpr std::size_t most_mapped = 4000;

struct Atlas {
  struct Place {
    std::string_view hash;  // of the nest
    double x = 0, y = 0;    // about -1 to 1
    Family family = Family::pointwise;
    NestKey key;
  };
  // The directions that the map shows.
  struct Axis {
    double share = 0;                        // of the variance
    std::vector<std::string_view> features;  // that make most of it, at most three
  };
  std::shared_ptr<const View> view;  // of which this is the map, and which it keeps
  std::vector<Place> places;         // in order of hash; of those nests that have a vector
  std::array<Axis, 2> axes;
};

// `view`: with `recipes()`. What one party alone vouches for has its place, and no say in where others stand.
std::shared_ptr<const Atlas> atlas_of(std::shared_ptr<const View> view);

// The last one that was asked for. Threads may share it.
class Atlases {
 public:
  std::shared_ptr<const Atlas> of(const std::shared_ptr<const View>& view);

 private:
  std::mutex mutex_;
  std::shared_ptr<const Atlas> last_;
};

}  // namespace sous::tuning_db
