// What client and server say to each other: JSON over HTTP, version 1 (docs/openapi.yaml). Both sides read strictly:
// each text that comes in is checked down to the recipe's parameters and the nest's rules, and refused with a code.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sdfg/result.h"
#include "transforms/source.h"
#include "tuning-db/entry.h"
#include "tuning-db/hardware.h"
#include "tuning-db/wanted.h"

namespace sous::server {

inline constexpr int protocol_version = 1;
inline constexpr std::size_t longest_request = std::size_t{8} << 20;
inline constexpr std::size_t longest_reply = std::size_t{32} << 20;
inline constexpr int most_nests = 256;   // in one request
inline constexpr int most_matches = 32;  // for one nest

// POST /v1/query: all nests of a translation unit.
struct QueryRequest {
  tuning_db::Hardware hardware;  // of the machine that asks
  int k = 3;
  std::vector<transforms::NestQuery> nests;
};
std::string to_json(const QueryRequest& request);
// Errors: request.json, request.budget, request.field, request.version; hardware.*; the nest's own (sdfg.*).
Result<QueryRequest> query_request_from_json(std::string_view json);

struct QueryReply {
  std::vector<std::vector<transforms::Match>> matches;  // parallel to the request's nests, best first
};
std::string to_json(const QueryReply& reply);
// The same of matches as text. `fields`: all but distance and nest, which are the same in every answer.
struct MatchText {
  double distance = 0;
  std::shared_ptr<const std::string> fields, nest;
};
std::string fields_text(const transforms::Match& match);
std::string to_json(const std::vector<std::vector<MatchText>>& matches);
// Matches get the source "server". `patience`: when it is over, reading ends (null: never). Errors: reply.json,
// reply.budget, reply.field, reply.version, reply.time; recipe.*, sdfg.*.
Result<QueryReply> query_reply_from_json(std::string_view json, const transforms::Patience* patience = nullptr);

// POST /v1/recipes: what a client measured. Each entry stands for itself: what is wrong with one is no matter of the
// others.
inline constexpr int most_entries = 64;  // in one request
std::string to_json(const std::vector<tuning_db::Entry>& entries);
// Parallel to the request's entries. Errors: request.json, request.budget, request.field, request.version; of an entry
// those of entry_from_json.
Result<std::vector<Result<tuning_db::Entry>>> entries_from_json(std::string_view json);

// What became of an entry. added: it was new; known: it was there; refused: with an error; later: the server had no
// time left for it, and would have for what is sent again.
enum class Taken { added, known, refused, later };
std::string_view to_string(Taken taken);
struct TakenEntry {
  Taken taken = Taken::later;
  std::string id = {};     // of what was added or known
  Error error = {"", ""};  // of what was refused
};
std::string to_json(const std::vector<TakenEntry>& entries);
// Errors: reply.*.
Result<std::vector<TakenEntry>> taken_from_json(std::string_view json);

// POST /v1/wanted: nests for which a build found no good recipe. Never source text: normal forms, with their sizes.
struct WantedRequest {
  tuning_db::Hardware hardware;  // of the machine, as the build uses it
  std::vector<tuning_db::WantedNest> nests;
};
std::string to_json(const WantedRequest& request);
// Errors: request.*, hardware.*, the nest's own (sdfg.*, wanted.nest).
Result<WantedRequest> wanted_request_from_json(std::string_view json);
// GET /v1/wanted: the same, as the database keeps them.
std::string to_json(const std::vector<tuning_db::Wanted>& nests);

// {"error": {"code": …, "why": …}}
std::string to_json(const Error& error);
// The error in such a body; reply.json or reply.field if it is none.
Error error_from_json(std::string_view json);

}  // namespace sous::server
