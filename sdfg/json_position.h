// Where a text stops being JSON, for messages.
#pragma once

#include <string>
#include <string_view>

namespace sous::sdfg {

// ": line 3, column 14" of a text that is not well-formed JSON; "" of one that is.
std::string json_error_position(std::string_view text);

}  // namespace sous::sdfg
