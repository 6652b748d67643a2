#include "tuning-db/ranking.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "sdfg/planted_fault.h"
#include "tuning-db/belief.h"

namespace sous::tuning_db {
namespace {

// What was measured on this class at this size settles what its recipe does to its nest, whatever others found.
void settle(std::vector<Candidate>& candidates) {
  if (planted(Fault::own_class_does_not_settle)) return;
  using Question = std::pair<std::string_view, std::string_view>;
  std::set<Question> settled;
  const auto question = [](const Candidate& c) { return Question(c.entry->structural_hash, c.entry->recipe_json); };
  for (const Candidate& c : candidates)
    if (c.own_class && c.size_speaks) settled.insert(question(c));
  std::erase_if(candidates,
                [&](const Candidate& c) { return !(c.own_class && c.size_speaks) && settled.contains(question(c)); });
}

bool before(const Candidate& a, const Candidate& b) {
  if (a.exact != b.exact) return a.exact;
  if (a.tier() != b.tier()) return a.tier() < b.tier();
  if (a.exact && a.believed != b.believed) return a.believed > b.believed;
  if (a.distance != b.distance) return a.distance < b.distance;
  if (a.believed != b.believed) return a.believed > b.believed;  // two recipes of one nest
  return a.entry->id < b.entry->id;
}

}  // namespace

Candidate candidate_of(const Summary& entry, const std::string& hardware, const SizeClass& asked) {
  const Belief belief = believe(entry.ratio(), entry.threads, entry.hardware_class, hardware);
  const auto measured = parse_size_class(entry.size_class);
  return {.entry = &entry,
          .believed = belief.ratio,
          .own_class = belief.own_class,
          .size_speaks = measured && (!asked.power || like_size(*measured, asked))};
}

void rank(std::vector<Candidate>& candidates) {
  settle(candidates);
  std::ranges::sort(candidates, before);
}

}  // namespace sous::tuning_db
