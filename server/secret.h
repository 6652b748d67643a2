// What tokens are made and known by.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "sdfg/result.h"

namespace sous::server {

// So many random bytes as hex digits. Error: server.internal (the system gives none).
Result<std::string> random_hex(std::size_t bytes);

// SHA-256, as hex digits. Of a text with 256 random bits nothing slower is wanted: there is nothing to guess.
Result<std::string> hash_of(std::string_view text);

// In a time that says nothing of where they differ, nor whether.
bool same(std::string_view a, std::string_view b);

}  // namespace sous::server
