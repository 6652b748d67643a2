// All that a database holds, table by table, from one kind of store into another of the same schema.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tuning-db/connection.h"
#include "tuning-db/sqlite.h"

namespace sous::tuning_db {

struct Table {
  struct Column {
    std::string name;
    enum class Holds : std::uint8_t { text, integer, real, vector } holds = Holds::text;
  };
  std::string name;
  std::vector<Column> columns;
};

// As the migrations made them in this file: what others refer to comes first.
Result<std::vector<Table>> tables_of(SqliteConnection& file);

// In transactions of both.
Result<void> copy_rows(const Table& table, Connection& from, Connection& to);

}  // namespace sous::tuning_db
