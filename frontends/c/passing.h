// How the arguments of a nest are written in C: their parameters' types, and what is passed.
#pragma once

#include <string>

#include "frontends/c/splice.h"

namespace sous::frontends::c {

// The text with an underscore for all that no identifier has.
std::string in_identifier(std::string text);

// Whether it may have no value yet: it is then passed as a struct of one member (unset_type, to be declared with
// `member_type value`), which is passed in the same register: to clang, a scalar argument without a value is undefined
// behaviour that it draws conclusions from.
bool is_unset(const Argument& argument);
std::string unset_type(const Argument& argument);
std::string member_type(const Argument& argument);

std::string parameter_type(const Argument& argument);
std::string passed(const Argument& argument);

}  // namespace sous::frontends::c
