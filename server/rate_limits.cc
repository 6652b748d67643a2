#include "server/rate_limits.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

namespace sous::server {

RateLimits::RateLimits(const Rates& rates, std::function<Clock::time_point()> now)
    : rates_{rates.requests, rates.bytes, rates.nests}, now_(std::move(now)) {}

int RateLimits::take(const Party& party, Kind kind, double amount) {
  const auto k = static_cast<std::size_t>(kind);
  if (rates_[k] <= 0) return 0;
  const std::lock_guard lock(mutex_);
  double& left = bucket_of(party).left[k];
  const double missing = std::min(amount, rates_[k]) - left;
  constexpr double rounding = 1e-6;
  if (missing > rounding) return std::max(1, static_cast<int>(std::ceil(std::min(missing / rates_[k] * 60, 3600.0))));
  left -= amount;
  return 0;
}

void RateLimits::charge(const Party& party, Kind kind, double amount) {
  const auto k = static_cast<std::size_t>(kind);
  if (rates_[k] <= 0) return;
  const std::lock_guard lock(mutex_);
  bucket_of(party).left[k] -= amount;
}

std::size_t RateLimits::remembered() const {
  const std::lock_guard lock(mutex_);
  return tokens_.buckets.size() + addresses_.buckets.size();
}

RateLimits::Bucket& RateLimits::bucket_of(const Party& party) {
  Table& table = party.token_name.empty() ? addresses_ : tokens_;
  const std::string_view name = party.token_name.empty() ? party.address : party.token_name;
  if (const auto found = table.by_name.find(name); found != table.by_name.end()) {
    table.buckets.splice(table.buckets.end(), table.buckets, found->second);
  } else {
    make_room(table);
    table.buckets.emplace_back(std::string(name), Bucket{rates_, now_()});
    // The text of a list's element stays where it is.
    table.by_name.emplace(table.buckets.back().first, std::prev(table.buckets.end()));
  }
  Bucket& bucket = table.buckets.back().second;
  fill(bucket);
  return bucket;
}

void RateLimits::fill(Bucket& bucket) const {
  const auto now = now_();
  const double minutes = std::chrono::duration<double, std::ratio<60>>(now - std::exchange(bucket.at, now)).count();
  for (std::size_t k = 0; k < rates_.size(); ++k)
    bucket.left[k] = std::min(rates_[k], bucket.left[k] + std::max(0.0, minutes) * rates_[k]);
}

void RateLimits::make_room(Table& table) const {
  const auto drop_first = [&] {
    table.by_name.erase(table.buckets.front().first);
    table.buckets.pop_front();
  };
  // Two for each that comes: so what is full does not stay, whatever comes.
  for (int times = 0; times < 2 && !table.buckets.empty(); ++times) {
    fill(table.buckets.front().second);
    if (table.buckets.front().second.left != rates_) break;
    drop_first();
  }
  if (table.buckets.size() >= most) drop_first();
}

std::string_view to_string(RateLimits::Kind kind) {
  constexpr std::array<std::string_view, 3> names = {"requests", "bytes", "nests"};
  return names[static_cast<std::size_t>(kind)];
}

std::string party_of_address(std::string_view text) {
  std::string address(text.substr(0, text.find('%')));  // without the interface of a local one
  in6_addr six{};
  if (::inet_pton(AF_INET6, address.c_str(), &six) != 1) return address;
  if (IN6_IS_ADDR_V4MAPPED(&six)) return address.substr(address.rfind(':') + 1);
  std::memset(six.s6_addr + 8, 0, 8);
  std::array<char, INET6_ADDRSTRLEN> network{};
  ::inet_ntop(AF_INET6, &six, network.data(), network.size());
  return network.data();
}

}  // namespace sous::server
