// Times as they are kept.
#pragma once

#include <cstdint>
#include <string>

namespace sous::tuning_db {

// "2026-11-25T08:30:00Z" of seconds since 1970.
std::string utc_text(std::int64_t seconds);

}  // namespace sous::tuning_db
