#include "sdfg/isl_parts.h"

namespace sous::sdfg {
namespace {

std::optional<std::int64_t> fixed(const IslBasicMap& part, isl_dim_type side, std::size_t dimension) {
  isl_val* value = isl_basic_map_plain_get_val_if_fixed(part.get(), side, static_cast<unsigned>(dimension));
  std::optional<std::int64_t> result;
  if (value && isl_val_is_int(value) == isl_bool_true) result = isl_val_get_num_si(value);
  isl_val_free(value);
  return result;
}

}  // namespace

std::vector<IslBasicMap> parts_of(const IslMap& map) {
  std::vector<IslBasicMap> parts;
  if (!map) return parts;
  const auto add = [](isl_basic_map* part, void* to) {
    static_cast<std::vector<IslBasicMap>*>(to)->emplace_back(part);
    return isl_stat_ok;
  };
  isl_map_foreach_basic_map(map.get(), add, &parts);
  return parts;
}

bool is_empty(const IslBasicMap& part) { return !part || isl_basic_map_is_empty(part.get()) == isl_bool_true; }

void add_part(IslMap& map, IslBasicMap part) {
  // A part that isl could not make is none, but the whole is not known then.
  if (part && is_empty(part)) return;
  map = IslMap(isl_map_union(map.release(), isl_map_from_basic_map(part.release())));
}

IslMap intersect(const IslMap& a, const IslMap& b) {
  if (!a || !b) return {};
  IslMap result(isl_map_empty(isl_map_get_space(a.get())));
  const auto others = parts_of(b);
  for (const IslBasicMap& part : parts_of(a))
    for (const IslBasicMap& other : others)
      add_part(result, IslBasicMap(isl_basic_map_intersect(part.copy(), other.copy())));
  return result;
}

IslMap increasing(const IslMap& pairs, std::size_t dimension) {
  const int at = static_cast<int>(dimension);
  return each_part(pairs,
                   [&](isl_basic_map* part) { return isl_basic_map_order_gt(part, isl_dim_out, at, isl_dim_in, at); });
}

IslMap decreasing(const IslMap& pairs, std::size_t dimension) {
  const int at = static_cast<int>(dimension);
  return each_part(pairs,
                   [&](isl_basic_map* part) { return isl_basic_map_order_gt(part, isl_dim_in, at, isl_dim_out, at); });
}

IslMap equal_in(const IslMap& pairs, std::size_t dimension) {
  const int at = static_cast<int>(dimension);
  return each_part(pairs,
                   [&](isl_basic_map* part) { return isl_basic_map_equate(part, isl_dim_in, at, isl_dim_out, at); });
}

std::optional<std::int64_t> fixed_difference(const IslBasicMap& part, std::size_t dimension) {
  const auto from = fixed(part, isl_dim_in, dimension);
  const auto to = from ? fixed(part, isl_dim_out, dimension) : std::nullopt;
  return to ? std::optional(*to - *from) : std::nullopt;
}

}  // namespace sous::sdfg
