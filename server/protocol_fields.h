// The fields that several messages have (server/protocol.h, server/job_protocol.h). Included by .cc files only.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "sdfg/sdfg.h"
#include "tuning-db/json_reader.h"

namespace sous::server {

using tuning_db::Json;
using tuning_db::ObjectReader;

// An Sdfg may nest 200 deep, inside a few levels of ours.
inline constexpr int deepest = 210;

// Of text that we wrote ourselves.
Json parsed(const std::string& text);

// "protocol". Errors: <area>.field, <area>.version.
Result<void> check_version(ObjectReader& in, const std::string& area);
// 32 hexadecimal digits.
Result<std::string> hash(ObjectReader& in, const char* key);
Result<std::string> hash_text(ObjectReader& in, std::string text, const char* key);
// "nest", checked. Errors: sdfg.*, too.
Result<sdfg::Sdfg> nest(ObjectReader& in);
// What is said of a nest that something is asked about.
Json nest_json(const sdfg::Sdfg& nest, const std::string& structural_hash,
               const std::map<std::string, std::int64_t>& sizes);

Json error_json(const Error& error);
// As one that a terminal may show.
Result<Error> read_error(const Json& json, const std::string& area, const std::string& where);

}  // namespace sous::server
