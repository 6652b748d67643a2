#include "client/kept_answers.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <utility>

#include "tuning-db/hash.h"

namespace sous::client {
namespace {

using std::string;

std::optional<std::int64_t> seconds_of(const string& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

}  // namespace

std::vector<string> server_state(const Options& options) {
  if (options.server.empty()) return {};
  std::vector<string> state{options.server};
  for (const char* name : {"SOUS_TOKEN", "SOUS_CA_FILE"}) {
    const char* value = std::getenv(name);
    state.emplace_back(value == nullptr ? "" : value);
  }
  return state;
}

KeptAnswers::KeptAnswers(const ResultCache& cache, const Options& options, std::int64_t now)
    : cache_(cache), server_(server_state(options)), seconds_(options.answers), now_(now) {}

string KeptAnswers::key(const string& request) const {
  auto pieces = server_;
  pieces.insert(pieces.end(), {"answer", request});
  return result_key(pieces);
}

std::optional<string> KeptAnswers::find(const string& key) const {
  if (seconds_ == 0) return std::nullopt;
  auto texts = cache_.find_texts(key);
  if (!texts || texts->size() != 2) return std::nullopt;
  const auto since = seconds_of(texts->front());
  if (!since || *since < 0 || *since > now_ || now_ - *since >= seconds_) return std::nullopt;
  return std::move(texts->back());
}

void KeptAnswers::keep(const string& key, const string& answer) const {
  constexpr mode_t owner_alone = 0600;
  if (seconds_ > 0 && answer.size() <= longest) cache_.keep_texts(key, {std::to_string(now_), answer}, owner_alone);
}

bool KeptAnswers::hold(const std::vector<Asked>& asked) const {
  return std::ranges::all_of(asked, [&](const Asked& one) {
    const auto answer = find(one.key);
    return answer && tuning_db::content_hash(*answer) == one.answer;
  });
}

std::optional<string> FileAnswers::said(const string& request) const {
  const auto found = new_.find(request);
  return found != new_.end() ? std::optional(found->second) : std::nullopt;
}

void FileAnswers::answered(const string& request, string answer) { new_[request] = std::move(answer); }

void FileAnswers::used(const string& request, const string& answer) {
  used_.push_back({kept_.key(request), tuning_db::content_hash(answer), request});
}

std::vector<Asked> FileAnswers::keep() const {
  for (const Asked& one : used_)
    if (const auto found = new_.find(one.request); found != new_.end()) kept_.keep(one.key, found->second);
  return used_;
}

}  // namespace sous::client
