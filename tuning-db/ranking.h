// Which entries come before which for the build that asks (tuning-db/database.h has the order).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tuning-db/belief.h"
#include "tuning-db/size_class.h"
#include "tuning-db/store.h"

namespace sous::tuning_db {

// What an entry's nest is to the one that is asked about: the same, the same but for its sizes, another.
enum class Kinship : std::uint8_t { Same, OtherSizes, Other };

// An entry that may be returned, before its nest is read.
struct Candidate {
  const Summary* entry = nullptr;
  double distance = 0;
  Kinship kinship = Kinship::Other;
  double believed = 0;       // times faster here
  bool own_class = false;    // measured on this class
  bool size_speaks = false;  // measured at a size that speaks for the one asked
  bool like_size = false;    // at one like it, where it is known or can be guessed
  // 0: a gain measured on this class at this size; 1: one that is believed; 2: at another size; 3: none.
  int tier() const {
    if (!(believed > 1)) return 3;
    if (!size_speaks) return 2;
    return own_class ? 0 : 1;
  }
};

// `asked`: the size that is asked about. `guessed`: the same, or, where that is not known, what the arrays of the nest
// suggest.
Candidate candidate_of(const Summary& entry, Beliefs& beliefs, const SizeClass& asked, const SizeClass& guessed);

// Takes out what others measured where a measurement on this class at this size settles what the recipe does to its
// nest, and sorts, best first.
void rank(std::vector<Candidate>& candidates, const SizeClass& asked);

// What is known without reading all of the entry: it has no recipe and no nest.
transforms::Match unread(const Candidate& candidate, const Embedding& embedding);

}  // namespace sous::tuning_db
