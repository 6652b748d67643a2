#include "server/answer_texts.h"

#include <utility>

namespace sous::server {

std::optional<MatchText> AnswerTexts::known(const std::string& id) {
  const std::lock_guard lock(mutex_);
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? std::nullopt : std::optional(found->second);
}

void AnswerTexts::keep(const std::string& id, const MatchText& text) {
  const std::size_t bytes = text.fields->size() + text.nest->size();
  const std::lock_guard lock(mutex_);
  if (by_id_.size() >= most || bytes_ + bytes > most_bytes) {
    by_id_.clear();
    bytes_ = 0;
  }
  if (by_id_.try_emplace(id, text).second) bytes_ += bytes;
}

Result<std::vector<std::vector<MatchText>>> AnswerTexts::of(tuning_db::Database& database,
                                                            const tuning_db::RankedEntries& ranked, int k) {
  std::vector<std::vector<MatchText>> result;
  for (const auto& entries : ranked.nests) {
    auto& texts = result.emplace_back();
    for (const auto& [entry, distance] : entries) {
      if (texts.size() == static_cast<std::size_t>(k)) break;
      auto text = known(entry->id);
      if (!text) {
        TRY(auto told, database.tell(*entry));
        if (!told) continue;
        text = MatchText{0, std::make_shared<const std::string>(fields_text(told->match)), std::move(told->nest)};
        keep(entry->id, *text);
      }
      text->distance = distance;
      texts.push_back(std::move(*text));
    }
  }
  return result;
}

}  // namespace sous::server
