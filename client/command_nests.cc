// sous nests: the nests of a file as a server would be asked about them.
#include <cstdio>
#include <nlohmann/json.hpp>

#include "client/commands.h"
#include "client/nest.h"
#include "client/request.h"
#include "server/protocol.h"
#include "tuning-db/build_isa.h"
#include "tuning-db/json_reader.h"

namespace sous::client {
namespace {

using tuning_db::Json;

constexpr int asked_for = 8;  // matches for each unit

}  // namespace

Result<int> command_nests(const Invocation& invocation) {
  TRY(const Request request, read_request(invocation.words, invocation.after, "nests"));
  TRY(const auto lifted, lift(request));
  const auto& options = invocation.options;
  const Meaning meaning = beyond_the_build(with_options(request.meaning, options), options);
  server::QueryRequest query{
      .hardware = as_built(tuning_db::local_hardware(), meaning.cpp_code), .k = asked_for, .nests = {}};
  Json nests = Json::array(), reasons = Json::array();
  for (const auto& one : lifted.nests) {
    if (!selected(one, options.nest)) continue;
    Json nest{{"function", one.function}, {"line", one.line}, {"units", Json::array()}};
    const auto prepared = prepare(one, meaning, options.sizes, query.hardware);
    if (!prepared) nest["why"] = prepared.error().to_string();
    for (const Unit& unit : prepared ? prepared->units : std::vector<Unit>{}) {
      if (query.nests.size() == server::most_nests) break;
      nest["units"].push_back(unit.label);
      query.nests.push_back(unit.query());
    }
    nests.push_back(std::move(nest));
  }
  for (const auto& reason : lifted.reasons)
    reasons.push_back(
        {{"code", reason.code}, {"why", reason.why}, {"function", reason.function}, {"line", reason.line}});
  const Json all{{"nests", std::move(nests)}, {"reasons", std::move(reasons)}, {"request", server::to_json(query)}};
  std::printf("%s\n", tuning_db::dump(all).c_str());
  return 0;
}

}  // namespace sous::client
