// The recipe server without its sockets: a request goes in, a response comes out. Threads may share one.
//
//   POST /v1/query          matches for all nests of a translation unit (server/protocol.h)
//   GET  /v1/recipes/{id}   one entry of the database (tuning-db/entry.h)
//   GET  /v1/steps          the declarations of all recipe steps
//   GET  /healthz           whether it can answer
//   GET  /metrics           counters, in the Prometheus text format
//
// Whatever a client sends wrong is answered with 4xx and {"error": {"code", "why"}}: 400 (what the protocol refuses,
// with its code), 404 (request.path, recipe.not-found), 405 (request.method), 413 (request.budget).
#pragma once

#include <string>

#include "server/metrics.h"
#include "tuning-db/database.h"

namespace sous::server {

struct Request {
  std::string method;  // "GET", "POST", …
  std::string path;    // without the query string
  std::string body;
};

struct Response {
  int status = 200;
  std::string body;
  std::string content_type = "application/json";
  std::string allow = {};  // of a 405: the methods that the path knows
  int retry_after = 0;     // of a 503: seconds; 0: nothing is said
};

class Routes {
 public:
  explicit Routes(tuning_db::Database& database) : database_(database) {}
  Response handle(const Request& request);
  // Answered in no time: does not wait for other requests.
  static bool is_apart(const Request& request) { return request.path == "/healthz" || request.path == "/metrics"; }
  Metrics& counters() { return counters_; }

 private:
  struct Answer {
    const char* route;  // the pattern, for the metrics
    Response response;
  };
  Answer dispatch(const Request& request);
  Response query(const std::string& body);
  Response recipe(const std::string& id);
  Response health();
  Response metrics();

  tuning_db::Database& database_;
  Metrics counters_;
};

// An error as a response.
Response refusal(int status, const Error& error);

}  // namespace sous::server
