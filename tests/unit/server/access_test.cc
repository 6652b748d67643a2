#include "server/access.h"

#include <gtest/gtest.h>

#include "server/secret.h"
#include "tuning-db/hash.h"

namespace sous::server {
namespace {

TEST(Secret, TheHashIsSha256) {
  EXPECT_EQ(hash_of("abc").value(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  for (std::size_t length = 0; length < 200; length += 7)
    EXPECT_EQ(hash_of(std::string(length, 'x')).value().substr(0, 32),
              tuning_db::content_hash(std::string(length, 'x')));
}

TEST(Secret, Comparison) {
  EXPECT_TRUE(same("", ""));
  EXPECT_TRUE(same("abc", "abc"));
  EXPECT_FALSE(same("abc", "abd"));
  EXPECT_FALSE(same("abc", "ab"));
}

TEST(Secret, NoTwoTokensAreAlike) {
  const auto a = new_token("x", {}).value(), b = new_token("x", {}).value();
  EXPECT_EQ(a.text.size(), 5u + 16 + 1 + 64);
  EXPECT_NE(a.text, b.text);
  EXPECT_NE(a.token.id, b.token.id);
  EXPECT_EQ(a.token.hash, hash_of(a.text).value());
  EXPECT_EQ(a.token.hash.find(a.text.substr(22)), std::string::npos);
}

}  // namespace
}  // namespace sous::server
