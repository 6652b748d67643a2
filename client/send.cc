#include "client/send.h"

#include <algorithm>
#include <chrono>

#include "client/recipe_server.h"

namespace sous::client {
namespace {

// A server takes seconds to prove as many, and no build waits for them.
constexpr std::size_t at_once = 16;
constexpr std::chrono::milliseconds deadline(60'000);
constexpr int rounds = 3;

}  // namespace

Result<std::vector<server::TakenEntry>> send_entries(const std::vector<tuning_db::Entry>& entries,
                                                     const std::string& url) {
  TRY(const auto recipes, RecipeServer::at(url, {.deadline = deadline}));
  std::vector<server::TakenEntry> all(entries.size());
  for (int round = 0; round < rounds; ++round) {
    std::vector<std::size_t> left;
    for (std::size_t i = 0; i < all.size(); ++i)
      if (all[i].taken == server::Taken::later) left.push_back(i);
    for (std::size_t first = 0; first < left.size(); first += at_once) {
      const std::size_t last = std::min(first + at_once, left.size());
      std::vector<tuning_db::Entry> some;
      for (std::size_t i = first; i < last; ++i) some.push_back(entries[left[i]]);
      TRY(const auto response, recipes.post("/v1/recipes", server::to_json(some)));
      TRY_VOID(check_status(response, recipes.name()));
      TRY(const auto taken, server::taken_from_json(response.body));
      if (taken.size() != some.size())
        return fail("reply.field", "the server answered for another number of entries", recipes.name());
      for (std::size_t i = first; i < last; ++i) all[left[i]] = taken[i - first];
    }
  }
  return all;
}

}  // namespace sous::client
