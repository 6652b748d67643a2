// Apart from stats.cc: what a report holds is the pipeline's, and not every program has it.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "client/explain.h"
#include "client/stats.h"

namespace sous::client {
namespace {

using nlohmann::json;
using std::string;

constexpr std::size_t most_nests = 16;  // of one file, in the log

json nests_of(const Report& report) {
  json nests = json::array();
  for (const std::size_t k : hottest_first(report)) {
    if (nests.size() == most_nests) break;
    const NestReport& nest = report.nests[k];
    json one{{"file", nest.file},
             {"function", nest.function},
             {"line", nest.line},
             {"served", nest.served},
             {"work", nest.work}};
    if (nest.served) {
      one["ratio"] = nest.expected_ratio;
    } else {
      one["why"] = kind_of(nest).substr(0, longest_logged_reason);
    }
    nests.push_back(std::move(one));
  }
  return nests;
}

}  // namespace

string stats_facts(const Report& report) {
  const auto& nests = report.nests;
  json codes = json::object();
  for (const auto& reason : report.reasons) {
    json& count = codes[reason.code];
    count = (count.is_number() ? count.get<int>() : 0) + 1;
  }
  const json facts{{"lifted", nests.size()},
                   {"served", std::count_if(nests.begin(), nests.end(), [](const NestReport& n) { return n.served; })},
                   {"unlifted", std::move(codes)},
                   {"nests", nests_of(report)}};
  return facts.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace sous::client
