#include "client/http_source.h"

#include <algorithm>

#include "sdfg/check.h"
#include "server/protocol.h"
#include "tuning-db/json_reader.h"

namespace sous::client {

Result<std::unique_ptr<HttpSource>> HttpSource::make(std::string_view url, tuning_db::Hardware hardware,
                                                     HttpLimits limits,
                                                     std::shared_ptr<transforms::Patience> patience) {
  TRY(auto server, RecipeServer::at(url, limits));
  return std::unique_ptr<HttpSource>(new HttpSource(std::move(server), std::move(hardware), std::move(patience)));
}

Result<std::vector<std::vector<transforms::Match>>> HttpSource::query(const std::vector<transforms::NestQuery>& nests,
                                                                      int k) {
  // A server refuses what is too large, and all the others with it: nothing is known of these.
  std::vector<std::size_t> asked;
  for (std::size_t i = 0; i < nests.size(); ++i)
    if (sdfg::check_size(nests[i].nest)) asked.push_back(i);
  std::vector<std::vector<transforms::Match>> result(nests.size());
  if (asked.empty()) return result;
  const std::string& where = server_.name();
  if (asked.size() > server::most_nests)
    return fail("http.request", std::to_string(asked.size()) + " nests are more than one request may have", where);
  server::QueryRequest request{.hardware = hardware_, .k = std::clamp(k, 1, server::most_matches), .nests = {}};
  for (const std::size_t i : asked) request.nests.push_back(nests[i]);
  TRY(const HttpResponse response, server_.post("/v1/query", server::to_json(request)));
  TRY(auto matches, read_answer(response, asked.size(), k, where, patience_.get()));
  for (std::size_t i = 0; i < asked.size(); ++i) {
    for (auto& match : matches[i]) match.patience = patience_;
    result[asked[i]] = std::move(matches[i]);
  }
  return result;
}

Result<std::vector<std::vector<transforms::Match>>> HttpSource::read_answer(const HttpResponse& response,
                                                                            std::size_t nests, int k,
                                                                            const std::string& where,
                                                                            const transforms::Patience* patience) {
  TRY_VOID(check_status(response, where));
  auto reply = server::query_reply_from_json(response.body, patience);
  if (!reply) {
    Error error = tuning_db::as_one_line(reply.error());
    error.where = error.where.empty() ? where : where + ": " + error.where;
    return std::unexpected(std::move(error));
  }
  if (reply->matches.size() != nests)
    return fail(
        "reply.field",
        "the server answered for " + std::to_string(reply->matches.size()) + " of " + std::to_string(nests) + " nests",
        where);
  for (auto& matches : reply->matches)
    if (matches.size() > static_cast<std::size_t>(std::max(0, k)))
      matches.resize(static_cast<std::size_t>(std::max(0, k)));
  return std::move(reply->matches);
}

}  // namespace sous::client
