// Where a compiler looks for headers that no option names. A header of another system, which stands under a condition
// that does not hold here (<windows.h>), is nowhere there.
#pragma once

#include <string>
#include <vector>

#include "client/command_line.h"

namespace sous::client {

// Every folder that may be searched, and perhaps more. Empty: not known, as for a compiler that is a script, or with an
// option that changes where it looks.
std::vector<std::string> system_header_folders(const CommandLine& line, const std::string& compiler);

}  // namespace sous::client
