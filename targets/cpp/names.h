// Names of the Sdfg as C++ identifiers: kept where they are safe, otherwise with a suffix; never two alike.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace sous::targets {

class Names {
 public:
  // The identifier of a symbol or container; the same for the same name.
  const std::string& of(const std::string& name);
  // An identifier that nothing else has, like `hint`.
  std::string fresh(std::string_view hint);
  // Nothing else gets this name.
  void reserve(const std::string& name) { used_.insert(name); }

 private:
  std::map<std::string, std::string> given_;
  std::set<std::string> used_;
};

}  // namespace sous::targets
