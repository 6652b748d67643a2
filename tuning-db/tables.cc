#include "tuning-db/tables.h"

#include <utility>

namespace sous::tuning_db {
namespace {

using Holds = Table::Column::Holds;

Holds holds(const std::string& type) {
  if (type == "INTEGER") return Holds::integer;
  if (type == "REAL") return Holds::real;
  return type == "BLOB" ? Holds::vector : Holds::text;
}

// What is told apart by when it came stays in that order; its number is each database's own.
const char* order_of(const Table& table) {
  if (table.name == "writes") return "number";
  return table.name == "wanted" || table.name == "jobs" ? "rowid" : "1";
}

}  // namespace

Result<std::vector<Table>> tables_of(SqliteConnection& file) {
  std::vector<Table> tables;
  Statement names(file, "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY rowid");
  while (true) {
    TRY(const bool row, names.step());
    if (!row) return tables;
    Table table{.name = names.text(0), .columns = {}};
    Statement columns(file, "SELECT name, type FROM pragma_table_info(?) WHERE name <> 'number' ORDER BY cid");
    columns.bind(table.name);
    while (true) {
      TRY(const bool column, columns.step());
      if (!column) break;
      table.columns.push_back({.name = columns.text(0), .holds = holds(columns.text(1))});
    }
    tables.push_back(std::move(table));
  }
}

Result<void> copy_rows(const Table& table, Connection& from, Connection& to) {
  std::string names, places;
  for (const Table::Column& column : table.columns) {
    names += (names.empty() ? "" : ", ") + column.name;
    places += places.empty() ? "?" : ", ?";
  }
  Statement rows(from, "SELECT " + names + " FROM " + table.name + " ORDER BY " + order_of(table), Rows::many);
  const std::string into = "INSERT INTO " + table.name + "(" + names + ") VALUES(" + places + ")";
  while (true) {
    TRY(const bool row, rows.step());
    if (!row) return {};
    Statement insert(to, into);
    for (int k = 0; const Table::Column& column : table.columns) {
      const int at = k++;
      switch (column.holds) {
        case Holds::text:
          insert.bind(rows.text(at));
          break;
        case Holds::integer:
          insert.bind(rows.integer(at));
          break;
        case Holds::real:
          insert.bind(rows.real(at));
          break;
        case Holds::vector:
          insert.bind(rows.vector(at));
          break;
      }
    }
    TRY_VOID(insert.run());
  }
}

}  // namespace sous::tuning_db
