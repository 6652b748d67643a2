// What the author of a C program may do about a loop that is not lifted.
#pragma once

#include <string_view>

namespace sous::frontends::c {

// `code`: of a reason. Empty: nothing is known.
std::string_view advice(std::string_view code);

// Said of a product, it speaks of all of the function (lift.cc).
inline constexpr std::string_view contracts_complex_products = "the compiler contracts products in complex arithmetic";

}  // namespace sous::frontends::c
