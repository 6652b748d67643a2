// What the author of a C program may do about a loop that is not lifted.
#pragma once

#include <string_view>

namespace sous::frontends::c {

// `code`: of a reason. Empty: nothing is known.
std::string_view advice(std::string_view code);

}  // namespace sous::frontends::c
