#include "client/share.h"

#include <algorithm>

#include "client/recipe_server.h"
#include "client/say_once.h"
#include "client/server_rest.h"
#include "client/tune.h"

namespace sous::client {
namespace {

// Less is not worth a connection.
constexpr std::chrono::milliseconds least_left(20);

}  // namespace

void add_wanted(const PreparedNest& nest, server::WantedRequest& to) {
  to.hardware = nest.hardware;
  const std::string here = hardware_class(nest.hardware);
  for (const std::size_t k : units_to_tune(nest)) {
    const Unit& unit = nest.units[k];
    const bool measured = std::ranges::any_of(unit.matches, [&](const transforms::Match& match) {
      return match.distance == 0 && match.evidence.hardware == here;
    });
    tuning_db::WantedNest wanted{unit.nest, unit.structural_hash, unit.sizes, nest.meaning.reassociate};
    if (to.nests.size() < server::most_nests && !measured && tuning_db::check(wanted))
      to.nests.push_back(std::move(wanted));
  }
}

Result<void> send_wanted(const server::WantedRequest& request, const std::string& url,
                         std::chrono::milliseconds deadline) {
  TRY(const auto recipes, RecipeServer::at(url, {.deadline = deadline}));
  TRY(const auto response, recipes.post("/v1/wanted", server::to_json(request)));
  return check_status(response, recipes.name());
}

void share_wanted(const server::WantedRequest& request, const Options& options, std::chrono::milliseconds left) {
  if (!options.share_wanted || options.server.empty() || request.nests.empty() || left < least_left) return;
  const auto cache = cache_folder(), folder = cache.empty() ? cache : cache / "shared";
  const std::string told = options.server + server::to_json(request);
  if (!first_to_say(told, folder)) return;
  ServerRest rest = rest_of(options);
  if (!rest.may_ask()) return not_said(told, folder);
  const auto sent = send_wanted(request, options.server, left);
  rest.tell(sent ? nullptr : &sent.error());
  if (!sent && ServerRest::is_silence(sent.error())) not_said(told, folder);
  if (!sent) say_once("SOUS_SHARE: " + sent.error().to_string());
}

}  // namespace sous::client
