#include "client/server_rest.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "client/say_once.h"
#include "tuning-db/files.h"
#include "tuning-db/hash.h"

namespace sous::client {
namespace {

namespace fs = std::filesystem;

class Resting final : public transforms::RecipeSource {
 public:
  Resting(std::shared_ptr<transforms::RecipeSource> server, ServerRest rest, std::string name,
          std::shared_ptr<ServerTime> time)
      : server_(std::move(server)), rest_(std::move(rest)), name_(std::move(name)), time_(std::move(time)) {}
  Resting(const Resting&) = delete;
  Resting& operator=(const Resting&) = delete;
  ~Resting() override {
    if (!asked_) return;
    leave_behind(nullptr);
    if (time_->asking > time_->deadline / 2 || time_->patience.over())
      rest_.failed();
    else if (said_nothing_)
      rest_.said_nothing(time_->asking, time_->deadline);
    else
      rest_.said_something();
  }

  bool may_know(const sdfg::Sdfg& lifted) override { return server_->may_know(lifted); }
  transforms::Reach reach() override { return server_->reach(); }

  Result<std::vector<std::vector<transforms::Match>>> query(const std::vector<transforms::NestQuery>& nests,
                                                            int k) override {
    if (nests.empty()) return server_->query(nests, k);
    if (!rest_.may_ask()) return fail("http.resting", "the server was asked in vain a short while ago", name_);
    // Until nobody uses the answer any more: a guard skips what destructors would write down.
    left_ = rest_.if_it_dies();
    if (!left_.path.empty()) leave_behind(&left_);
    const auto begun = std::chrono::steady_clock::now();
    const transforms::Patience::Counting counting(time_->patience);
    auto answer = server_->query(nests, k);
    time_->asking += std::chrono::ceil<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begun);
    asked_ = answer || !ServerRest::is_silence(answer.error());
    said_nothing_ = answer && std::ranges::all_of(*answer, [](const auto& matches) { return matches.empty(); });
    if (!asked_) {
      leave_behind(nullptr);
      rest_.failed();
    }
    return answer;
  }

 private:
  std::shared_ptr<transforms::RecipeSource> server_;
  ServerRest rest_;
  std::string name_;
  std::shared_ptr<ServerTime> time_;
  bool asked_ = false, said_nothing_ = false;  // and it answered; without matches
  LeftBehind left_;
};

}  // namespace

ServerRest::ServerRest(const fs::path& folder, const std::string& server) {
  std::error_code error;
  if (folder.empty() || (fs::create_directories(folder, error), error)) return;
  stamp_ = folder / tuning_db::content_hash(server).substr(0, 16);
}

bool ServerRest::may_ask() {
  failures_ = 0;
  std::error_code error;
  const auto since = stamp_.empty() ? fs::file_time_type{} : fs::last_write_time(stamp_, error);
  if (stamp_.empty() || error) return true;
  const std::string written = tuning_db::read_file(stamp_, 64).value_or("");
  failures_ = static_cast<int>(std::clamp(std::strtol(written.c_str(), nullptr, 10), 1L, 10L));
  const auto rest = std::chrono::seconds(std::min(first_seconds << (failures_ - 1), longest_seconds));
  const auto age = fs::file_time_type::clock::now() - since;
  // A stamp of the future is one from before the clock was set back.
  if (age >= std::chrono::seconds(0) && age < rest) return false;
  // This process tries; the others rest until it knows.
  fs::last_write_time(stamp_, fs::file_time_type::clock::now(), error);
  return true;
}

bool ServerRest::is_silence(const Error& error) {
  return error.code == "http.timeout" || error.code == "http.connect" || error.code == "http.resolve" ||
         error.code == "http.io";
}

void ServerRest::tell(const Error* error) { error != nullptr&& is_silence(*error) ? failed() : answered(); }

void ServerRest::failed() {
  // Those who asked at once count as one. Where it cannot be written down, each file asks.
  if (!stamp_.empty()) static_cast<void>(tuning_db::write_file_atomically(stamp_, std::to_string(failures_ + 1)));
}

void ServerRest::answered() {
  std::error_code ignored;
  if (failures_ > 0) fs::remove(stamp_, ignored);
}

void ServerRest::said_something() {
  answered();
  std::error_code ignored;
  if (!stamp_.empty()) fs::remove(wasted(), ignored);
}

void ServerRest::said_nothing(std::chrono::milliseconds asking, std::chrono::milliseconds deadline) {
  const auto more = asking - deadline / 10;
  answered();
  if (stamp_.empty() || more.count() <= 0) return;
  std::error_code error;
  const auto age = fs::file_time_type::clock::now() - fs::last_write_time(wasted(), error);
  const bool counts = !error && age >= std::chrono::seconds(0) && age < std::chrono::seconds(longest_seconds);
  const std::string written = counts ? tuning_db::read_file(wasted(), 64).value_or("") : "";
  const long before = std::clamp(std::strtol(written.c_str(), nullptr, 10), 0L, 86'400'000L);
  const long sum = before + more.count();
  if (sum <= deadline.count()) return void(tuning_db::write_file_atomically(wasted(), std::to_string(sum)));
  fs::remove(wasted(), error);
  failed();
}

LeftBehind ServerRest::if_it_dies() const { return {stamp_.string(), std::to_string(failures_ + 1)}; }

fs::path ServerRest::wasted() const { return fs::path(stamp_) += ".wasted"; }

ServerRest rest_of(const Options& options) {
  const auto folder = cache_folder();
  const auto deadline = static_cast<long>(options.deadline * 1000);
  return {folder.empty() ? folder : folder / "resting", options.server + " " + std::to_string(deadline)};
}

std::shared_ptr<transforms::RecipeSource> resting(std::shared_ptr<transforms::RecipeSource> server, ServerRest rest,
                                                  std::string name, std::shared_ptr<ServerTime> time) {
  return std::make_shared<Resting>(std::move(server), std::move(rest), std::move(name), std::move(time));
}

}  // namespace sous::client
