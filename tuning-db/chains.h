// What is waited for in chains, as the program spells it.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "sdfg/sdfg.h"

namespace sous::tuning_db {

// As `chained` (schedule_features.h), but without what is computed for a chain alone and handed to it by a temporary.
double chained_without_temporaries(const sdfg::Sdfg& nest, const std::map<std::string, std::int64_t>& sizes);

}  // namespace sous::tuning_db
