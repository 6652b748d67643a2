#include "client/http_source.h"

#include <algorithm>

#include "server/protocol.h"
#include "tuning-db/json_reader.h"

namespace sous::client {

Result<std::unique_ptr<HttpSource>> HttpSource::make(std::string_view text, tuning_db::Hardware hardware,
                                                     HttpLimits limits) {
  TRY(HttpUrl url, parse_url(text));
  while (url.path.ends_with('/')) url.path.pop_back();  // the server may live under a path of a proxy
  url.path += "/v1/query";
  TRY(std::string token, token_from_environment());
  return std::unique_ptr<HttpSource>(new HttpSource(std::move(url), std::move(token), std::move(hardware), limits));
}

Result<std::vector<std::vector<transforms::Match>>> HttpSource::query(const std::vector<transforms::NestQuery>& nests,
                                                                      int k) {
  if (nests.empty()) return std::vector<std::vector<transforms::Match>>{};
  const std::string where = "http://" + url_.host + ":" + url_.port;
  if (nests.size() > server::most_nests)
    return fail("http.request", std::to_string(nests.size()) + " nests are more than one request may have", where);
  HttpRequest request{.method = "POST", .url = url_, .body = {}, .token = token_};
  request.body = server::to_json(
      server::QueryRequest{.hardware = hardware_, .k = std::clamp(k, 1, server::most_matches), .nests = nests});
  if (request.body.size() > server::longest_request)
    return fail("http.request", "the nests make a longer request than a server accepts", where);

  TRY(const HttpResponse response, exchange(request, limits_));
  return read_answer(response, nests.size(), k, where);
}

Result<std::vector<std::vector<transforms::Match>>> HttpSource::read_answer(const HttpResponse& response,
                                                                            std::size_t nests, int k,
                                                                            const std::string& where) {
  if (response.status != 200) {
    const Error said = server::error_from_json(response.body);
    return fail("http.status",
                "the server answered " + std::to_string(response.status) + ": " + said.why + " [" + said.code + "]",
                where);
  }
  auto reply = server::query_reply_from_json(response.body);
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
