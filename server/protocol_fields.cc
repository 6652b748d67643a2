#include "server/protocol_fields.h"

#include <utility>

#include "sdfg/check.h"
#include "sdfg/json.h"
#include "server/protocol.h"

namespace sous::server {

Json parsed(const std::string& text) { return Json::parse(text, nullptr, false); }

Result<void> check_version(ObjectReader& in, const std::string& area) {
  TRY(const std::int64_t version, in.integer("protocol", 0, 1 << 20));
  if (version != protocol_version)
    return fail(area + ".version", "protocol " + std::to_string(version) + " is not spoken here; version " +
                                       std::to_string(protocol_version) + " is");
  return {};
}

Result<std::string> hash(ObjectReader& in, const char* key) {
  TRY(std::string text, in.string(key, 64));
  return hash_text(in, std::move(text), key);
}

Result<std::string> hash_text(ObjectReader& in, std::string text, const char* key) {
  if (text.size() != 32 || text.find_first_not_of("0123456789abcdef") != std::string::npos)
    return in.refuse(std::string("\"") + key + "\" must be 32 hexadecimal digits");
  return text;
}

Result<sdfg::Sdfg> nest(ObjectReader& in) {
  TRY(const Json* json, in.object("nest"));
  TRY(sdfg::Sdfg result, sdfg::from_json(tuning_db::dump(*json)));
  TRY_VOID(sdfg::check_foreign(result));
  return result;
}

Json nest_json(const sdfg::Sdfg& nest, const std::string& structural_hash,
               const std::map<std::string, std::int64_t>& sizes) {
  return {{"nest", parsed(sdfg::to_json(nest))}, {"structural_hash", structural_hash}, {"sizes", sizes}};
}

Json error_json(const Error& error) {
  Json body{{"code", error.code}, {"why", error.why}};
  if (!error.where.empty()) body["where"] = error.where;
  return body;
}

Result<Error> read_error(const Json& json, const std::string& area, const std::string& where) {
  TRY(auto fields, ObjectReader::of(json, area, where));
  Error error;
  TRY(error.code, fields.string("code", 128));
  TRY(error.why, fields.string("why", 16384));
  error.code = tuning_db::as_one_line(std::move(error.code));
  error.why = tuning_db::as_one_line(std::move(error.why));
  return error;
}

}  // namespace sous::server
