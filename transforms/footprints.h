// What a region touches of its containers, as sets of elements that can be reasoned about.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sdfg/points.h"
#include "sdfg/sdfg.h"

namespace sous::transforms {

// What a region touches of a container. `certain`: in each iteration of the loops around and wherever the conditions
// hold; otherwise perhaps not.
struct Footprint {
  struct Access {
    std::vector<sdfg::Expr> subscript;
    sdfg::Points elements;
    bool write = false, certain = true;
  };
  std::vector<Access> accesses;
  bool known = true;
  bool divisible = true;  // each access by itself: in assignments, or conditions

  std::vector<sdfg::Points> of(bool write) const {
    std::vector<sdfg::Points> result;
    for (const Access& a : accesses)
      if (a.write == write) result.push_back(a.elements);
    return result;
  }
  std::vector<sdfg::Points> all() const {
    std::vector<sdfg::Points> result;
    for (const Access& a : accesses) result.push_back(a.elements);
    return result;
  }
};

// By container.
std::map<std::string, Footprint> footprints(const sdfg::Region& region);

// The accesses in groups such that what one group touches no other one does; or, of what is only read, perhaps does.
Result<std::vector<Footprint>> apart(const Footprint& footprint, bool reads_too,
                                     const std::vector<sdfg::ScalarExpr>& around);

}  // namespace sous::transforms
