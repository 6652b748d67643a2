// The bytes of a server's answer: read as HTTP, then as a reply; the recipes in it are fitted to the nest that asked
// and applied, as a build does; a job in it is looked at as a worker does.
#include "client/choose.h"
#include "client/contained.h"
#include "client/http_source.h"
#include "client/promise.h"
#include "sdfg/check.h"
#include "sdfg/text.h"
#include "server/job_protocol.h"
#include "server/protocol.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/nests.h"
#include "transforms/apply.h"
#include "transforms/roles.h"

using namespace sous;

SOUS_FUZZ_TARGET(input) {
  (void)client::parse_url(input.substr(0, 1000));
  const auto response = client::parse_response(input, {.deadline = {}, .longest_body = std::size_t{1} << 20});
  if (!response) return;
  SOUS_ASSERT(response->status >= 100 && response->status <= 599 && response->body.size() <= (1 << 20));
  if (const auto taken = server::taken_from_json(response->body); taken)
    for (const auto& one : *taken)
      for (const char c : one.error.to_string()) SOUS_ASSERT(static_cast<unsigned char>(c) >= ' ');
  if (const auto leased = server::lease_reply_from_json(response->body); leased && leased->job) {
    SOUS_ASSERT(leased->job->wanted.has_value() != leased->job->entry.has_value());
    if (leased->job->wanted) (void)client::contained(leased->job->wanted->nest, leased->job->wanted->sizes);
    if (leased->job->entry) (void)client::contained(leased->job->entry->nest, leased->job->entry->sizes);
  }
  const auto answer = client::HttpSource::read_answer(*response, 1, 8, "http://server");
  if (!answer) {
    // It is printed as a note of the build: no control characters of the server's.
    for (const char c : answer.error().why) SOUS_ASSERT(c == '\n' || static_cast<unsigned char>(c) >= ' ');
    return;
  }
  SOUS_ASSERT(answer->size() == 1 && answer->front().size() <= 8);
  const auto here = sdfg::parse(fuzz::product);
  for (const auto& match : answer->front()) {
    (void)client::not_evidence(match, "4^10:8", "x86-64:avx2:8c:l2=1M:l3=32M");
    const auto fitted = transforms::match_roles(match.recipe, match.nest, *here);
    if (!fitted) continue;
    transforms::ApplyOptions options;
    options.budget.operations = 200'000;
    const auto applied = transforms::apply(*here, *fitted, options);
    if (applied) SOUS_ASSERT(sdfg::check(*applied) || sdfg::check(*applied).error().code == "sdfg.depth");
  }
}
