// RecipeSource: where recipes come from. Local database, server and lock file are behind this one interface.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sdfg/sdfg.h"
#include "transforms/patience.h"
#include "transforms/recipe.h"

namespace sous::transforms {

// A unit in normal form that asks for a recipe.
struct NestQuery {
  sdfg::Sdfg nest;                            // normal form
  std::string structural_hash;                // transforms/normal_form.h
  std::map<std::string, std::int64_t> sizes;  // values of the nest's symbols where known (--size n=2000)
  // Nobody wants to see what is too far away to be used: a source may leave such a match without recipe and nest.
  bool in_reach_only = false;
};

// A measurement of a recipe against the original code, interleaved in one run.
struct Evidence {
  std::string size_class;       // tuning-db/size_class.h
  double baseline_seconds = 0;  // medians
  double tuned_seconds = 0;
  double baseline_spread = 0;  // half the interquartile range, relative to the median
  double tuned_spread = 0;
  double work = 0;  // innermost statement executions at the measured size
  // Iterations of the nest's loops at that size, in preorder: an average where outer loops decide, 0 where it is not
  // known. Empty: evidence from before they were kept.
  std::vector<double> extents;
  // Measured: what a shape needs at least, extent by extent and in work, for the recipe to gain. Empty: not measured.
  std::vector<double> least_extents;
  double least_work = 0;
  int threads = 1;
  std::string hardware;  // hardware class (tuning-db/hardware.h)
  std::string compiler;  // "clang-19 -O3 -march=native"
  double ratio() const { return tuned_seconds > 0 ? baseline_seconds / tuned_seconds : 0; }
};

// Where a match comes from. Forced: --recipe. Strategy: written for the nest at hand; its evidence is a prediction.
enum class Origin { Database, Lock, Server, Forced, Strategy };
constexpr std::string_view to_string(Origin origin) {
  switch (origin) {
    case Origin::Database:
      return "database";
    case Origin::Lock:
      return "lock";
    case Origin::Server:
      return "server";
    case Origin::Forced:
      return "forced";
    case Origin::Strategy:
      return "strategy";
  }
  __builtin_unreachable();
}

struct Match {
  Recipe recipe;
  double distance = 0;  // 0: same structural hash and size class
  // What other distances are of: the version of the embedding (tuning-db/features.h), and up to which one evidence
  // speaks for another nest.
  std::string embedding = {};
  double reach = 0;
  Evidence evidence;
  std::string id;    // the entry's id, stable across databases (a hash of its content)
  std::string name;  // what the entry was measured on: "gemm#1"
  Origin origin = Origin::Database;
  sdfg::Sdfg nest;  // the entry's own nest in normal form, for matching loops by role
  // Times faster that the asking build believes the evidence to mean here, and, where that is not what was measured,
  // why (tuning-db/belief.h); 0 until someone asked.
  double believed = 0;
  std::string belief = {};
  // What trying the recipe counts for; null: it takes what it takes.
  std::shared_ptr<Patience> patience = {};
};

// What every nest that a source knows is at least.
struct Reach {
  int least_depth = 1;          // loops in loops; `nothing` where no nest is known
  int least_integer_depth = 1;  // the same, of those that compute no floating point
  static constexpr int nothing = 1'000'000;
  static Reach none() { return {nothing, nothing}; }
};

class RecipeSource {
 public:
  virtual ~RecipeSource() = default;
  // False: surely nothing is known for any unit of this nest, which is as the front end lifted it. A question of
  // microseconds: it spares normal form and dependences.
  virtual bool may_know(const sdfg::Sdfg& /*lifted*/) { return true; }
  // Of all nests that it knows.
  virtual Reach reach() { return {}; }
  // What a lock file pins for the nest.
  virtual std::optional<Match> pinned(const NestQuery& /*nest*/) { return std::nullopt; }
  // For each nest at most k matches, best first. One call per translation unit.
  virtual Result<std::vector<std::vector<Match>>> query(const std::vector<NestQuery>& nests, int k) = 0;
};

}  // namespace sous::transforms
