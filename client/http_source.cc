#include "client/http_source.h"

#include <algorithm>

#include "sdfg/check.h"
#include "server/protocol.h"
#include "tuning-db/json_reader.h"

namespace sous::client {
namespace {

using Matches = std::vector<std::vector<transforms::Match>>;

class AnsweredBefore final : public transforms::RecipeSource {
 public:
  AnsweredBefore(std::shared_ptr<HttpSource> server, std::shared_ptr<RecipeSource> asked)
      : server_(std::move(server)), asked_(std::move(asked)) {}

  bool may_know(const sdfg::Sdfg& lifted) override { return asked_->may_know(lifted); }
  transforms::Reach reach() override { return asked_->reach(); }
  Result<Matches> query(const std::vector<transforms::NestQuery>& nests, int k) override {
    if (auto matches = server_->answered(nests, k)) return std::move(*matches);
    return asked_->query(nests, k);
  }

 private:
  std::shared_ptr<HttpSource> server_;
  std::shared_ptr<RecipeSource> asked_;
};

}  // namespace

Result<std::unique_ptr<HttpSource>> HttpSource::make(std::string_view url, tuning_db::Hardware hardware,
                                                     HttpLimits limits, std::shared_ptr<transforms::Patience> patience,
                                                     std::shared_ptr<FileAnswers> answers) {
  TRY(auto server, RecipeServer::at(url, limits));
  return std::unique_ptr<HttpSource>(
      new HttpSource(std::move(server), std::move(hardware), std::move(patience), std::move(answers)));
}

HttpSource::Question HttpSource::question(const std::vector<transforms::NestQuery>& nests, int k) const {
  Question question;
  server::QueryRequest request{.hardware = hardware_, .k = std::clamp(k, 1, server::most_matches), .nests = {}};
  for (std::size_t i = 0; i < nests.size(); ++i) {
    // A server refuses what is too large, and all the others with it: nothing is known of these.
    if (!sdfg::check_size(nests[i].nest)) continue;
    question.asked.push_back(i);
    request.nests.push_back(nests[i]);
  }
  if (!question.asked.empty()) question.text = server::to_json(request);
  return question;
}

Result<Matches> HttpSource::query(const std::vector<transforms::NestQuery>& nests, int k) {
  const Question question = this->question(nests, k);
  if (question.asked.empty()) return Matches(nests.size());
  if (question.asked.size() > server::most_nests)
    return fail("http.request", std::to_string(question.asked.size()) + " nests are more than one request may have",
                server_.name());
  // Who holds a result against it has asked already.
  if (auto said = answers_ ? answers_->said(question.text) : std::nullopt)
    return read(question, {200, std::move(*said)}, nests.size(), k);
  TRY(const HttpResponse response, server_.post(query_path, question.text));
  if (answers_ && response.status == 200) answers_->answered(question.text, response.body);
  return read(question, response, nests.size(), k);
}

std::optional<Matches> HttpSource::answered(const std::vector<transforms::NestQuery>& nests, int k) {
  if (!answers_) return std::nullopt;
  std::optional<transforms::Patience::Counting> counting;
  if (patience_) counting.emplace(*patience_);
  const Question question = this->question(nests, k);
  auto answer = question.asked.empty() ? std::nullopt : answers_->find(question.text);
  auto matches = answer ? read(question, {200, std::move(*answer)}, nests.size(), k) : Matches{};
  return answer && matches ? std::optional(std::move(*matches)) : std::nullopt;
}

Result<Matches> HttpSource::read(const Question& question, const HttpResponse& response, std::size_t nests, int k) {
  TRY(auto matches, read_answer(response, question.asked.size(), k, server_.name(), patience_.get()));
  if (answers_) answers_->used(question.text, response.body);
  Matches result(nests);
  for (std::size_t i = 0; i < question.asked.size(); ++i) {
    for (auto& match : matches[i]) match.patience = patience_;
    result[question.asked[i]] = std::move(matches[i]);
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

std::shared_ptr<transforms::RecipeSource> answered_before(std::shared_ptr<HttpSource> server,
                                                          std::shared_ptr<transforms::RecipeSource> asked) {
  return std::make_shared<AnsweredBefore>(std::move(server), std::move(asked));
}

}  // namespace sous::client
