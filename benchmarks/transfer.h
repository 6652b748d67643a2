// How well recipes of one nest serve another: what `sous tune --samples` measured, against what a build would have
// chosen.
#pragma once

#include <string>
#include <vector>

#include "tuning-db/entry.h"

namespace sous::benchmarks {

// A recipe of a similar nest on a nest that it was not made for.
struct Trial {
  std::string neighbour;
  double distance = 0;  // of the embeddings
  double believed = 1;  // times faster: what the neighbour's evidence is believed to mean on the machine of the trial
  double found = 1;     // what was measured
  bool same_family = false;
  bool complete = true;  // the nest admits all of its steps; builds use no others
};

// One nest at one size, with all that was measured on it.
struct TriedNest {
  std::string name;
  std::vector<Trial> trials;  // nearest first
  double by_strategy = 1;     // with the first recipe that a strategy wrote
  double best = 1;            // of all, and of the original
};

// Samples of one name belong together, those at the size of the first one. `seeds`: the entries that were the
// neighbours. Errors: those of the embedding.
Result<std::vector<TriedNest>> tried_nests(const std::vector<tuning_db::Entry>& samples,
                                           const std::vector<tuning_db::Entry>& seeds);
// Tables: recipes by distance, and what choices by the rules of builds, by other rules and by an oracle would give.
// `reach`: of the embedding.
std::string transfer_report(const std::vector<TriedNest>& nests, double reach);

}  // namespace sous::benchmarks
