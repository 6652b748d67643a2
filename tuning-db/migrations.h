// The tables of a database, version by version, in both directions.
#pragma once

#include <cstdint>
#include <string>

#include "sdfg/result.h"

namespace sous::tuning_db {

inline constexpr int newest_schema = 9;

enum class SqlOf : std::uint8_t { sqlite, postgres };

// The statements that bring a database of schema `from` to schema `to`. Schema 0: there is nothing.
std::string migration(int from, int to, SqlOf sql_of);

}  // namespace sous::tuning_db
