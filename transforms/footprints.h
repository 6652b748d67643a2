// What a region touches of its containers, as sets of elements that can be reasoned about.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "sdfg/points.h"

namespace sous::transforms {

// What is around a place: loops whose symbols are constants there, or run, and what holds on the way.
struct Around {
  std::vector<sdfg::ScheduleLoop> loops;     // outermost first, without children
  std::vector<sdfg::ScalarExpr> guards;      // the nest's assumptions, and what has to hold on the way
  std::vector<sdfg::ScalarExpr> conditions;  // those, and the bounds of the loops
  bool known = true;                         // no bound and no guard is missing among these, for it is not affine

  void enter(const sdfg::ScheduleLoop& loop);
  void where(const sdfg::ScalarExpr& condition);
  // Whether none of these loops is one of lanes, of copies or of a GPU, and none in the region is of a GPU.
  bool runs_in_threads(const sdfg::Region& inside) const;
  // The loops' iterations, as quantified variables.
  sdfg::Points iterations() const;
};
// Calls f on each node below, parents first, with what is around it; not on those in a While.
void for_each_place(const sdfg::Region& region, const std::function<void(const sdfg::Node&, const Around&)>& f);

// What a region touches of a container. `certain`: in each iteration of the loops around and wherever the conditions
// hold; otherwise perhaps not.
struct Footprint {
  struct Access {
    std::vector<sdfg::Expr> subscript;
    sdfg::Points elements;
    bool write = false, certain = true;
  };
  std::vector<Access> accesses;
  bool reads_known = true, writes_known = true;
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

// What the dimensions of a container are called in proofs: no identifiers, so that they meet no symbol.
std::vector<std::string> dimensions(std::size_t rank);
// The points with these subscripts, where `around` holds of the loops' variables.
sdfg::Points at(const sdfg::Points& around, const std::vector<sdfg::Expr>& subscript);

// By container.
std::map<std::string, Footprint> footprints(const sdfg::Region& region);

// Whether the region writes none of these elements of the container, in whatever iterations. Writes under conditions
// that depend on data count as made; false also where their elements are not known. Writes through other containers are
// not looked at. `around` holds of both. Errors: isl.budget.
Result<bool> is_unwritten(const std::string& container, const sdfg::Points& elements, const sdfg::Region& region,
                          const std::vector<sdfg::ScalarExpr>& around);

// The accesses in groups such that what one group touches no other one does; or, of what is only read, perhaps does.
Result<std::vector<Footprint>> apart(const Footprint& footprint, bool reads_too,
                                     const std::vector<sdfg::ScalarExpr>& around);

}  // namespace sous::transforms
