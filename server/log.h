// What a server did, for who runs it: an object of JSON in each line. Who writes waits for nobody: a thread of its own
// brings the lines out, and what it cannot keep up with is left out and counted.
//
//   {"time":"2026-11-25T18:20:03.127Z","event":"request","method":"POST","route":"/v1/query","status":200,
//    "milliseconds":1.9,"asked":5120,"answered":1044,"party":"desk","address":"10.0.0.7"}
//
// No body, no token and no path that a client made up is in them.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

namespace sous::server {

class Log {
 public:
  enum class Level : std::uint8_t {
    none,
    events,    // what is no client's everyday: the database is lost and found, faults, who is not let in
    requests,  // and every request that reaches a route
  };
  static std::optional<Level> parse_level(std::string_view name);

  // `file`: a descriptor; it stays open.
  Log(int file, Level level);
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;
  // Brings out what is left, unless nobody takes it.
  ~Log();

  Level level() const { return level_; }
  // `fields`: an object. By any thread.
  void write(std::string_view event, nlohmann::json fields);

 private:
  void bring_out(const std::stop_token& stop);
  bool put(const std::string& line) const;

  const int file_;
  const Level level_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::deque<std::string> lines_;
  std::uint64_t left_out_ = 0;
  std::jthread thread_;  // the last member: it uses the others
};

}  // namespace sous::server
