// The JSON form of a measurement as recipes carry it: in the answers of the server and in lock files.
#pragma once

#include "transforms/source.h"
#include "tuning-db/json_reader.h"

namespace sous::tuning_db {

Json evidence_json(const transforms::Evidence& evidence);
// Errors: <area>.field.
Result<transforms::Evidence> evidence_from_json(const Json& json, const std::string& area, const std::string& where);

}  // namespace sous::tuning_db
