// What each iteration of a loop computes anew in the same memory: which containers that is, and what stands in them
// when the loop is done. For steps that give every iteration memory of its own.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "transforms/normal/util.h"
#include "transforms/relocation.h"

namespace sous::transforms {

// Containers for which one iteration of the loop waits for another. Errors: isl.budget.
Result<std::set<std::string>> reused(const Nest& nest, const std::string& loop);

// Neither on a device nor of a size that only reading memory tells.
bool is_sized(const sdfg::Container& c);

struct LastValues {
  std::string container, own;  // where the loop's iterations have it now
  Moved moved;                 // to the place there of the last iteration
};
// The loops around each statement in the body that writes the container without reading the same element, with a copy
// of its last value in the place of the statement. `body` is that of the loop over `symbol` while it still writes the
// container. Nullopt: not the same elements are written in each iteration, or data say which.
std::optional<sdfg::Region> copies_of_last_values(const sdfg::Region& body, const std::string& symbol,
                                                  const LastValues& last, normal::Names& names);

}  // namespace sous::transforms
