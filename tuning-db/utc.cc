#include "tuning-db/utc.h"

#include <ctime>

namespace sous::tuning_db {

std::string utc_text(std::int64_t seconds) {
  const std::time_t time = seconds;
  std::tm parts{};
  char text[40];
  if (gmtime_r(&time, &parts) == nullptr) return "";
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

}  // namespace sous::tuning_db
