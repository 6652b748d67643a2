// A recipe server as a source: one request for all nests of a translation unit, within one deadline.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/kept_answers.h"
#include "client/recipe_server.h"
#include "transforms/source.h"
#include "tuning-db/hardware.h"

namespace sous::client {

class HttpSource final : public transforms::RecipeSource {
 public:
  // `url`: "http://host:port". Errors: http.url, http.token. Nothing is sent yet.
  // `patience`: for what it says (the caller counts; null: none is asked for). `answers`: where what is said goes
  // (null: nowhere).
  static Result<std::unique_ptr<HttpSource>> make(std::string_view url, tuning_db::Hardware hardware,
                                                  HttpLimits limits = {},
                                                  std::shared_ptr<transforms::Patience> patience = nullptr,
                                                  std::shared_ptr<FileAnswers> answers = nullptr);

  // Errors: http.* (client/http.h), reply.* and what else reading a reply refuses (server/protocol.h), http.status
  // (the server refused; its code and reason are in `why`), http.request (more nests than a request may have, or too
  // long a body). The caller goes on without the server and says so once.
  Result<std::vector<std::vector<transforms::Match>>> query(const std::vector<transforms::NestQuery>& nests,
                                                            int k) override;
  // What it answered to the same a short while ago; nullopt: it did not, or it cannot be read.
  std::optional<std::vector<std::vector<transforms::Match>>> answered(const std::vector<transforms::NestQuery>& nests,
                                                                      int k);
  // What a server's response to `nests` nests says; `where` names the server in errors. A function of its own, so that
  // any bytes can be given to it.
  static Result<std::vector<std::vector<transforms::Match>>> read_answer(
      const HttpResponse& response, std::size_t nests, int k, const std::string& where,
      const transforms::Patience* patience = nullptr);

 private:
  HttpSource(RecipeServer server, tuning_db::Hardware hardware, std::shared_ptr<transforms::Patience> patience,
             std::shared_ptr<FileAnswers> answers)
      : server_(std::move(server)),
        hardware_(std::move(hardware)),
        patience_(std::move(patience)),
        answers_(std::move(answers)) {}

  // What is asked of the nests, and which of them are in it.
  struct Question {
    std::vector<std::size_t> asked;
    std::string text;
  };
  Question question(const std::vector<transforms::NestQuery>& nests, int k) const;
  Result<std::vector<std::vector<transforms::Match>>> read(const Question& question, const HttpResponse& response,
                                                           std::size_t nests, int k);

  RecipeServer server_;
  tuning_db::Hardware hardware_;
  std::shared_ptr<transforms::Patience> patience_;
  std::shared_ptr<FileAnswers> answers_;
};

// `server` and what it answered a short while ago, which is not asked again: `asked` is it with whatever is to be
// between.
std::shared_ptr<transforms::RecipeSource> answered_before(std::shared_ptr<HttpSource> server,
                                                          std::shared_ptr<transforms::RecipeSource> asked);

}  // namespace sous::client
