// What generated code was compiled with: the states of all headers that its compiler has read. An object that is kept
// is used as long as they are the same, as the C library's, Highway's or the compiler's own headers may be others by
// then, or those of another root under the same name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "client/process.h"

namespace sous::client {

// Has the compiler say what it reads, beside the object.
inline constexpr const char* header_option = "-MD";

// The prerequisites of a rule as compilers write it for make.
std::vector<std::string> prerequisites(std::string_view rule);
// A line of file_state for each file that the objects (FILE.o, compiled with header_option) were made of; but for those
// in the folder.
std::string header_states(const std::vector<std::string>& objects, const TemporaryFolder& folder);
// Whether every line holds still. Relative paths are those of the present folder.
bool headers_unchanged(std::string_view states);

}  // namespace sous::client
