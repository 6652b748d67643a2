// Where the database and what it is filled from lie.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace sous::tuning_db {

// Whether it is the URL of a PostgreSQL database (postgres://…, postgresql://…), not a file.
bool is_postgres(const std::filesystem::path& place);
// As it may be shown: without the password of a URL.
std::string shown(const std::filesystem::path& place);

// $SOUS_DB, else $XDG_DATA_HOME/sous/tuning.db, else ~/.local/share/sous/tuning.db; empty if there is no home.
std::filesystem::path default_database_path();
// The *.jsonl files of $SOUS_SEED_DIR, else of the folder fixed when this was built, else of ../share/sous/seed beside
// the program; sorted by name.
std::vector<std::filesystem::path> seed_files();

// The gain model (tuning-db/gain_model.h) in the same folder.
std::filesystem::path gain_model_file();

}  // namespace sous::tuning_db
