// The JSON form of an Sdfg: {"schema": 1, …}, or the first later one that has what the graph needs (2: containers that
// are `dead`; 3: `natural`); what goes over the wire and into the database. Lossless. Declared here as strings, so that
// the JSON library stays out of headers.
#pragma once

#include <string>
#include <string_view>

#include "sdfg/sdfg.h"

namespace sous::sdfg {

inline constexpr int last_json_schema = 3;

// The one that the graph is written in.
int json_schema(const Sdfg& sdfg);

// One line, keys in a fixed order: equal graphs give equal bytes.
std::string to_json(const Sdfg& sdfg);
// Errors: sdfg.json.*; budgets: 16 MiB, nesting 200. The result is not checked: call `check`.
Result<Sdfg> from_json(std::string_view json);

}  // namespace sous::sdfg
