// The routes that the page asks: what the database holds, for people.
#include <algorithm>
#include <cctype>

#include "sdfg/dot.h"
#include "server/catalogue.h"
#include "server/content.h"
#include "server/page_files.h"
#include "server/routes.h"
#include "tuning-db/view.h"

namespace sous::server {
namespace {

constexpr std::size_t longest_words = 256;
// A picture is some 20 times as long as the text of its nest.
constexpr std::size_t longest_picture = std::size_t{8} << 20;

// What comes from the database is text to the page, which loads nothing from elsewhere and may be framed by nobody.
constexpr const char* page_policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' blob:; "
    "form-action 'none'; frame-ancestors 'none'; base-uri 'none'";
// A picture that is opened by itself: its own style, and nothing else.
constexpr const char* picture_policy =
    "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; sandbox";

bool is_hash(std::string_view text) {
  return text.size() == 32 &&
         std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

}  // namespace

Response Routes::map(const Call& call) {
  const auto view = database_.whole();
  if (!view) return internal(view.error());
  return {.body = map_json(*atlases_.of(*view), call.caller.name)};
}

Response Routes::nests(const Call& call) {
  const auto parameters = parameters_of(call.request.query);
  if (!parameters) return refusal(400, parameters.error());
  std::string words, after;
  for (const auto& [name, value] : *parameters) {
    if (name == "q" && value.size() <= longest_words)
      words = value;
    else if (name == "after" && is_hash(value))
      after = value;
    else
      return refusal(400, {"request.field", "nests are searched for with q, of at most " +
                                                std::to_string(longest_words) + " bytes, and after, a hash"});
  }
  const auto view = database_.whole();
  if (!view) return internal(view.error());
  return {.body = nests_json(**view, words, after, call.caller.name)};
}

struct Routes::Found {
  std::shared_ptr<const tuning_db::View> view;
  std::vector<const tuning_db::Summary*> entries;
  tuning_db::Entry one;
};

std::expected<Routes::Found, Response> Routes::find_nest(const Call& call) {
  auto view = database_.whole();
  if (!view) return std::unexpected(internal(view.error()));
  auto entries = entries_of(**view, call.rest, call.caller.name);
  // One that cannot be read hides no other.
  for (const tuning_db::Summary* summary : entries) {
    auto entry = database_.get(summary->id, call.caller.name);
    if (!entry && entry.error().code != "db.entry") return std::unexpected(internal(entry.error()));
    if (entry && *entry) return Found{std::move(*view), std::move(entries), std::move(**entry)};
  }
  return std::unexpected(refusal(404, {"nest.not-found", "no nest has the hash " + call.rest.substr(0, 64)}));
}

Response Routes::nest(const Call& call) {
  const auto found = find_nest(call);
  if (!found) return found.error();
  return {.body = nest_json(*found->view, found->entries, found->one)};
}

Response Routes::picture(const Call& call) {
  const auto found = find_nest(call);
  if (!found) return found.error();
  std::string picture = sdfg::to_svg(found->one.nest);
  if (picture.size() > longest_picture)
    return refusal(404, {"nest.picture", "the nest is too large for a picture; its text says all of it"});
  return {.body = std::move(picture),
          .content_type = "image/svg+xml",
          .headers = {{"Content-Security-Policy", picture_policy}}};
}

Response Routes::machines(const Call& call) {
  const auto view = database_.whole();
  if (!view) return internal(view.error());
  // What clients lack is for who may work on it, as at /v1/wanted.
  if (!call.caller.scopes.has(tuning_db::Scope::work))
    return {.body = machines_.of(*view, call.caller.name,
                                 [&] { return machines_json(**view, nullptr, call.caller.name); })};
  auto wanted = ledger_.wanted(call.caller.name);
  if (!wanted) return internal(wanted.error());
  const auto now = ledger_.now();
  if (!now) return internal(now.error());
  auto jobs = ledger_.jobs(*now);
  if (!jobs) return internal(jobs.error());
  const Work work{.wanted = std::move(*wanted), .jobs = std::move(*jobs)};
  return {.body = machines_json(**view, &work, call.caller.name)};
}

Response Routes::lift(const Call& call) {
  const auto source = source_from_json(call.request.body);
  if (!source) return refusal(source.error().code == "request.budget" ? 413 : 400, source.error());
  const auto lifted = lifter_.lift(*source);
  if (!lifted && lifted.error().code == "lift.off") return refusal(501, lifted.error());
  if (!lifted) return refusal(lifted.error().code == "lift.failed" ? 500 : 400, lifted.error());
  const auto& asked = lifted->request;
  const auto matches = database_.query(asked.nests, asked.k, asked.hardware, call.caller.name);
  if (!matches) return internal(matches.error());
  const auto view = database_.whole();
  if (!view) return internal(view.error());
  return {.body = lifted_json(**view, *lifted, *matches)};
}

Response Routes::page(const Call& call) {
  const PageFile* file = find_page_file(call.request.path == "/" ? "index.html" : call.rest);
  if (!file) return refusal(404, {"request.path", "there is nothing at " + call.request.path.substr(0, 256)});
  Response response{.body = {},
                    .content_type = std::string(file->content_type),
                    .headers = {{"Content-Security-Policy", page_policy},
                                {"Cross-Origin-Opener-Policy", "same-origin"},
                                {"Cross-Origin-Resource-Policy", "same-origin"},
                                {"Referrer-Policy", "no-referrer"},
                                {"Cache-Control", "no-cache"},
                                {"ETag", file->etag}}};
  if (call.request.if_none_match.find(file->etag) != std::string::npos)
    response.status = 304;
  else
    response.body = file->text;
  return response;
}

}  // namespace sous::server
