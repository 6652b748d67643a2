// Where things lie: the database, the lock file, what generated code includes, the other programs of Sous.
#pragma once

#include <string>

#include "client/options.h"

namespace sous::client {

// --db, $SOUS_DB or the default place; empty: none is to be used, or there is no home.
std::string database_path(const Options& options);
// The lock file of a source file.
std::string lock_path(const std::string& source);
// Where "targets/runtime/…" lies: beside the installed program, or in the source tree it was built from.
std::string runtime_include_path();
// The programs of Sous lie together: `sous` itself, sous-core, sous-serve.
std::string program_beside(const std::string& name);

}  // namespace sous::client
