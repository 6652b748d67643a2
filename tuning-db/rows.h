// Rows of the database as entries and summaries: what is selected, and how it is read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tuning-db/connection.h"
#include "tuning-db/store.h"

namespace sous::tuning_db {

// The statement that selects summaries, and the one that selects entries; `rest`: what follows FROM … JOIN …
std::string summary_rows(Connection& db, const std::string& rest);

// That selects those of a sizeless hash, which is bound; none where the schema does not have it.
std::string summaries_with_sizeless(Connection& db);

Result<std::vector<Summary>> read_summaries(Statement& rows);
// The first column of all rows.
Result<std::vector<std::string>> read_texts(Statement& rows);

std::string entry_rows(Connection& db, const std::string& rest);

// Whether the schema is of this version at least: a file that cannot be written may be of an earlier one.
bool has_schema(Connection& db, std::int64_t least);

// "e.sent <> 1" where the schema has it: what more than one token vouches for, or the database's own.
std::string for_everyone(Connection& db);

// Of the latter. Errors: db.entry.
Result<Entry> read_entry(const Statement& row);

// What a summary says, with its nest; of the hardware no more than its class. Errors: db.entry.
Result<Entry> entry_of(const Summary& summary, sdfg::Sdfg nest);

}  // namespace sous::tuning_db
