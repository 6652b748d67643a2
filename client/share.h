// SOUS_SHARE=wanted, `sous share`: tells a server which nests found no good recipe, so that somebody can look for one.
// What is told are normal forms, their sizes and the machine; never source text, names or paths.
#pragma once

#include <chrono>
#include <string>

#include "client/nest.h"
#include "client/options.h"
#include "server/protocol.h"

namespace sous::client {

// The units of a nest that is left as it is, hottest first, but for those that were measured on this class of machine
// at their size: nothing better is known of them. Up to what one request holds.
void add_wanted(const PreparedNest& nest, server::WantedRequest& to);

Result<void> send_wanted(const server::WantedRequest& request, const std::string& url,
                         std::chrono::milliseconds deadline);

// As the end of a translation unit: once for what was told a short while ago, to a server that answers, within what is
// left of the deadline. What goes wrong is said once, and is no failure of the build.
void share_wanted(const server::WantedRequest& request, const Options& options, std::chrono::milliseconds left);

}  // namespace sous::client
