// The JSON form of an Sdfg: {"schema": 1, …}, or 2 where a container is `dead`, which schema 1 does not have; what goes
// over the wire and into the database. Lossless. Declared here as strings, so that the JSON library stays out of
// headers.
#pragma once

#include <string>
#include <string_view>

#include "sdfg/sdfg.h"

namespace sous::sdfg {

inline constexpr int json_schema = 1, json_schema_dead = 2;

// One line, keys in a fixed order: equal graphs give equal bytes.
std::string to_json(const Sdfg& sdfg);
// Errors: sdfg.json.*; budgets: 16 MiB, nesting 200. The result is not checked: call `check`.
Result<Sdfg> from_json(std::string_view json);

}  // namespace sous::sdfg
