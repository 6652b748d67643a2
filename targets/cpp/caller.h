// How the entry takes its arguments (targets/target.h), and a function that calls it from a list of addresses.
#pragma once

#include <set>
#include <string>

#include "sdfg/sdfg.h"

namespace sous::targets {

// `written`: containers that the Sdfg writes.
bool passed_by_value(const sdfg::Container& container, const std::set<std::string>& written);

// Language::caller of C++.
std::string cpp_caller(const sdfg::Sdfg& sdfg, const std::string& function, const std::string& name);

}  // namespace sous::targets
