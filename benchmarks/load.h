// A load on HTTP servers, as many clients make it: requests begin when they are due, whether those before them were
// answered or not, and the time of each is counted from then on. One thread; requests wait only where all connections
// are in use.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sdfg/result.h"

namespace sous::benchmarks {

struct Load {
  std::vector<int> ports;             // of 127.0.0.1, asked in turns
  std::vector<std::string> requests;  // whole ones, in HTTP/1.1, sent in turns
  double rate = 200;                  // a second
  double seconds = 10;
  double deadline = 2;  // an answer that takes longer is none
  int connections = 64;
};

struct LoadResult {
  std::vector<double> seconds;       // of those that were answered with 200 within the deadline
  std::map<int, int> by_status;      // all answers
  int sent = 0, late = 0, lost = 0;  // lost: the connection ended without one
};

// Error: bench.load (no connection can be made).
Result<LoadResult> run_load(const Load& load);

}  // namespace sous::benchmarks
