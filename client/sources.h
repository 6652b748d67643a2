// The recipe sources of a build, asked in this order: lock file, local database, server.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "client/options.h"
#include "client/pipeline.h"
#include "transforms/source.h"

namespace sous::client {

// For the source file `source`. --frozen: the lock file alone. The database is asked for what the lock file does not
// pin, the server for what the database does not know exactly. A source that cannot be opened or does not answer is
// named in the notes and left out.
OpenSources sources_for(const std::string& source, const Options& options);

// --frozen: says of what the lock file pins another form, because it changed since. `nests`: of the source file.
void warn_of_stale_lock(const std::vector<NestReport>& nests, const std::string& source, const Options& options);

}  // namespace sous::client
