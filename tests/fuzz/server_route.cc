// A request to the server, its first line "METHOD path authorization", the rest its body (the authorization "valid" is
// one with every scope): whatever it is, it is
// answered with a documented status and a body of the promised kind, and never by the server's own fault.
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "server/routes.h"
#include "tests/fuzz/fuzz.h"
#include "tuning-db/places.h"

using namespace sous;

namespace {

std::filesystem::path path() { return std::filesystem::path(fuzz::scratch_folder()) / "routes.db"; }

tuning_db::Ledger& ledger() {
  static tuning_db::Ledger instance(path());
  return instance;
}

const std::string& valid() {
  static const std::string text = [] {
    const auto made = server::new_token("fuzz", *tuning_db::parse_scopes("admin"));
    SOUS_ASSERT(made && ledger().add(made->token));
    return "Bearer " + made->text;
  }();
  return text;
}

server::Routes& routes() {
  static const auto database = [] {
    auto opened = tuning_db::Database::open({.path = path(), .seeds = tuning_db::seed_files()}, tuning_db::Hardware{});
    SOUS_ASSERT(opened && (*opened)->follow(std::chrono::hours(1)));  // all in memory, as a server has it
    return std::move(*opened);
  }();
  static server::Routes instance(*database, ledger());
  return instance;
}

}  // namespace

SOUS_FUZZ_TARGET(input) {
  const std::size_t line = std::min(input.find('\n'), input.size());
  const std::string_view head = input.substr(0, line);
  const std::size_t space = std::min(head.find(' '), head.size());
  server::Request request;
  request.method = head.substr(0, space);
  const std::string_view target = head.substr(std::min(space + 1, head.size()));
  const std::size_t second = std::min(target.find(' '), target.size());
  const std::size_t mark = std::min(target.find('?'), second);
  request.path = target.substr(0, mark);
  request.query = target.substr(std::min(mark + 1, second), second - std::min(mark + 1, second));
  request.authorization = target.substr(std::min(second + 1, target.size()));
  request.body = input.substr(std::min(line + 1, input.size()));
  auto& instance = routes();
  if (request.authorization == "valid") request.authorization = valid();
  const server::Response response = instance.handle(request);
  static const std::set<int> statuses = {200, 400, 401, 403, 404, 405, 409, 413, 429, 501};
  SOUS_ASSERT(statuses.contains(response.status));
  if (response.content_type != "application/json") return;
  const auto body = nlohmann::json::parse(response.body, nullptr, false);
  SOUS_ASSERT(!body.is_discarded());
  SOUS_ASSERT(response.status == 200 || body.contains("error"));
}
