#include "client/inputs.h"

#include <algorithm>

#include "sdfg/planted_fault.h"
#include "sdfg/unknown_extent.h"

namespace sous::client {
namespace {

using std::string;

// Products of two and sums of thousands of them stay inside 32 bits.
constexpr std::int64_t largest_integer = 100;
// Of arrays without a known extent: tables are seldom shorter, and more elements than the second are not drawn.
constexpr std::int64_t least_extent = 256, most_elements = std::int64_t{1} << 25;

std::int64_t largest(const std::map<string, std::int64_t>& sizes) {
  std::int64_t result = least_extent;
  for (const auto& [name, value] : sizes) result = std::max(result, value);
  return result;
}

std::int64_t byte_values(sdfg::ElementType type) {
  return sdfg::info(type).kind == sdfg::TypeKind::Unsigned ? 256 : 128;
}

}  // namespace

Result<void> takes(const sdfg::Sdfg& nest, Inputs inputs) {
  bool bounds = false, more = false, gathers = false;
  sdfg::for_each_memlet(nest.root, [&](const sdfg::Memlet& memlet, bool) {
    for (const sdfg::Expr& e : memlet.subset) gathers = gathers || !e.reads().empty();
  });
  sdfg::visit(nest.root, [&](const sdfg::Node& node) {
    match(
        node.value, [](const sdfg::State&) {},
        [&](const sdfg::Loop& loop) { bounds = bounds || !loop.begin.reads().empty() || !loop.end.reads().empty(); },
        [&](const sdfg::If& branch) { more = more || !branch.condition.inputs.empty(); },
        [&](const sdfg::While&) { more = true; });
  });
  if (planted(Fault::data_taken_as_tame)) return {};
  if (bounds) return fail("measure.gather", "it reads bounds of loops from memory");
  if (gathers && inputs == Inputs::Strangers)
    return fail("measure.gather", "its subscripts depend on data: nobody knows whether they lie inside of its arrays");
  if ((more || gathers) && inputs == Inputs::Tame)
    return fail("measure.gather", "what it executes depends on data: subscripts or conditions");
  return {};
}

std::int64_t drawn_extent(const std::map<string, std::int64_t>& sizes) {
  const std::int64_t side = std::min<std::int64_t>(largest(sizes) + 1, std::int64_t{1} << 20);
  return std::min(most_elements, 3 * side * side);
}

std::map<string, std::int64_t> subscript_limits(const sdfg::Sdfg& nest, const std::map<string, std::int64_t>& sizes) {
  std::map<string, std::int64_t> result;
  sdfg::for_each_memlet(nest.root, [&](const sdfg::Memlet& memlet, bool) {
    const auto* container = nest.find(memlet.container);
    for (std::size_t d = 0; container != nullptr && d < std::min(memlet.subset.size(), container->shape.size()); ++d) {
      const auto extent = container->shape[d].evaluate(sizes);
      for (const string& read : memlet.subset[d].reads()) {
        const auto* index = nest.find(read);
        if (index == nullptr || !extent) continue;
        std::int64_t below = std::max<std::int64_t>(1, *extent);
        if (below == sdfg::unknown_extent) below = largest(sizes);
        if (sdfg::info(index->type).bytes == 1) below = std::min(below, byte_values(index->type));
        const auto [place, added] = result.emplace(read, below);
        if (!added) place->second = std::min(place->second, below);
      }
    }
  });
  return result;
}

string drawn_element(sdfg::ElementType type, Inputs inputs, std::int64_t below) {
  const string cpp = "(" + string(sdfg::info(type).cpp) + ")";
  if (sdfg::is_float(type)) return cpp + "(0.5 + tame())";
  if (below > 0) return cpp + "(tame() * " + std::to_string(below) + ")";
  if (inputs == Inputs::Tame) return cpp + "(1 + (int)(tame() * 2))";
  if (sdfg::info(type).bytes > 1) return cpp + "(1 + (int)(tame() * " + std::to_string(largest_integer) + "))";
  return cpp + "(tame() * " + std::to_string(byte_values(type)) + ")";
}

}  // namespace sous::client
