// Lists of parameters, and the entry that takes what it writes by value.
#pragma once

#include <string>
#include <vector>

#include "targets/cpp/names.h"
#include "targets/cpp/text.h"
#include "targets/target.h"

namespace sous::targets {

// "a, b"
std::string join(const std::vector<std::string>& parts);
// "head(a, b)"; wider than a line, one to a line.
std::string parameter_list(const std::string& head, const std::vector<std::string>& parameters);

// The function of EmitOptions::values, around `by_memory`, which has these parameters: of its caller's memory, nothing
// is written.
void print_entry_by_value(Lines& out, const sdfg::Sdfg& sdfg, const EmitOptions& options, Names& names,
                          const std::string& by_memory, std::vector<std::string> parameters);

}  // namespace sous::targets
