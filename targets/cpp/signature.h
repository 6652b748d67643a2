// How a nest takes what it works on: the parameters of its kernel, and what they are called.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "targets/cpp/members.h"
#include "targets/cpp/names.h"
#include "targets/cpp/transients.h"
#include "targets/target.h"

namespace sous::targets {

class Signature {
 public:
  // `written`: what the Sdfg writes.
  Signature(const sdfg::Sdfg& sdfg, const EmitOptions& options, const std::vector<Transient>& transients,
            const std::set<std::string>& written, Names& names)
      : sdfg_(sdfg), options_(options), transients_(transients), written_(written), names_(names) {}

  bool by_value(const sdfg::Container& c) const;
  // "const double", of what an array's pointer points to.
  std::string type(const sdfg::Container& c) const;
  std::string parameter(const std::string& argument, bool with_restrict) const;
  // Of arguments that are members in arrays of structures, by what they are called.
  std::map<std::string, MemberPointer> members() const;
  // What the heap temporaries add.
  std::string heap_all(const Transient& t) const;
  std::string heap_size(const Transient& t) const;
  std::string heap_parameter(const Transient& t) const;
  // All of the kernel's, but for what a device adds. `used`: names that its body mentions. `starts_team`: threads reach
  // members of structures by one of them (SideBySide), which is then no restrict pointer beside the others.
  std::vector<std::string> kernel(const std::set<std::string>& used, bool starts_team) const;

 private:
  bool is_restrict(const sdfg::Container& c) const;

  const sdfg::Sdfg& sdfg_;
  const EmitOptions& options_;
  const std::vector<Transient>& transients_;
  const std::set<std::string>& written_;
  Names& names_;
};

}  // namespace sous::targets
