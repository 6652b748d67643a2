#include "client/http_source.h"

#include <algorithm>

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
  if (nests.empty()) return std::vector<std::vector<transforms::Match>>{};
  const std::string& where = server_.name();
  if (nests.size() > server::most_nests)
    return fail("http.request", std::to_string(nests.size()) + " nests are more than one request may have", where);
  const server::QueryRequest request{
      .hardware = hardware_, .k = std::clamp(k, 1, server::most_matches), .nests = nests};
  TRY(const HttpResponse response, server_.post("/v1/query", server::to_json(request)));
  TRY(auto matches, read_answer(response, nests.size(), k, where, patience_.get()));
  for (auto& ranked : matches)
    for (auto& match : ranked) match.patience = patience_;
  return matches;
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
