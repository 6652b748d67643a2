#include "server/protocol.h"

#include <gtest/gtest.h>

#include "tests/unit/tuning_db/nests.h"
#include "tuning-db/database.h"

namespace sous::server {
namespace {

namespace nests = tuning_db::nests;

QueryReply reply() {
  auto match = tuning_db::match_of(nests::entry(nests::gemm, 500), 0.25, transforms::Origin::Server);
  match.embedding = "model-7";
  match.reach = 1.5;
  return {{{match}, {}}};
}

TEST(Protocol, RequestRoundTrip) {
  const QueryRequest request{.hardware = nests::machine(), .k = 5, .nests = {nests::asks(nests::syrk, 7)}};
  const auto back = query_request_from_json(to_json(request));
  ASSERT_TRUE(back) << back.error().to_string();
  EXPECT_EQ(to_json(*back), to_json(request));
  EXPECT_EQ(back->nests[0].nest, request.nests[0].nest);
  EXPECT_EQ(back->nests[0].sizes, request.nests[0].sizes);
}

TEST(Protocol, ReplyRoundTrip) {
  const auto back = query_reply_from_json(to_json(reply()));
  ASSERT_TRUE(back) << back.error().to_string();
  EXPECT_EQ(to_json(*back), to_json(reply()));
  EXPECT_EQ(back->matches[0][0].distance, 0.25);
  EXPECT_EQ(back->matches[0][0].embedding, "model-7");
  EXPECT_EQ(back->matches[0][0].reach, 1.5);
}

TEST(Protocol, HostileRepliesAreRefused) {
  const std::string good = to_json(reply());
  const auto code = [&](const std::string& from, const std::string& to) {
    std::string body = good;
    const std::size_t at = body.find(from);
    SOUS_ASSERT(at != std::string::npos);
    const auto read = query_reply_from_json(body.replace(at, from.size(), to));
    return read ? "" : read.error().code;
  };
  EXPECT_EQ(code("\"distance\":0.25", "\"distance\":-1"), "reply.field");
  EXPECT_EQ(code("\"id\":\"", "\"id\":\"../"), "reply.field");
  EXPECT_EQ(code("\"reach\":1.5", "\"reach\":\"far\""), "reply.field");
  EXPECT_EQ(code("\"reverse\"", "\"rm -rf\""), "recipe.unknown-step");
  EXPECT_EQ(code("\"threads\":2", "\"threads\":1e9"), "reply.field");
  EXPECT_EQ(code("\"matches\":[", "\"matches\":[7,"), "reply.field");
  EXPECT_EQ(code("\"protocol\":1", "\"protocol\":99"), "reply.version");
}

TEST(Protocol, Errors) {
  EXPECT_EQ(to_json(Error{"a.b", "because"}), R"({"error":{"code":"a.b","why":"because"}})");
  EXPECT_EQ(error_from_json(to_json(Error{"a.b", "because"})), (Error{"a.b", "because"}));
  EXPECT_EQ(error_from_json("<html>").code, "reply.json");
}

}  // namespace
}  // namespace sous::server
