// How much one party may ask in a minute: who shows a token, by the token's name, and who shows none, by address. Each
// has a bucket that fills evenly and holds a minute's worth. What is in it is given; of a full one also what is more
// than that, and leaves a debt: so a single large request is answered, and pays for itself afterwards.
//
// No more than `most` of either are remembered. A full bucket is as good as none and is forgotten first; then the one
// that was not touched for the longest. Addresses cannot push out tokens, of which there are as many as somebody made.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

namespace sous::server {

// In a minute; 0: as much as it likes.
struct Rates {
  double requests = 12'000, bytes = double{1 << 20} * 512, nests = 60'000;
};

class RateLimits {
 public:
  using Clock = std::chrono::steady_clock;
  enum class Kind : std::size_t { requests, bytes, nests };  // in the order of Rates
  static constexpr std::size_t most = 65'536;

  explicit RateLimits(const Rates& rates, std::function<Clock::time_point()> now = Clock::now);

  struct Party {
    std::string_view token_name;  // empty: it showed none
    std::string_view address;
  };
  // Seconds after which there is enough, at least 1; 0: it was taken.
  int take(const Party& party, Kind kind, double amount);
  // What was given already: takes it in any case.
  void charge(const Party& party, Kind kind, double amount);
  std::size_t remembered() const;

 private:
  struct Bucket {
    std::array<double, 3> left;
    Clock::time_point at;
  };
  struct Table {
    std::list<std::pair<std::string, Bucket>> buckets = {};  // what was touched last at the end
    std::unordered_map<std::string_view, std::list<std::pair<std::string, Bucket>>::iterator> by_name = {};
  };
  // Filled up to now.
  Bucket& bucket_of(const Party& party);
  void fill(Bucket& bucket) const;
  void make_room(Table& table) const;

  const std::array<double, 3> rates_;
  const std::function<Clock::time_point()> now_;
  mutable std::mutex mutex_;
  Table tokens_, addresses_;
};

std::string_view to_string(RateLimits::Kind kind);

// As buckets know it: of IPv6 what a provider gives to one customer (/64), of IPv4 in that form the IPv4.
std::string party_of_address(std::string_view address);

}  // namespace sous::server
