// Where the database and what it is filled from lie.
#pragma once

#include <filesystem>
#include <vector>

namespace sous::tuning_db {

// $SOUS_DB, else $XDG_DATA_HOME/sous/tuning.db, else ~/.local/share/sous/tuning.db; empty if there is no home.
std::filesystem::path default_database_path();
// The *.jsonl files of $SOUS_SEED_DIR, else of the folder fixed when this was built, else of ../share/sous/seed beside
// the program; sorted by name.
std::vector<std::filesystem::path> seed_files();

// The gain model (tuning-db/gain_model.h) in the same folder.
std::filesystem::path gain_model_file();

}  // namespace sous::tuning_db
