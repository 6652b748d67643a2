// The recipe server without its sockets: a request goes in, a response comes out. Threads may share one.
//
//   POST /v1/query          matches for all nests of a translation unit (server/protocol.h)
//   POST /v1/recipes        entries that a client measured
//   GET  /v1/recipes/{id}   one entry of the database (tuning-db/entry.h)
//   POST /v1/wanted         nests for which a build found no good recipe
//   GET  /v1/wanted         what is wanted, for who works on it
//   POST /v1/jobs/lease     a job for a worker (server/job_protocol.h)
//   POST /v1/jobs/renew, /v1/jobs/done: what becomes of it
//   GET  /v1/jobs           who works on what
//   GET  /v1/steps          the declarations of all recipe steps
//   GET  /v1/map            the nests of the database, and where each stands among them (server/catalogue.h)
//   GET  /v1/nests          the nests that are searched for
//   GET  /v1/nests/{hash}   one nest with its measurements
//   GET  /v1/pictures/{hash}  the same as a picture
//   GET  /v1/machines       the classes of machines, and what they lack
//   POST /v1/lift           what the nests of a C text are (server/lift.h)
//   GET  /, /page/{file}    the page that shows all of it to people (server/page/)
//   GET  /healthz           whether it can answer
//   GET  /livez             that it runs
//   GET  /metrics           counters, in the Prometheus text format
//
// Whatever a client sends wrong is answered with 4xx and {"error": {"code", "why"}}: 400 (what the protocol refuses,
// with its code), 401 (token.missing, token.unknown), 403 (token.scope, server.read-only), 404 (request.path,
// recipe.not-found), 405 (request.method), 409 (job.lease), 413 (request.budget), 429 (request.rate).
#pragma once

#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/access.h"
#include "server/answer_texts.h"
#include "server/catalogue.h"
#include "server/lift.h"
#include "server/log.h"
#include "server/metrics.h"
#include "server/protocol.h"
#include "server/rate_limits.h"
#include "tuning-db/atlas.h"
#include "tuning-db/database.h"
#include "tuning-db/ledger.h"

namespace sous::server {

struct Request {
  std::string method;  // "GET", "POST", …
  std::string path;    // without the query string
  std::string body;
  std::string authorization = {};  // the header's value
  std::string address = {};        // of who asks (party_of_address)
  bool gzip = false;               // the answer may come so
  std::string query = {};          // behind the path's question mark
  std::string if_none_match = {};  // the header's value
  std::string encoding = {};       // of the body: Content-Encoding
};

struct Response {
  int status = 200;
  std::string body;
  std::string content_type = "application/json";
  std::string content_encoding = {};                              // empty: as it is
  std::string allow = {};                                         // of a 405: the methods that the path knows
  int retry_after = 0;                                            // of a 429 or 503: seconds; 0: nothing is said
  bool wants_token = false;                                       // a 401
  std::vector<std::pair<std::string, std::string>> headers = {};  // others
};

// What a request waits for: each lane has threads of its own.
enum class Lane {
  ask,    // answered within milliseconds, by as many threads as there are processors
  write,  // recipes are proven, and a file is written: by one thread, behind a queue of its own
  apart,  // answered in no time, whatever the others do
  tell,   // for who watches it: as `apart`, but that the database may be asked
  lift,   // looks at C in a process of its own, which may take seconds: one at a time
};

// Who may do what without more than a token.
struct Policy {
  bool read_only = false;   // nobody writes
  bool is_private = false;  // nobody asks without the scope read
  int lease_seconds = 60;   // that a worker holds a job without a word
  Rates rates = {};         // for each party
};

class Routes {
 public:
  Routes(tuning_db::Database& database, tuning_db::Ledger& ledger, Policy policy = {}, Lifter lifter = Lifter({}))
      : database_(database), ledger_(ledger), policy_(policy), limits_(policy.rates), lifter_(std::move(lifter)) {}
  Response handle(const Request& request);
  // What the head of a request alone says is in vain: an unknown path or method, or a missing token. It asks nobody and
  // is charged to the address. Nullopt: `handle` is to say.
  std::optional<Response> refuse(const Request& head);
  static Lane lane(const Request& request);
  // What the table says of each, as an array: docs/openapi.yaml is made of it (tools/openapi.py).
  static std::string table_json();
  Metrics& counters() { return counters_; }
  // From now on; before the first request.
  void log_to(Log& log) { log_ = &log; }

 private:
  struct Call {
    const Request& request;
    std::string rest;  // of the path, behind the route's prefix
    Caller caller;
  };
  // One fact, one place: what is asked where, by whom.
  struct Route {
    const char* pattern;  // also for the metrics
    const char* method;
    const char* summary;
    enum class For { everyone, readers, scope } who;
    tuning_db::Scope scope;  // that a token needs: for readers, where the server is private
    Response (Routes::*answer)(const Call&);
  };
  static std::span<const Route> routes();
  struct Answer {
    const char* route;
    Response response;
    std::string party = {};  // the name of the token
  };
  // What is at a path.
  struct Target {
    const Route* route = nullptr;  // null: nothing, or nothing of this method
    std::string rest = {};
    const char* pattern = "unknown";  // for the metrics
    std::string allowed = {};         // the methods that the path knows
  };
  static Target target_of(const Request& request);
  Answer dispatch(const Request& request);
  Response no_route(const Target& target, const Request& request);
  Answer answer(const Route& route, const Request& request, std::string rest);
  void log(const Request& request, const Answer& answer, double seconds);
  // Whether the caller may; an error: a refusal, with its status.
  struct Refusal {
    int status;
    Error error;
    int retry_after = 0;
  };
  // What needs no look at the token.
  std::expected<void, Refusal> admit_without_token(const Route& route, const Request& request) const;
  std::expected<Caller, Refusal> admit(const Route& route, const Request& request);
  // What it costs is known when a request has come, and of its nests when it is read. The error: request.rate.
  std::expected<void, Refusal> take(const Request& request, const Caller& caller, RateLimits::Kind kind, double amount);
  static Response refused(Refusal refusal);

  Response query(const Call& call);
  Response upload(const Call& call);
  Response want(const Call& call);
  Response wanted(const Call& call);
  Response lease_job(const Call& call);
  Response renew_job(const Call& call);
  Response finish_job(const Call& call);
  Response jobs(const Call& call);
  Response recipe(const Call& call);
  Response steps(const Call& call);
  // routes_page.cc
  Response map(const Call& call);
  Response nests(const Call& call);
  Response nest(const Call& call);
  Response picture(const Call& call);
  Response machines(const Call& call);
  Response lift(const Call& call);
  Response page(const Call& call);
  struct Found;
  std::expected<Found, Response> find_nest(const Call& call);

  Response health(const Call& call);
  Response alive(const Call& call);
  Response metrics(const Call& call);

  tuning_db::Database& database_;
  tuning_db::Ledger& ledger_;
  const Policy policy_;
  RateLimits limits_;
  const Lifter lifter_;
  tuning_db::Atlases atlases_;
  KeptAnswers machines_;
  AnswerTexts texts_;
  Metrics counters_;
  Log* log_ = nullptr;
};

// An error as a response.
Response refusal(int status, const Error& error);
// The body behind its encoding; the error: 400, 413 (request.budget) or 415 (request.encoding).
std::expected<std::string, Response> decoded_body(const Request& request);
// Of an error of the server's own database: whether it is worth asking again.
int status_of_database(const Error& error);
// The fault of the server's own database; everything else that goes wrong in a route came with the request.
Response internal(const Error& error);

}  // namespace sous::server
