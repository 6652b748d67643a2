// Why a stretch of statements is not lifted: a code, a reason, a place.
#pragma once

#include <expected>
#include <string>
#include <utility>

#include "clang/Basic/SourceLocation.h"

namespace sous::frontends::c {

struct Refusal {
  std::string code, why;
  clang::SourceLocation where;
};
template <class T>
using Lift = std::expected<T, Refusal>;

inline std::unexpected<Refusal> refuse(std::string code, std::string why, clang::SourceLocation where) {
  return std::unexpected(Refusal{std::move(code), std::move(why), where});
}

}  // namespace sous::frontends::c
