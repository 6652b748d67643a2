// `sous db send`: what was measured here, to a server.
#pragma once

#include <string>
#include <vector>

#include "sdfg/result.h"
#include "server/protocol.h"
#include "tuning-db/entry.h"

namespace sous::client {

// In requests that a server takes. Parallel to `entries`. What a server has no time for is sent again, twice.
// Errors: those of the exchange; what was sent until then is kept there.
Result<std::vector<server::TakenEntry>> send_entries(const std::vector<tuning_db::Entry>& entries,
                                                     const std::string& url);

}  // namespace sous::client
