// Between which elements accesses lie that depend on data, as lines of C++ ahead of the nest (sdfg/inspection.h,
// targets/runtime/inspection.h).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sdfg/inspection.h"
#include "targets/cpp/expressions.h"

namespace sous::targets {

class Inspection {
 public:
  // `threads`: that look at memory together, 0: as many as there are; `lines`: get the code.
  Inspection(const Expressions& expressions, int threads, std::vector<std::string>& lines)
      : expressions_(expressions), threads_(std::to_string(threads)), lines_(lines) {}

  // The name of a sous::Hull with all values of the subscripts.
  std::string hull(const std::vector<sdfg::Reach>& reaches);

 private:
  std::string hull(const sdfg::Visits& visits);
  std::string values(const std::string& container, const std::vector<const sdfg::Visits*>& places);
  std::string fresh(const std::string& hint) const { return expressions_.names().fresh(hint); }

  const Expressions& expressions_;
  const std::string threads_;
  std::vector<std::string>& lines_;
  std::map<std::string, std::string> visited_, read_;  // names: of what visits meet, of elements' values
};

}  // namespace sous::targets
