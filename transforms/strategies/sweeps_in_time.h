// Sweeps over grids on a GPU: loops in time around them, on tiles (step overlap), and what the iterations of one share.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "transforms/strategies/nest_facts.h"

namespace sous::transforms {

struct InTime {
  std::string steps;  // none: there is no such loop
  std::map<std::string, std::vector<std::string>> open;
};

// The first loop on the host around sweeps over grids: one launch for some of its iterations, in which grids cross
// the memory once for all of these. `begins_kernel`: of the loops that are not on the host.
InTime in_time(const NestFacts& nest,
               const std::function<bool(const NestFacts& nest, const std::string& loop)>& begins_kernel);

// Whether iterations of the loop read the same elements: two reads of an array in one statement, apart along it.
bool share_reads(const NestFacts& nest, const std::string& loop);

// Of a perfect band of three parallel loops, as steps ahead of `offload` and behind it: a thread takes several
// iterations of the first one, which read what others of them read, too. Nullopt: they share nothing.
struct Strips {
  std::string ahead, behind;
  std::vector<std::string> loops;
};
std::optional<Strips> strips(const NestFacts& nest, const std::vector<std::string>& band);

}  // namespace sous::transforms
