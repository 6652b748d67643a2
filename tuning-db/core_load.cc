// What threads alone gain, by what a nest asks of a core.
#include <algorithm>

#include "sdfg/planted_fault.h"
#include "tuning-db/schedule_features.h"

namespace sous::tuning_db {
namespace {

// Of threads that pay: what crosses a core's caches in each nanosecond that it computes; of each thread more than one
// what is counted on; and what is worth it.
constexpr double most_bytes = 2, counted_on = 0.5, least_counted_on = 1.2;
// Nanoseconds of all, and of each region: so many for each thread, as waking one takes up to 22 us of them, and running
// a region on one that is awake up to 0.7 (docs/decisions/039), but no more than these.
constexpr double least_of_each = 65e3, least_nanoseconds = 1e6, least_region_of_each = 25e3, least_region = 1e5,
                 least_wave = 4e5;
// Where memory is what cores wait for: bytes that one core gets in each nanosecond, a high estimate; and what is
// counted on, however many threads there are: memory is shared.
constexpr double stream_bytes = 10, counted_on_streams = 1.2, least_shares = 1.8;

// What a line takes from one core to another, in nanoseconds, and the share of the time for that which nobody feels.
constexpr double passing_a_line = 50, most_passing = 0.1;

}  // namespace

bool computes(const CoreLoad& load) {
  const double most = most_bytes * load.nanoseconds;
  if (load.nanoseconds >= least_nanoseconds) return load.bytes <= most || planted(Fault::threads_on_streams);
  // What a short call touches may all lie in the cache of the core that made it.
  return load.threads > 1 && load.nanoseconds >= least_of_each * load.threads &&
         std::max(load.bytes, load.touched) <= most;
}

bool streams(const CoreLoad& load) { return !computes(load) && seconds(load) >= 1e-9 * least_nanoseconds; }

double seconds(const CoreLoad& load) { return 1e-9 * std::max(load.nanoseconds, load.bytes / stream_bytes); }

double threads_gain(const CoreLoad& load, int threads) {
  const double least = load.in_waves ? least_wave : std::min(least_region, least_region_of_each * threads);
  if (threads < 2 || load.regions == 0 || seconds(load) < 1e-9 * least * load.regions) return 0;
  if (passing_a_line * load.contended > most_passing * load.nanoseconds) return 0;
  const double gain = 1 + counted_on * (load.shares - 1);
  if (computes(load)) return gain >= least_counted_on ? gain : 0;
  return streams(load) && load.shares >= least_shares ? counted_on_streams : 0;
}

}  // namespace sous::tuning_db
