// Content hashes: the first 128 bits of SHA-256 (FIPS 180-4), as 32 hex digits. Cryptographic, because ids are
// compared across databases that strangers may have filled.
#pragma once

#include <string>
#include <string_view>

namespace sous::tuning_db {

std::string content_hash(std::string_view bytes);

}  // namespace sous::tuning_db
