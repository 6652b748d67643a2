// Tuning the nests of a file: what the tuner (tuning-db/tuner.h) needs to know of them, and measuring its candidates in
// programs of their own.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "client/measure.h"
#include "client/nest.h"
#include "client/pipeline.h"
#include "tuning-db/entry.h"
#include "tuning-db/tuner.h"

namespace sous::client {

// In the provenance of a measurement that is kept whatever it says (--samples), in front of who wrote the recipe.
inline constexpr std::string_view sample_mark = "sample of ";

// A candidate for a unit of a nest at the sizes that it was measured at.
struct Measured {
  const PreparedNest& sized;
  std::size_t unit = 0;
  const tuning_db::Candidate& candidate;
  const transforms::Evidence* evidence = nullptr;
};

struct TuneOptions {
  double seconds_per_nest = 60;
  const std::atomic<bool>* stop = nullptr;
  bool gpu = false;  // strategies for GPUs propose, and no others
  Inputs inputs = Inputs::Drawn;
  // After each candidate: its measurement (null: it failed), and the best ratio so far.
  std::function<void(const Measured&, double best)> progress;
};

// The units of a nest that are worth tuning: single nests with a share of the work that can matter, most work first.
// The whole of several is none of them (tune_whole).
std::vector<std::size_t> units_to_tune(const PreparedNest& nest);

// Whether a smaller size counts among those from which on a recipe gains: beyond doubt, and on as few threads as it did
// at the size where it was found (`found`), for an entry asks for no more than that.
bool gains_as_well(const transforms::Evidence& smaller, const transforms::Evidence& found);

// Whether a recipe for the whole is faster, beyond doubt, than what was found for its parts together.
bool beats(const transforms::Evidence& whole, const Timing& parts);

struct TunedUnit {
  std::size_t unit = 0;
  PreparedNest sized;  // at the sizes that it was measured at
  tuning_db::Tuned tuned;
};

// `known`: recipes of similar nests, by unit. The evidence of what is found says from which shapes on it gains, where
// the sizes are not the program's. Errors: isl.budget, measure.sizes (give --size), tune.nothing (no
// strategy and no neighbour has a recipe for it).
Result<TunedUnit> tune_unit(const PreparedNest& nest, std::size_t unit, const std::vector<transforms::Match>& known,
                            const TuneOptions& options);

// The whole of several nests, which neighbours' recipes and strategies for wholes make one. `parts`: what was found for
// its units, in whose place a build would take it. So something is found only if it is faster than these, too, beyond
// doubt.
Result<TunedUnit> tune_whole(const PreparedNest& nest, const std::vector<transforms::Match>& known,
                             const std::vector<Choice>& parts, const TuneOptions& options);

}  // namespace sous::client
