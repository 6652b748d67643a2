// How operators, calls and integers are written in C++: shared by symbolic and scalar expressions.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "targets/cpp/text.h"

namespace sous::targets {

Text integer(std::int64_t value);

Text infix(const Text& a, std::string_view op, const Text& b, Binding binding);

// Of a function of targets/runtime/sous.h.
Text call(std::string_view function, const std::vector<Text>& args);

}  // namespace sous::targets
