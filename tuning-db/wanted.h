// What clients lack: nests in normal form that found no good recipe, on which class of machine, and how hot they are.
// Kept for workers, beside the entries (tuning-db/ledger.h).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sdfg/result.h"
#include "sdfg/sdfg.h"
#include "tuning-db/connection.h"
#include "tuning-db/hardware.h"

namespace sous::tuning_db {

struct WantedNest {
  sdfg::Sdfg nest;                            // normal form
  std::string structural_hash;                // of `nest`
  std::map<std::string, std::int64_t> sizes;  // of its symbols, where known
  bool reassociate = false;                   // the build has leave to reassociate
};

// Error: wanted.nest (too large for a stranger's nest, or another hash).
Result<void> check(const WantedNest& wanted);

// As it is kept, and told to workers.
struct Wanted {
  std::string id, nest_json, structural_hash, sizes_json, hardware_json, time;
  bool reassociate = false;
  double work = 0;  // executions of its statements, as estimated from the sizes
  int parties = 0;  // whose tokens wanted it
};

// Of one party: the oldest go when it wants more. What nobody asks for again goes after some days.
inline constexpr int most_wanted = 1000, wanted_days = 30;
// Told at once.
inline constexpr int most_told = 64;

// Inside a transaction: keeps what the party `who` lacks on `hardware` (as its builds use it). How many are new.
Result<int> keep_wanted(Connection& db, const std::vector<WantedNest>& nests, const Hardware& hardware,
                        const std::string& who);
// What most parties want first, then what works most; without what the database has measured meanwhile on the same
// class and size, as far as `asker` sees it.
Result<std::vector<Wanted>> read_wanted(Connection& db, std::string_view asker);

}  // namespace sous::tuning_db
