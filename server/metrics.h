// Counters of the server in the Prometheus text format.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace sous::server {

class Metrics {
 public:
  // `route` is the route's pattern, so that clients cannot make series.
  void count_request(std::string_view route, int status, double seconds);
  // Requests that are not answered, or only 503: "queue" (full), "late" (it waited too long), "gone" (its client hung
  // up first), "memory", "connections", "handshake" (of TLS: it failed, or took too long).
  void count_shed(const char* reason);
  void count_nests(std::uint64_t exact, std::uint64_t neighbours, std::uint64_t nothing);
  // Of those that were sent, by what became of it.
  void count_entry(std::string_view taken);
  void count_wanted(std::uint64_t added);
  // Refused, because its party asked for too much: `kind`, by "token" or "address".
  void count_limited(std::string_view kind, std::string_view by);
  void count_job(std::string_view outcome);
  // `entries`: that answers are made of; `sound`: whether they are those of the database as it is now; `jobs`: there by
  // state, none where it cannot be asked.
  std::string text(std::int64_t entries, bool sound = true, const std::map<std::string, std::int64_t>& jobs = {}) const;

 private:
  static constexpr std::array<double, 7> bounds = {0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1};
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, int>, std::uint64_t> requests_;
  std::map<std::pair<std::string, std::string>, std::uint64_t> limited_;
  std::map<std::string, std::uint64_t> shed_, sent_, finished_;
  std::array<std::uint64_t, bounds.size() + 1> buckets_{};
  double seconds_ = 0;
  std::uint64_t exact_ = 0, neighbours_ = 0, nothing_ = 0, wanted_ = 0;
};

}  // namespace sous::server
