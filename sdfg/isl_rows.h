// Conditions as rows of matrices: what isl_read.h makes of a text. Internal to sdfg/.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace sous::sdfg {

// constant + the sum of its coefficients times the columns: parameters, dimensions, and then the unknowns that an
// `exists`, a quotient or a remainder brings.
struct Sum {
  std::int64_t constant = 0;
  std::vector<std::int64_t> of;  // columns behind its end have none

  bool is_constant() const {
    return std::ranges::all_of(of, [](auto c) { return c == 0; });
  }
  bool operator==(const Sum&) const = default;
};

// a + factor * b; nullopt: not in 64 bits.
inline std::optional<Sum> plus(const Sum& a, const Sum& b, std::int64_t factor) {
  Sum sum = a;
  if (sum.of.size() < b.of.size()) sum.of.resize(b.of.size());
  const auto add = [&](std::int64_t& to, std::int64_t what) {
    std::int64_t product = 0;
    return !__builtin_mul_overflow(what, factor, &product) && !__builtin_add_overflow(to, product, &to);
  };
  if (!add(sum.constant, b.constant)) return std::nullopt;
  for (std::size_t k = 0; k < b.of.size(); ++k)
    if (!add(sum.of[k], b.of[k])) return std::nullopt;
  return sum;
}

// What holds together.
struct Rows {
  std::vector<Sum> zero, not_negative;
};

// Any of them. Texts of ours have two or four: conditions of a program that are or, or !=.
using Parts = std::vector<Rows>;
inline constexpr std::size_t most_parts = 16;

inline std::optional<Parts> any_of(Parts a, const Parts& b) {
  if (a.size() + b.size() > most_parts) return std::nullopt;
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

inline std::optional<Parts> all_of(Parts a, const Parts& b) {
  if (a.size() * b.size() > most_parts) return std::nullopt;
  Parts both;
  for (Rows& one : a)
    for (const Rows& other : b) {
      Rows& rows = both.emplace_back(b.size() == 1 ? std::move(one) : one);
      rows.zero.insert(rows.zero.end(), other.zero.begin(), other.zero.end());
      rows.not_negative.insert(rows.not_negative.end(), other.not_negative.begin(), other.not_negative.end());
    }
  return both;
}

}  // namespace sous::sdfg
