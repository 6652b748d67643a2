// The JSON form of a measurement as recipes carry it: in the answers of the server and in lock files.
#pragma once

#include "transforms/source.h"
#include "tuning-db/json_reader.h"

namespace sous::tuning_db {

// Loops of a nest of which a measurement may speak.
inline constexpr std::size_t most_loops = 4096;

// The field "least" of evidence and entries: measured thresholds (transforms/source.h). Absent: none were measured.
Json least_json(const std::vector<double>& extents, double work);
Result<void> read_least(ObjectReader& in, const std::string& area, std::vector<double>& extents, double& work);

// What older versions did not write (extents, thresholds) may be absent.
Json evidence_json(const transforms::Evidence& evidence);
// Errors: <area>.field.
Result<transforms::Evidence> evidence_from_json(const Json& json, const std::string& area, const std::string& where);

}  // namespace sous::tuning_db
