#include "client/places.h"

#include <filesystem>

#include "client/process.h"
#include "tuning-db/places.h"

namespace sous::client {

using std::string;

string database_path(const Options& options) {
  if (options.database == "none") return "";
  return options.database.empty() ? tuning_db::default_database_path().string() : options.database;
}

string lock_path(const string& source) { return folder_of(source) + "/sous.lock"; }

string runtime_include_path() {
  const string installed = folder_of(own_path()) + "/../include/sous";
  std::error_code error;
  if (std::filesystem::exists(installed + "/targets/runtime", error)) {
    return std::filesystem::weakly_canonical(installed, error).string();
  }
  return SOUS_RUNTIME_INCLUDE;
}

string program_beside(const string& name) { return folder_of(own_path()) + "/" + name; }

}  // namespace sous::client
