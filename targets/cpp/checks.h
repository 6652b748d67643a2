// What is asked before a nest runs: conditions over the arguments of its function, as lines of C++ that return where
// one does not hold.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "targets/cpp/expressions.h"
#include "targets/cpp/extents.h"
#include "targets/target.h"

namespace sous::targets {

class Inspection;

class Checks {
 public:
  // `written`: what the Sdfg writes. `on_device`: a device has a copy of all that lies between an array's first and
  // last element.
  Checks(const sdfg::Sdfg& sdfg, const EmitOptions& options, const Expressions& expressions,
         const std::set<std::string>& written, bool on_device)
      : sdfg_(sdfg), options_(options), expressions_(expressions), written_(written), on_device_(on_device) {}

  // First, for calls that are too small are to cost nothing. Returns the seconds that the call gains; empty: not known.
  std::string guards();
  bool guards_look_at_data() const { return looks_at_data_; }
  void assumptions(const sdfg::Sdfg& of);
  void disjoint();
  // The same where data say how far accesses go, and what containers are said to hold: last, for it takes as long as
  // reading them. `threads`: that look at them, 0: as many as there are.
  void by_data(int threads);
  // Ahead of the team: `otherwise`, where the call gains less by its threads than what they take to touch its memory
  // first. `gain`: what guards() returned; then a variable.
  void first_touch(std::string& gain, const std::string& otherwise);
  // The variable with the bytes that the argument covers; declared by the first check that uses it.
  std::string footprint(const sdfg::Container& c);
  void add(const std::string& line) { lines_.push_back(line); }
  // What is done for shapes that the function is not for.
  std::string other_shapes() const;

  const std::vector<std::string>& lines() const { return lines_; }
  std::vector<std::string>& lines() { return lines_; }
  const std::vector<std::vector<sdfg::Expr>>& needs() const { return needs_; }  // Function::needs

 private:
  std::string all_guards();
  std::string some_guards(const Partly& partly);
  // The guard's shape, and its work: a variable, if it is `named` and not known now.
  Shape shape_of(const Guard& guard);
  std::string work_of(const Shape& shape, bool named);
  void cache_sets();
  void disjoint_by_data(Inspection& inspection);
  void keep_apart(const sdfg::Container& a, const sdfg::Container& b, const std::string& otherwise);
  // Declares it, with the dimensions from this one on.
  std::string new_footprint(const sdfg::Container& c, std::size_t from);

  const sdfg::Sdfg& sdfg_;
  const EmitOptions& options_;
  const Expressions& expressions_;
  const std::set<std::string>& written_;
  const bool on_device_;
  bool looks_at_data_ = false;
  std::vector<std::string> lines_;
  std::vector<std::vector<sdfg::Expr>> needs_;
  std::map<std::string, std::string> footprints_;
};

// Whether data have to be looked at: they say how far containers are accessed that must not overlap others, or have to
// be what is said of them. And why they cannot be, empty if they can.
bool looks_at_data(const sdfg::Sdfg& sdfg);
std::string out_of_reach(const sdfg::Sdfg& sdfg, const EmitOptions& options, bool on_device);

}  // namespace sous::targets
