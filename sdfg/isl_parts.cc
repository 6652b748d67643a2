#include "sdfg/isl_parts.h"

#include <cstdlib>

namespace sous::sdfg {
namespace {

using IslConstraint = IslHandle<isl_constraint, isl_constraint_copy, isl_constraint_free>;

std::optional<std::int64_t> fixed(const IslBasicMap& part, isl_dim_type side, std::size_t dimension) {
  isl_val* value = isl_basic_map_plain_get_val_if_fixed(part.get(), side, static_cast<unsigned>(dimension));
  std::optional<std::int64_t> result;
  if (value && isl_val_is_int(value) == isl_bool_true) result = isl_val_get_num_si(value);
  isl_val_free(value);
  return result;
}

std::int64_t coefficient(const IslConstraint& c, isl_dim_type type, std::size_t at) {
  isl_val* value = isl_constraint_get_coefficient_val(c.get(), type, static_cast<int>(at));
  const std::int64_t result = value ? isl_val_get_num_si(value) : 0;
  isl_val_free(value);
  return result;
}

// What an equality says of it that names nothing else: how most subscripts are apart.
std::optional<std::int64_t> said_difference(const IslBasicMap& part, std::size_t dimension) {
  struct Asked {
    std::size_t dimension;
    std::optional<std::int64_t> found;
  } asked{dimension, std::nullopt};
  const auto look = [](isl_constraint* constraint, void* to) {
    const IslConstraint c(constraint);
    auto& [at, found] = *static_cast<Asked*>(to);
    if (found || isl_constraint_is_equality(c.get()) != isl_bool_true) return isl_stat_ok;
    const std::int64_t first = coefficient(c, isl_dim_in, at), second = coefficient(c, isl_dim_out, at);
    if (std::abs(first) != 1 || second != -first) return isl_stat_ok;
    for (const isl_dim_type type : {isl_dim_param, isl_dim_in, isl_dim_out, isl_dim_div})
      for (int k = 0; k < isl_constraint_dim(c.get(), type); ++k) {
        const bool own = (type == isl_dim_in || type == isl_dim_out) && static_cast<std::size_t>(k) == at;
        if (!own && isl_constraint_involves_dims(c.get(), type, static_cast<unsigned>(k), 1) != isl_bool_false)
          return isl_stat_ok;
      }
    isl_val* constant = isl_constraint_get_constant_val(c.get());
    if (constant) found = first * isl_val_get_num_si(constant);  // second = first + first's sign * constant
    isl_val_free(constant);
    return isl_stat_ok;
  };
  isl_basic_map_foreach_constraint(part.get(), look, &asked);
  return asked.found;
}

// By one of its pairs, if no other is further or less far apart.
std::optional<std::int64_t> only_difference(const IslBasicMap& part, std::size_t dimension) {
  if (const auto said = said_difference(part, dimension)) return said;
  const auto one = fixed_difference(IslBasicMap(isl_basic_map_sample(part.copy())), dimension);
  if (!one) return std::nullopt;
  for (const int sign : {1, -1}) {  // sign * (second - first - one) >= 1
    isl_constraint* other = isl_constraint_alloc_inequality(isl_basic_map_get_local_space(part.get()));
    other = isl_constraint_set_coefficient_si(other, isl_dim_out, static_cast<int>(dimension), sign);
    other = isl_constraint_set_coefficient_si(other, isl_dim_in, static_cast<int>(dimension), -sign);
    other = isl_constraint_set_constant_val(other,
                                            isl_val_int_from_si(isl_basic_map_get_ctx(part.get()), -sign * *one - 1));
    if (!is_empty(IslBasicMap(isl_basic_map_add_constraint(part.copy(), other)))) return std::nullopt;
  }
  return one;
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

std::optional<std::int64_t> constant_difference(const std::vector<IslBasicMap>& parts, std::size_t dimension) {
  std::optional<std::int64_t> all;
  for (const IslBasicMap& part : parts) {
    const auto one = only_difference(part, dimension);
    if (!one || (all && all != one)) return std::nullopt;
    all = one;
  }
  return all;
}

}  // namespace sous::sdfg
