#include "server/log.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <utility>

namespace sous::server {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_lines = 8192;
// Of a pipe that can be written this much is taken at once (PIPE_BUF).
constexpr std::size_t longest_line = 4096, longest_text = 1024;
constexpr int patience_milliseconds = 1000;

std::string time_now() {
  const auto now = std::chrono::system_clock::now();
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  const auto milliseconds =
      std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1000;
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts);
  const std::string fraction = std::to_string(1000 + milliseconds);
  return std::string(text.data()) + "." + fraction.substr(1) + "Z";
}

std::string line_of(std::string_view event, const nlohmann::json& fields) {
  Json line{{"time", time_now()}, {"event", event}};
  for (const auto& [name, value] : fields.items()) {
    if (!value.is_string())
      line[name] = value;
    else
      line[name] = value.get<std::string>().substr(0, longest_text);
  }
  return line.dump(-1, ' ', true, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::optional<Log::Level> Log::parse_level(std::string_view name) {
  if (name == "none") return Level::none;
  if (name == "events") return Level::events;
  if (name == "requests") return Level::requests;
  return std::nullopt;
}

Log::Log(int file, Level level) : file_(file), level_(level) {
  if (level != Level::none) thread_ = std::jthread([this](const std::stop_token& stop) { bring_out(stop); });
}

Log::~Log() = default;

void Log::write(std::string_view event, nlohmann::json fields) {
  if (level_ == Level::none) return;
  std::string line = line_of(event, fields);
  const std::lock_guard lock(mutex_);
  if (lines_.size() >= most_lines || line.size() > longest_line) {
    ++left_out_;
    return;
  }
  lines_.push_back(std::move(line));
  wake_.notify_one();
}

// False: nobody takes it.
bool Log::put(const std::string& line) const {
  for (std::size_t done = 0; done < line.size();) {
    pollfd file{file_, POLLOUT, 0};
    if (::poll(&file, 1, patience_milliseconds) <= 0) return false;
    const ssize_t written = ::write(file_, line.data() + done, std::min(line.size() - done, longest_line));
    if (written < 0 && errno != EINTR && errno != EAGAIN) return false;
    done += written > 0 ? static_cast<std::size_t>(written) : 0;
  }
  return true;
}

void Log::bring_out(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (wake_.wait(lock, stop, [&] { return !lines_.empty(); }) || !lines_.empty()) {
    std::string line = std::move(lines_.front());
    lines_.pop_front();
    if (const std::uint64_t missing = std::exchange(left_out_, 0); missing > 0)
      line = line_of("left-out", {{"lines", missing}}) + line;
    lock.unlock();
    const bool taken = put(line);
    lock.lock();
    if (!taken && stop.stop_requested()) return;
    if (!taken) ++left_out_;
  }
}

}  // namespace sous::server
