// What the head of a request says about its path and body, undone.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "sdfg/result.h"

namespace sous::server {

// The body behind its Content-Encoding: gzip, deflate, br or none. The limit holds for every byte that comes out, while
// it comes out: 809 bytes can stand for gigabytes.
// Errors: request.encoding (one that is not spoken here), request.budget, request.http (it is not what it says).
Result<std::string> decoded(std::string body, std::string_view encoding, std::size_t most_bytes);

// Whether the answer may come in gzip: what Accept-Encoding says.
bool accepts_gzip(std::string_view accepted);

// The path of a request's target, absolute or not, without query string and percent signs. Error: request.http.
Result<std::string> path_of(std::string_view target);
// What stands behind its question mark, as it was sent.
std::string_view query_of(std::string_view target);
// The same, undone: "q=a+b&after=%30". Error: request.http.
Result<std::map<std::string, std::string, std::less<>>> parameters_of(std::string_view query);

}  // namespace sous::server
