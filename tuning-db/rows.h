// Rows of the database as entries and summaries: what is selected, and how it is read.
#pragma once

#include <string>
#include <vector>

#include "tuning-db/sqlite.h"
#include "tuning-db/store.h"

namespace sous::tuning_db {

inline constexpr const char* summary_columns =
    "SELECT e.id, e.name, n.structural_hash, e.size_class, e.recipe, e.target, h.class, e.compiler, e.time, "
    "e.baseline_seconds, e.tuned_seconds, e.threads, e.flags "
    "FROM entries e JOIN nests n ON n.id = e.nest JOIN hardware h ON h.id = e.hardware ";

Result<std::vector<Summary>> read_summaries(Statement& rows);

// The statement that selects entries; `rest`: what follows FROM … JOIN …
std::string entry_rows(sqlite3* db, const std::string& rest);

// Of such a statement. Errors: db.entry.
Result<Entry> read_entry(const Statement& row);

}  // namespace sous::tuning_db
