#include "server/rate_limits.h"

#include <gtest/gtest.h>

#include <string>

namespace sous::server {
namespace {

using namespace std::chrono_literals;
using Kind = RateLimits::Kind;

struct Limited {
  RateLimits::Clock::time_point now{};
  RateLimits limits;
  explicit Limited(const Rates& rates) : limits(rates, [this] { return now; }) {}
  int ask(const std::string& address, Kind kind = Kind::requests, double amount = 1) {
    return limits.take({"", address}, kind, amount);
  }
};

TEST(RateLimits, AMinutesWorthAtOnceAndThenEvenly) {
  Limited limited({.requests = 60});
  for (int i = 0; i < 60; ++i) EXPECT_EQ(limited.ask("a"), 0);
  EXPECT_EQ(limited.ask("a"), 1);
  EXPECT_EQ(limited.ask("b"), 0) << "another party";
  limited.now += 1s;
  EXPECT_EQ(limited.ask("a"), 0);
  EXPECT_EQ(limited.ask("a"), 1);
  limited.now += 1h;
  for (int i = 0; i < 60; ++i) EXPECT_EQ(limited.ask("a"), 0);
  EXPECT_EQ(limited.ask("a"), 1) << "no more than a minute is saved up";
}

TEST(RateLimits, WhatIsLargerThanTheLimitIsPaidAfterwards) {
  Limited limited({.bytes = 600});
  EXPECT_EQ(limited.ask("a", Kind::bytes, 1200), 0);
  EXPECT_EQ(limited.ask("a", Kind::bytes, 1), 61);
  EXPECT_EQ(limited.ask("a"), 0) << "requests are counted apart";
  limited.now += 59s;
  EXPECT_EQ(limited.ask("a", Kind::bytes, 1), 2);
  limited.now += 2s;
  EXPECT_EQ(limited.ask("a", Kind::bytes, 1), 0);
  limited.limits.charge({"", "a"}, Kind::bytes, 100);
  EXPECT_GT(limited.ask("a", Kind::bytes, 1), 1) << "what was given is charged whatever is left";
}

TEST(RateLimits, TokensAndAddressesAreDifferentParties) {
  Limited limited({.requests = 1, .nests = 0});
  EXPECT_EQ(limited.limits.take({"desk", "a"}, Kind::requests, 1), 0);
  EXPECT_GT(limited.limits.take({"desk", "b"}, Kind::requests, 1), 0) << "one name, wherever it is shown";
  EXPECT_EQ(limited.limits.take({"", "a"}, Kind::requests, 1), 0);
  EXPECT_EQ(limited.limits.take({"", "desk"}, Kind::requests, 1), 0);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(limited.limits.take({"desk", "a"}, Kind::nests, 1e9), 0) << "0: no limit";
}

TEST(RateLimits, WhatIsRememberedIsBounded) {
  Limited limited({.requests = 60});
  limited.limits.take({"desk", ""}, Kind::requests, 120);
  for (std::size_t i = 0; i < RateLimits::most + 10; ++i) limited.ask("a" + std::to_string(i));
  EXPECT_EQ(limited.limits.remembered(), RateLimits::most + 1);
  EXPECT_GT(limited.limits.take({"desk", ""}, Kind::requests, 1), 1) << "addresses push out no token";
  limited.now += 2min;
  for (std::size_t i = 0; i < RateLimits::most; ++i) limited.ask("b");
  for (std::size_t i = 0; i < RateLimits::most; ++i) limited.ask("c" + std::to_string(i)), limited.now += 2s;
  EXPECT_LT(limited.limits.remembered(), 10U) << "full buckets are forgotten";
}

TEST(RateLimits, OneCustomerOfAProviderIsOneParty) {
  EXPECT_EQ(party_of_address("192.0.2.7"), "192.0.2.7");
  EXPECT_EQ(party_of_address("::ffff:192.0.2.7"), "192.0.2.7");
  EXPECT_EQ(party_of_address("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::");
  EXPECT_EQ(party_of_address("fe80::1%eth0"), "fe80::");
  EXPECT_EQ(party_of_address("::1"), "::");
}

}  // namespace
}  // namespace sous::server
