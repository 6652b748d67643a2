// Which entries come before which for the build that asks (tuning-db/database.h has the order).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tuning-db/belief.h"
#include "tuning-db/size_class.h"
#include "tuning-db/store.h"

namespace sous::tuning_db {

// What an entry's nest is to the one that is asked about: the same, the same but for its sizes, another.
enum class Kinship : std::uint8_t { Same, OtherSizes, Other };

// The size that is asked about; where it is not known, `guessed` is what the arrays of the nest suggest.
struct AskedSize {
  SizeClass size, guessed;
};

inline int tier_of(double believed, bool size_speaks, bool own_class) {
  if (!(believed > 1)) return 3;
  if (!size_speaks) return 2;
  return own_class ? 0 : 1;
}

// An entry that may be returned, before its nest is read.
struct EntryCandidate {
  const Summary* entry = nullptr;
  // Of its recipe, and of its nest whatever its sizes: equal where these are.
  std::uint32_t recipe = 0, nest = 0;
  double distance = 0;
  bool distance_is_open = false;  // to be asked for where the order depends on it
  Kinship kinship = Kinship::Other;
  double believed = 0;       // times faster here
  bool own_class = false;    // measured on this class
  bool size_speaks = false;  // measured at a size that speaks for the one asked
  bool like_size = false;    // at one like it, where it is known or can be guessed
  std::optional<SizeClass> measured = std::nullopt;
  // 0: a gain measured on this class at this size; 1: one that is believed; 2: at another size; 3: none.
  int tier() const { return tier_of(believed, size_speaks, own_class); }
};

// Whether what was measured at this size, if it is one, is evidence at the one asked.
bool speaks(const std::optional<SizeClass>& measured, bool has_thresholds, const AskedSize& asked);

// What it says comes beside the entry, which is not looked at: `measured`, its size class, if that is one; `discount`,
// of its machine and threads.
EntryCandidate candidate_of(const Summary& entry, double gain, bool has_thresholds,
                            const std::optional<SizeClass>& measured, const Discount& discount, const AskedSize& asked);

// Of each recipe the best, in order. What others measured does not count where a measurement on this class at this size
// settles what the recipe does to its nest. `distance`: of those that are open; it is asked for the few that are
// returned, and where two are equal but for that.
using DistanceOf = std::function<double(const EntryCandidate&)>;
std::vector<EntryCandidate> ranked(std::vector<EntryCandidate> candidates, const SizeClass& asked,
                                   const DistanceOf& distance = {});

// What is known without reading all of the entry: it has no recipe and no nest.
transforms::Match unread(const EntryCandidate& candidate, const Embedding& embedding);

}  // namespace sous::tuning_db
