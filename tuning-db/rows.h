// Rows of the database as entries and summaries: what is selected, and how it is read.
#pragma once

#include <string>
#include <vector>

#include "tuning-db/connection.h"
#include "tuning-db/store.h"

namespace sous::tuning_db {

// The statement that selects summaries, and the one that selects entries; `rest`: what follows FROM … JOIN …
std::string summary_rows(Connection& db, const std::string& rest);

Result<std::vector<Summary>> read_summaries(Statement& rows);

std::string entry_rows(Connection& db, const std::string& rest);

// "e.sent <> 1" where the schema has it: what more than one token vouches for, or the database's own.
std::string for_everyone(Connection& db);

// Of the latter. Errors: db.entry.
Result<Entry> read_entry(const Statement& row);

}  // namespace sous::tuning_db
