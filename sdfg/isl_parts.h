// Relations part by part: isl keeps one as a union of conjunctions. Internal to sdfg/.
//
// isl asks of two relations that are to be intersected whether they are the same, and for that looks for constraints
// that follow from others, with a linear program for each; so do its functions that add an order or an equality to a
// relation. That was a quarter of what it took to prove a recipe. What is done here with each conjunction asks nothing
// but whether something is left of it.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "sdfg/isl_handle.h"

namespace sous::sdfg {

using IslBasicMap = IslHandle<isl_basic_map, isl_basic_map_copy, isl_basic_map_free>;

std::vector<IslBasicMap> parts_of(const IslMap& map);
// Nothing is in an empty handle, which is what an exhausted budget leaves.
bool is_empty(const IslBasicMap& part);
void add_part(IslMap& map, IslBasicMap part);

// What `change` (which takes and gives an isl_basic_map) makes of each part.
template <class Change>
IslMap each_part(const IslMap& map, const Change& change) {
  IslMap result(map ? isl_map_empty(isl_map_get_space(map.get())) : nullptr);
  for (IslBasicMap& part : parts_of(map)) add_part(result, IslBasicMap(change(part.release())));
  return result;
}

IslMap intersect(const IslMap& a, const IslMap& b);
// The pairs of which the first has the smaller (greater) value, or both the same, in a dimension that both sides have.
IslMap increasing(const IslMap& pairs, std::size_t dimension);
IslMap decreasing(const IslMap& pairs, std::size_t dimension);
IslMap equal_in(const IslMap& pairs, std::size_t dimension);
// Whether both sides have numbers there, as at places in sequences: second less first.
std::optional<std::int64_t> fixed_difference(const IslBasicMap& part, std::size_t dimension);
// The same of all pairs, where it is one number, whatever both sides are. Only a budget that was kept makes it true.
std::optional<std::int64_t> constant_difference(const IslMap& pairs, std::size_t dimension);

}  // namespace sous::sdfg
