#include "tuning-db/ranking.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "sdfg/planted_fault.h"

namespace sous::tuning_db {
namespace {

// What was measured on this class at this size settles what its recipe does to its nest, whatever others found.
void settle(std::vector<Candidate>& candidates, const SizeClass& asked) {
  if (planted(Fault::own_class_does_not_settle)) return;
  using Question = std::pair<std::string_view, std::string_view>;
  std::map<Question, std::vector<std::string_view>> settled;  // at which sizes
  const auto question = [](const Candidate& c) {
    const bool derived = !c.entry->sizeless.empty();
    return Question(derived ? c.entry->sizeless : c.entry->structural_hash, c.entry->recipe_json);
  };
  for (const Candidate& c : candidates)
    if (c.own_class && c.size_speaks) settled[question(c)].push_back(c.entry->size_class);
  std::erase_if(candidates, [&](const Candidate& c) {
    const auto known = settled.find(question(c));
    if ((c.own_class && c.size_speaks) || known == settled.end()) return false;
    // Where the size is not known, all speak, and each for its own.
    return asked.power || std::ranges::any_of(known->second, [&](std::string_view size) {
             return like_size(size, c.entry->size_class);
           });
  });
}

bool before(const Candidate& a, const Candidate& b) {
  if (a.kinship != b.kinship) return a.kinship < b.kinship;
  if (a.tier() != b.tier()) return a.tier() < b.tier();
  const bool near = a.kinship == Kinship::Other;
  if (!near && a.like_size != b.like_size) return a.like_size;
  if (!near && a.believed != b.believed) return a.believed > b.believed;
  if (a.distance != b.distance) return a.distance < b.distance;
  if (a.believed != b.believed) return a.believed > b.believed;  // two recipes of one nest
  return a.entry->id < b.entry->id;
}

}  // namespace

Candidate candidate_of(const Summary& entry, Beliefs& beliefs, const SizeClass& asked, const SizeClass& guessed) {
  const Belief belief = beliefs.of(entry.ratio(), entry.threads, entry.hardware_class);
  const auto measured = parse_size_class(entry.size_class);
  return {.entry = &entry,
          .believed = belief.ratio,
          .own_class = belief.own_class,
          .size_speaks = measured && (!asked.power || speaks_for(*measured, entry.has_thresholds, asked)),
          .like_size = measured && like_size(*measured, guessed)};
}

void rank(std::vector<Candidate>& candidates, const SizeClass& asked) {
  settle(candidates, asked);
  std::ranges::sort(candidates, before);
}

transforms::Match unread(const Candidate& candidate, const Embedding& embedding) {
  transforms::Match match;
  match.distance = candidate.distance;
  match.embedding = embedding.version();
  match.reach = embedding.reach();
  match.id = candidate.entry->id;
  match.name = candidate.entry->name;
  match.evidence.size_class = candidate.entry->size_class;
  match.evidence.baseline_seconds = candidate.entry->baseline_seconds;
  match.evidence.tuned_seconds = candidate.entry->tuned_seconds;
  match.evidence.hardware = candidate.entry->hardware_class;
  return match;
}

}  // namespace sous::tuning_db
