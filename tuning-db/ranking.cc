#include "tuning-db/ranking.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "sdfg/planted_fault.h"

namespace sous::tuning_db {
namespace {

// What was measured on this class at this size settles what its recipe does to its nest, whatever others found.
void settle(std::vector<EntryCandidate>& candidates, const SizeClass& asked) {
  if (planted(Fault::own_class_does_not_settle)) return;
  const auto question = [](const EntryCandidate& c) { return std::uint64_t{c.nest} << 32 | c.recipe; };
  std::unordered_map<std::uint64_t, std::vector<SizeClass>> settled;  // at which sizes
  for (const EntryCandidate& c : candidates)
    if (c.own_class && c.size_speaks) settled[question(c)].push_back(*c.measured);
  if (settled.empty()) return;
  std::erase_if(candidates, [&](const EntryCandidate& c) {
    const auto known = settled.find(question(c));
    if ((c.own_class && c.size_speaks) || known == settled.end()) return false;
    // Where the size is not known, all speak, and each for its own.
    return asked.power || std::ranges::any_of(known->second, [&](const SizeClass& size) {
             return c.measured && like_size(size, *c.measured);
           });
  });
}

void tell(EntryCandidate& candidate, const DistanceOf& distance) {
  if (candidate.distance_is_open) candidate.distance = distance(candidate);
  candidate.distance_is_open = false;
}

bool before(EntryCandidate& a, EntryCandidate& b, const DistanceOf& distance) {
  if (a.kinship != b.kinship) return a.kinship < b.kinship;
  if (a.tier() != b.tier()) return a.tier() < b.tier();
  const bool near = a.kinship == Kinship::Other;
  if (!near && a.like_size != b.like_size) return a.like_size;
  if (!near && a.believed != b.believed) return a.believed > b.believed;
  tell(a, distance);
  tell(b, distance);
  if (a.distance != b.distance) return a.distance < b.distance;
  if (a.believed != b.believed) return a.believed > b.believed;  // two recipes of one nest
  return a.entry->id < b.entry->id;
}

}  // namespace

bool speaks(const std::optional<SizeClass>& measured, bool has_thresholds, const AskedSize& asked) {
  return measured && (!asked.size.power || speaks_for(*measured, has_thresholds, asked.size));
}

EntryCandidate candidate_of(const Summary& entry, double gain, bool has_thresholds,
                            const std::optional<SizeClass>& measured, const Discount& discount,
                            const AskedSize& asked) {
  return {.entry = &entry,
          .believed = discount.of(gain),
          .own_class = discount.own_class,
          .size_speaks = speaks(measured, has_thresholds, asked),
          .like_size = measured && like_size(*measured, asked.guessed),
          .measured = measured};
}

std::vector<EntryCandidate> ranked(std::vector<EntryCandidate> candidates, const SizeClass& asked,
                                   const DistanceOf& distance) {
  settle(candidates, asked);
  // Many say the same: one of each recipe is kept before they are sorted.
  std::unordered_map<std::uint32_t, std::size_t> places;
  std::vector<EntryCandidate> best;
  for (EntryCandidate& one : candidates) {
    const auto [place, is_new] = places.try_emplace(one.recipe, best.size());
    if (is_new)
      best.push_back(one);
    else if (before(one, best[place->second], distance))
      best[place->second] = one;
  }
  for (EntryCandidate& one : best) tell(one, distance);
  std::ranges::sort(best, [&](EntryCandidate& a, EntryCandidate& b) { return before(a, b, distance); });
  return best;
}

transforms::Match unread(const EntryCandidate& candidate, const Embedding& embedding) {
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
