// Which entries come before which for the build that asks (tuning-db/database.h has the order).
#pragma once

#include <string>
#include <vector>

#include "tuning-db/size_class.h"
#include "tuning-db/store.h"

namespace sous::tuning_db {

// An entry that may be returned, before its nest is read.
struct Candidate {
  const Summary* entry = nullptr;
  double distance = 0;
  bool exact = false;
  double believed = 0;       // times faster here
  bool own_class = false;    // measured on this class
  bool size_speaks = false;  // measured at a size that speaks for the one asked
  // 0: a gain measured on this class at this size; 1: one that is believed; 2: at another size; 3: none.
  int tier() const {
    if (!(believed > 1)) return 3;
    if (!size_speaks) return 2;
    return own_class ? 0 : 1;
  }
};

Candidate candidate_of(const Summary& entry, const std::string& hardware, const SizeClass& asked);

// Takes out what others measured where a measurement on this class at this size settles what the recipe does to its
// nest, and sorts, best first.
void rank(std::vector<Candidate>& candidates);

}  // namespace sous::tuning_db
