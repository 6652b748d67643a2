#include "targets/target.h"

#include <algorithm>
#include <array>
#include <string>

namespace sous::targets {
namespace {

constexpr std::array all = {
#define X(name) &name##_target,
#include "sdfg/targets.list"
#undef X
};

// What the target's code cannot do at all.
Result<void> expressible(const Target& target, const sdfg::Sdfg& sdfg) {
  const std::string name(target.name);
  for (const sdfg::Container& container : sdfg.containers) {
    if (std::ranges::find(target.storages, container.storage) == target.storages.end())
      return fail("target.storage", "the target " + name + " has no memory of the kind that it lies in",
                  container.name);
  }
  std::string refused;
  sdfg::visit(sdfg.root, [&](const sdfg::Node& node) {
    const auto* loop = std::get_if<sdfg::Loop>(&node.value);
    if (loop == nullptr || target.follows.contains(loop->schedule) || target.in_order.contains(loop->schedule)) return;
    if (refused.empty()) refused = loop->symbol;
  });
  if (!refused.empty()) return fail("target.schedule", "the target " + name + " has no loops of this kind", refused);
  return {};
}

}  // namespace

Result<Function> Target::emit(const sdfg::Sdfg& sdfg, const EmitOptions& options) const {
  TRY_VOID(expressible(*this, sdfg));
  return print(sdfg, options);
}

std::span<const Target* const> targets() { return all; }

const Target* find_target(std::string_view name) {
  const auto found = std::ranges::find(all, name, &Target::name);
  return found == all.end() ? nullptr : *found;
}

const Target* common_target(const Target& a, const Target& b) {
  const auto does_all_of = [](const Target& one, const Target& other) {
    const Target* at = &one;
    while (at != nullptr && at != &other) at = at->extends;
    return at != nullptr;
  };
  return does_all_of(a, b) ? &a : does_all_of(b, a) ? &b : nullptr;
}

std::vector<File> files(const std::vector<Function>& functions, std::string_view comment) {
  std::vector<File> out;
  for (const Function& function : functions) {
    const Language* language = function.target->language;
    if (std::ranges::find(out, language, &File::language) == out.end()) out.push_back({language, "", {}});
  }
  for (File& file : out) {
    std::vector<Function> own;
    for (const Function& function : functions) {
      if (function.target->language != file.language) continue;
      own.push_back(function);
      const Runtime* runtime = function.target->runtime;
      if (runtime != nullptr && std::ranges::find(file.runtimes, runtime) == file.runtimes.end())
        file.runtimes.push_back(runtime);
    }
    file.text = file.language->file(own, comment);
  }
  return out;
}

}  // namespace sous::targets
