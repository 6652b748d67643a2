#include "sdfg/isl_parts.h"

namespace sous::sdfg {
namespace {

std::optional<std::int64_t> whole_number(isl_val* taken) {
  std::optional<std::int64_t> result;
  if (taken && isl_val_is_int(taken) == isl_bool_true) result = isl_val_get_num_si(taken);
  isl_val_free(taken);
  return result;
}

std::optional<std::int64_t> fixed(const IslBasicMap& part, isl_dim_type side, std::size_t dimension) {
  return whole_number(isl_basic_map_plain_get_val_if_fixed(part.get(), side, static_cast<unsigned>(dimension)));
}

// What an equality says of the second less the first, as it stands.
std::optional<std::int64_t> said_difference(const IslBasicMap& part, std::size_t dimension) {
  const auto at = static_cast<unsigned>(dimension);
  isl_constraint* equality = nullptr;
  if (isl_basic_map_has_defining_equality(part.get(), isl_dim_out, static_cast<int>(at), &equality) != isl_bool_true)
    return std::nullopt;
  const auto others = [&](isl_dim_type side, unsigned first, unsigned end) {
    return end > first && isl_constraint_involves_dims(equality, side, first, end - first) != isl_bool_false;
  };
  const auto count = [&](isl_dim_type side) { return static_cast<unsigned>(isl_basic_map_dim(part.get(), side)); };
  std::optional<std::int64_t> result;
  if (!others(isl_dim_param, 0, count(isl_dim_param)) && !others(isl_dim_in, 0, at) &&
      !others(isl_dim_in, at + 1, count(isl_dim_in)) && !others(isl_dim_out, 0, at)) {
    const auto coefficient = [&](isl_dim_type side) {
      return whole_number(isl_constraint_get_coefficient_val(equality, side, static_cast<int>(at)));
    };
    const auto first = coefficient(isl_dim_in), second = coefficient(isl_dim_out);
    const auto constant = whole_number(isl_constraint_get_constant_val(equality));
    if (first && second && constant && *first == -*second && *constant % *first == 0) result = *constant / *first;
  }
  isl_constraint_free(equality);
  return result;
}

// Whether in some pair the second less the first is at least `least` (at most `most`: both negated).
bool differ_by(const IslBasicMap& part, std::size_t dimension, std::int64_t least, int sign) {
  isl_constraint* more = isl_constraint_alloc_inequality(isl_basic_map_get_local_space(part.get()));
  const int at = static_cast<int>(dimension);
  more = isl_constraint_set_coefficient_si(more, isl_dim_out, at, sign);
  more = isl_constraint_set_coefficient_si(more, isl_dim_in, at, -sign);
  more = isl_constraint_set_constant_val(
      more, isl_val_int_from_si(isl_basic_map_get_ctx(part.get()), static_cast<long>(-sign * least)));
  return !is_empty(IslBasicMap(isl_basic_map_add_constraint(part.copy(), more)));
}

// Some pair's, if no other has another. Elimination of all else would tell as well, and takes ten times as long.
std::optional<std::int64_t> only_difference(const IslBasicMap& part, std::size_t dimension) {
  if (const auto said = said_difference(part, dimension)) return said;
  const IslBasicMap pair(isl_basic_map_sample(part.copy()));
  const auto one = pair ? fixed_difference(pair, dimension) : std::nullopt;
  if (!one || differ_by(part, dimension, *one + 1, 1) || differ_by(part, dimension, *one - 1, -1)) return std::nullopt;
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
  // A union with nothing is looked at by isl as any other: the first part is what there is.
  if (part && map && isl_map_n_basic_map(map.get()) == 0) {
    map = IslMap(isl_map_from_basic_map(part.release()));
    return;
  }
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

std::optional<std::int64_t> constant_difference(const IslMap& pairs, std::size_t dimension) {
  std::optional<std::int64_t> constant;
  for (const IslBasicMap& part : parts_of(pairs)) {
    if (is_empty(part)) continue;
    const auto one = only_difference(part, dimension);
    if (!one || (constant && *constant != *one)) return std::nullopt;
    constant = one;
  }
  return constant;
}

}  // namespace sous::sdfg
