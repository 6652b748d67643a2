#include "targets/cpp/signature.h"

#include <algorithm>

#include "targets/cpp/caller.h"

namespace sous::targets {

using sdfg::Container;

bool Signature::by_value(const Container& c) const { return passed_by_value(c, written_); }

std::string Signature::type(const Container& c) const {
  return (written_.contains(c.name) ? "" : "const ") + std::string(sdfg::info(c.type).cpp);
}

std::map<std::string, MemberPointer> Signature::members() const {
  std::map<std::string, MemberPointer> result;
  for (const auto& [argument, place] : options_.members)
    if (const Container* c = sdfg_.find(argument); c != nullptr && !by_value(*c))
      result[names_.of(argument)] = {type(*c) + "*", place.first, place.second};
  return result;
}

// No other argument's elements are written through, or read while these are written.
bool Signature::is_restrict(const Container& c) const {
  if (!options_.restrict_arguments) return false;
  for (const Container& other : sdfg_.containers) {
    if (other.transient || other.name == c.name || by_value(other)) continue;
    if (c.alias_class == 0 || c.alias_class != other.alias_class) continue;
    if (!written_.contains(c.name) && !written_.contains(other.name)) continue;
    const bool checked = std::ranges::any_of(sdfg_.disjoint, [&](const auto& pair) {
      return pair == std::pair(c.name, other.name) || pair == std::pair(other.name, c.name);
    });
    if (!checked) return false;
  }
  return true;
}

std::string Signature::parameter(const std::string& argument, bool with_restrict) const {
  const Container* c = sdfg_.find(argument);
  const std::string& name = names_.of(argument);
  if (c == nullptr) return "int64_t " + name;
  if (by_value(*c)) return std::string(sdfg::info(c->type).cpp) + " " + name;
  return type(*c) + "* " + (with_restrict && is_restrict(*c) ? "__restrict " : "") + name;
}

std::string Signature::heap_all(const Transient& t) const {
  return names_.of(t.per_thread ? t.container + ".all" : t.container);
}
std::string Signature::heap_size(const Transient& t) const { return names_.of(t.container + ".size"); }

std::string Signature::heap_parameter(const Transient& t) const {
  return std::string(sdfg::info(sdfg_.find(t.container)->type).cpp) + "* __restrict " + heap_all(t);
}

std::vector<std::string> Signature::kernel(const std::set<std::string>& used, bool starts_team) const {
  std::vector<std::string> result;
  const auto members = this->members();
  const auto reached_by_another = [&](const std::string& name) {
    const auto own = members.find(name);
    return starts_team && own != members.end() &&
           std::ranges::count(members, own->second.record, [](const auto& member) { return member.second.record; }) > 1;
  };
  const auto add = [&](const std::string& name, const std::string& text) {
    // Members of structures may be reached by others of theirs.
    const bool is_named = used.contains(name) && !members.contains(name);
    result.push_back((is_named ? "" : "[[maybe_unused]] ") + text);
  };
  for (const std::string& argument : sdfg_.arguments)
    add(names_.of(argument), parameter(argument, !reached_by_another(names_.of(argument))));
  for (const Transient& t : transients_) {
    if (!t.heap) continue;
    add(heap_all(t), heap_parameter(t));
    if (t.per_thread) add(heap_size(t), "int64_t " + heap_size(t));
  }
  return result;
}

}  // namespace sous::targets
