#include "server/protocol.h"

#include <algorithm>

#include "sdfg/json.h"
#include "server/protocol_fields.h"
#include "tuning-db/evidence.h"

namespace sous::server {
namespace {

using tuning_db::dump;
using tuning_db::parse_json;

// A value takes 100 bytes and more of memory, and the shortest 4 bytes of text: 8 MiB would become half a gigabyte.
constexpr std::size_t most_values = 500'000;
constexpr tuning_db::JsonBudget request_budget{.bytes = longest_request, .depth = deepest, .values = most_values};

Result<transforms::Match> read_match(const Json& json, const std::string& where) {
  TRY(auto in, ObjectReader::of(json, "reply", where));
  transforms::Match m;
  m.origin = transforms::Origin::Server;
  TRY(m.id, hash(in, "id"));
  TRY(m.name, in.line("name", 256));
  TRY(m.distance, in.number("distance", 0, 1e9));
  TRY(m.embedding, in.line("embedding", 64));
  TRY(m.reach, in.number("reach", 0, 1e9));
  TRY(const Json* recipe, in.object("recipe"));
  TRY(m.recipe, transforms::recipe_from_json(dump(*recipe)));
  TRY(const Json* evidence, in.object("evidence"));
  TRY(m.evidence, tuning_db::evidence_from_json(*evidence, "reply", where + ".evidence"));
  TRY(m.nest, nest(in));
  TRY_VOID(in.done());
  return m;
}

}  // namespace

std::string to_json(const QueryRequest& request) {
  Json nests = Json::array();
  for (const transforms::NestQuery& query : request.nests)
    nests.push_back(nest_json(query.nest, query.structural_hash, query.sizes));
  return dump(Json{{"protocol", protocol_version},
                   {"k", request.k},
                   {"hardware", parsed(tuning_db::to_json(request.hardware))},
                   {"nests", std::move(nests)}});
}

Result<QueryRequest> query_request_from_json(std::string_view text) {
  TRY(const Json json, parse_json(text, "request", request_budget));
  TRY(auto in, ObjectReader::of(json, "request", ""));
  TRY_VOID(check_version(in, "request"));
  QueryRequest request;
  TRY(const std::int64_t k, in.integer("k", 1, most_matches));
  request.k = static_cast<int>(k);
  TRY(const Json* hardware, in.object("hardware"));
  TRY(request.hardware, tuning_db::hardware_from_json(dump(*hardware)));
  TRY(const Json* nests, in.array("nests", most_nests));
  TRY_VOID(in.done());
  for (std::size_t i = 0; i < nests->size(); ++i) {
    TRY(auto one, ObjectReader::of((*nests)[i], "request", "nests[" + std::to_string(i) + "]"));
    transforms::NestQuery query;
    TRY(query.structural_hash, hash(one, "structural_hash"));
    TRY(query.sizes, one.integers("sizes"));
    TRY(query.nest, nest(one));
    TRY_VOID(one.done());
    request.nests.push_back(std::move(query));
  }
  return request;
}

// Nest and recipe are written as they come: to parse them and write them again takes longer than all the rest.
std::string fields_text(const transforms::Match& m) {
  std::string fields = dump(Json{{"id", m.id},
                                 {"name", m.name},
                                 {"embedding", m.embedding},
                                 {"reach", m.reach},
                                 {"evidence", tuning_db::evidence_json(m.evidence)}});
  fields.pop_back();
  return fields.substr(1) + ",\"recipe\":" + transforms::to_json(m.recipe);
}

std::string to_json(const std::vector<std::vector<MatchText>>& matches) {
  std::string out = "{\"matches\":[";
  for (std::size_t i = 0; i < matches.size(); ++i) {
    out += i == 0 ? "[" : ",[";
    for (std::size_t j = 0; j < matches[i].size(); ++j) {
      out += (j == 0 ? "{\"distance\":" : ",{\"distance\":") + dump(Json(matches[i][j].distance)) + ",";
      out += *matches[i][j].fields + ",\"nest\":" + *matches[i][j].nest + "}";
    }
    out += "]";
  }
  return out + "],\"protocol\":" + std::to_string(protocol_version) + "}";
}

std::string to_json(const QueryReply& reply) {
  std::vector<std::vector<MatchText>> texts;
  for (const auto& matches : reply.matches) {
    auto& some = texts.emplace_back();
    for (const transforms::Match& m : matches)
      some.push_back({m.distance, std::make_shared<const std::string>(fields_text(m)),
                      std::make_shared<const std::string>(sdfg::to_json(m.nest))});
  }
  return to_json(texts);
}

Result<QueryReply> query_reply_from_json(std::string_view text, const transforms::Patience* patience) {
  constexpr std::size_t most_told = 2'000'000;  // 256 for each of 32 matches of 256 nests
  TRY(const Json json, parse_json(text, "reply", {.bytes = longest_reply, .depth = deepest, .values = most_told}));
  TRY(auto in, ObjectReader::of(json, "reply", ""));
  TRY_VOID(check_version(in, "reply"));
  TRY(const Json* all, in.array("matches", most_nests));
  TRY_VOID(in.done());
  QueryReply reply;
  for (std::size_t i = 0; i < all->size(); ++i) {
    const std::string where = "matches[" + std::to_string(i) + "]";
    const Json& ranked = (*all)[i];
    if (!ranked.is_array() || ranked.size() > most_matches)
      return fail("reply.field", "an array of at most " + std::to_string(most_matches) + " matches is expected", where);
    std::vector<transforms::Match> matches;
    for (std::size_t j = 0; j < ranked.size(); ++j) {
      if (patience && patience->over()) return fail("reply.time", "reading the answer takes too long");
      TRY(auto match, read_match(ranked[j], where + "[" + std::to_string(j) + "]"));
      matches.push_back(std::move(match));
    }
    reply.matches.push_back(std::move(matches));
  }
  return reply;
}

std::string to_json(const std::vector<tuning_db::Entry>& entries) {
  Json all = Json::array();
  for (const tuning_db::Entry& entry : entries) all.push_back(parsed(tuning_db::to_json(entry)));
  return dump(Json{{"protocol", protocol_version}, {"entries", std::move(all)}});
}

Result<std::vector<Result<tuning_db::Entry>>> entries_from_json(std::string_view text) {
  TRY(const Json json, parse_json(text, "request", request_budget));
  TRY(auto in, ObjectReader::of(json, "request", ""));
  TRY_VOID(check_version(in, "request"));
  TRY(const Json* all, in.array("entries", most_entries));
  TRY_VOID(in.done());
  std::vector<Result<tuning_db::Entry>> entries;
  for (const Json& one : *all) entries.push_back(tuning_db::entry_from_json(dump(one)));
  return entries;
}

std::string_view to_string(Taken taken) {
  switch (taken) {
    case Taken::added:
      return "added";
    case Taken::known:
      return "known";
    case Taken::refused:
      return "refused";
    case Taken::later:
      return "later";
  }
  __builtin_unreachable();
}

std::string to_json(const std::vector<TakenEntry>& entries) {
  Json all = Json::array();
  for (const TakenEntry& entry : entries) {
    Json one{{"taken", to_string(entry.taken)}};
    if (!entry.id.empty()) one["id"] = entry.id;
    if (entry.taken == Taken::refused) one["error"] = error_json(entry.error);
    all.push_back(std::move(one));
  }
  return dump(Json{{"protocol", protocol_version}, {"entries", std::move(all)}});
}

Result<std::vector<TakenEntry>> taken_from_json(std::string_view text) {
  TRY(const Json json, parse_json(text, "reply", {.bytes = longest_reply, .depth = deepest}));
  TRY(auto in, ObjectReader::of(json, "reply", ""));
  TRY_VOID(check_version(in, "reply"));
  TRY(const Json* all, in.array("entries", most_entries));
  TRY_VOID(in.done());
  std::vector<TakenEntry> entries;
  for (const Json& one : *all) {
    TRY(auto fields, ObjectReader::of(one, "reply", "entries[" + std::to_string(entries.size()) + "]"));
    TRY(const std::string said, fields.line("taken", 16));
    TakenEntry entry;
    constexpr Taken all_taken[] = {Taken::added, Taken::known, Taken::refused, Taken::later};
    const auto* taken = std::ranges::find_if(all_taken, [&](Taken t) { return to_string(t) == said; });
    if (taken == std::end(all_taken)) return fields.refuse("\"taken\" must be added, known, refused or later");
    entry.taken = *taken;
    if (fields.has("id")) {
      TRY(entry.id, hash(fields, "id"));
    }
    if (entry.taken == Taken::refused) {
      TRY(const Json* error, fields.object("error"));
      TRY(entry.error, read_error(*error, "reply", "error"));
    }
    TRY_VOID(fields.done());
    entries.push_back(std::move(entry));
  }
  return entries;
}

std::string to_json(const WantedRequest& request) {
  Json nests = Json::array();
  for (const tuning_db::WantedNest& one : request.nests) {
    nests.push_back(nest_json(one.nest, one.structural_hash, one.sizes));
    nests.back()["reassociate"] = one.reassociate;
  }
  return dump(Json{{"protocol", protocol_version},
                   {"hardware", parsed(tuning_db::to_json(request.hardware))},
                   {"nests", std::move(nests)}});
}

Result<WantedRequest> wanted_request_from_json(std::string_view text) {
  TRY(const Json json, parse_json(text, "request", request_budget));
  TRY(auto in, ObjectReader::of(json, "request", ""));
  TRY_VOID(check_version(in, "request"));
  WantedRequest request;
  TRY(const Json* hardware, in.object("hardware"));
  TRY(request.hardware, tuning_db::hardware_from_json(dump(*hardware)));
  TRY(const Json* nests, in.array("nests", most_nests));
  TRY_VOID(in.done());
  for (std::size_t i = 0; i < nests->size(); ++i) {
    TRY(auto one, ObjectReader::of((*nests)[i], "request", "nests[" + std::to_string(i) + "]"));
    tuning_db::WantedNest wanted;
    TRY(wanted.structural_hash, hash(one, "structural_hash"));
    TRY(wanted.sizes, one.integers("sizes"));
    TRY(wanted.reassociate, one.boolean("reassociate"));
    TRY(wanted.nest, nest(one));
    TRY_VOID(one.done());
    TRY_VOID(tuning_db::check(wanted));
    request.nests.push_back(std::move(wanted));
  }
  return request;
}

std::string to_json(const std::vector<tuning_db::Wanted>& nests) {
  Json all = Json::array();
  for (const tuning_db::Wanted& one : nests) {
    Json nest = parsed(one.nest_json), sizes = parsed(one.sizes_json), hardware = parsed(one.hardware_json);
    // A row can be anything.
    if (nest.is_discarded() || sizes.is_discarded() || hardware.is_discarded()) continue;
    all.push_back({{"id", one.id},
                   {"nest", std::move(nest)},
                   {"structural_hash", one.structural_hash},
                   {"sizes", std::move(sizes)},
                   {"hardware", std::move(hardware)},
                   {"reassociate", one.reassociate},
                   {"work", one.work},
                   {"parties", one.parties},
                   {"time", one.time}});
  }
  return dump(Json{{"protocol", protocol_version}, {"nests", std::move(all)}});
}

std::string to_json(const Error& error) { return dump(Json{{"error", error_json(error)}}); }

Error error_from_json(std::string_view text) {
  const auto read = [&]() -> Result<Error> {
    TRY(const Json json, parse_json(text, "reply", {.bytes = 64 << 10, .depth = 8}));
    TRY(auto in, ObjectReader::of(json, "reply", ""));
    TRY(const Json* body, in.object("error"));
    return read_error(*body, "reply", "error");
  }();
  return read ? *read : read.error();
}

}  // namespace sous::server
