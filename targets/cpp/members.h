// Pointers to the members of an array of structures. Each by itself, compilers do not know that what they point to lies
// side by side, and gather from each in turn what one load would bring.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace sous::targets {

struct MemberPointer {
  std::string type;        // "const float*"
  std::string record;      // the array's name
  std::int64_t bytes = 0;  // from where that begins
};

// As arguments of one call: those behind the first one of an array as distances from it.
class SideBySide {
 public:
  explicit SideBySide(const std::map<std::string, MemberPointer>& members) : members_(members) {}

  std::string operator()(const std::string& name) {
    const auto member = members_.find(name);
    if (member == members_.end()) return name;
    const auto& [type, record, bytes] = member->second;
    const auto first = first_.try_emplace(record, name).first;
    if (first->second == name) return name;
    const std::int64_t distance = bytes - members_.at(first->second).bytes;
    return "(" + type + ")((const char*)" + first->second + (distance < 0 ? " - " : " + ") +
           std::to_string(distance < 0 ? -distance : distance) + ")";
  }

 private:
  const std::map<std::string, MemberPointer>& members_;
  std::map<std::string, std::string> first_ = {};  // name of the pointer, by the array's
};

}  // namespace sous::targets
