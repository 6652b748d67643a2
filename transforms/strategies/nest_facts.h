// What strategies know of a nest.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "transforms/roles.h"
#include "transforms/step.h"
#include "transforms/strategies/eliminations.h"
#include "transforms/strategies/fusion.h"
#include "transforms/strategies/index_sets.h"
#include "transforms/strategies/interval_tiles.h"
#include "transforms/strategies/staggering.h"

namespace sous::transforms {

struct LoopFacts {
  LoopRole role;                      // but for `parallel`:
  bool parallel = false;              // its iterations are independent, temporaries aside
  bool shared = false;                // that, or it sums integers besides, few (sums_little)
  std::vector<std::string> inside;    // the loops directly inside, in order
  bool is_band = false;               // one loop, and nothing else, is directly inside
  bool uneven = false;                // its iterations take more or less: by a bound inside, or a while loop
  std::optional<std::int64_t> trips;  // its iterations, where the bounds are constants, or the sizes are known
};

class NestFacts {
 public:
  // `nest`: a unit in normal form. Errors: isl.budget.
  static Result<NestFacts> of(const sdfg::Sdfg& nest, const StepContext& context, const sdfg::Budget& budget = {});

  // The nest, with its dependences.
  const std::shared_ptr<const Nest>& nest() const { return nest_; }
  // In preorder.
  const std::vector<LoopFacts>& loops() const { return loops_; }
  // Of a loop that is there.
  const LoopFacts& loop(const std::string& symbol) const;
  // Whether schedules see the loop: it is in no statement that is opaque to them.
  bool has(const std::string& symbol) const;
  bool is_innermost(const std::string& symbol) const { return loop(symbol).inside.empty(); }
  std::vector<std::string> outermost() const;
  // The parallel loops that have none around, at any distance; and those that threads may share, but for loops around
  // others that are known to have fewer than `trips` iterations.
  std::vector<std::string> outermost_parallel() const { return outermost(&LoopFacts::parallel, 0); }
  std::vector<std::string> outermost_shared(std::int64_t trips) const { return outermost(&LoopFacts::shared, trips); }
  // The loop, and those in it that threads had better share together with it (loops_to_share.h).
  std::vector<std::string> loops_to_share(const std::string& symbol) const;
  // Whether a run of the loop is so short, whatever the sizes, that it never pays to send out threads for it.
  bool is_short(const std::string& symbol) const { return iterations(symbol) <= most_in_short; }
  // The perfect band that begins with this loop: each loop is the only thing directly inside the one before.
  std::vector<std::string> band(const std::string& first) const;
  // The loops of `among` that are parallel, or that carry a reduction and nothing else.
  std::vector<std::string> parallel(const std::vector<std::string>& among) const;
  std::vector<std::string> reductions(const std::vector<std::string>& among) const;
  // The one of `among` in which most accesses are contiguous, the innermost of several; empty for none.
  std::string most_contiguous(const std::vector<std::string>& among) const;
  // Whether this loop begins (ends) elsewhere in each iteration of that one.
  bool begins_with(const std::string& loop, const std::string& other) const;
  bool ends_with(const std::string& loop, const std::string& other) const;
  // A number of iterations that a run of the loop never exceeds, if one is known.
  std::optional<std::int64_t> most_trips(const std::string& loop) const;
  // What recipes may know of the machine: StepContext::hardware.
  std::optional<std::int64_t> hardware(const std::string& name) const {
    const auto found = context_.hardware.find(name);
    return found == context_.hardware.end() ? std::nullopt : std::optional(found->second);
  }
  // What a step calls a loop for which it wishes that name.
  std::string fresh(const std::string& wish) const;
  // How many elements of arrays that the nest does not write the statements inside of a loop read, each another one in
  // each of its iterations.
  std::size_t moving_reads(const std::string& loop) const { return moving_reads({loop}); }
  std::size_t moving_reads(std::initializer_list<std::string> all) const;  // with each of these loops
  // Bytes of the largest element of an array that the nest writes.
  int element_bytes() const { return element_bytes_; }
  // The facts behind these steps: "expand(loop=i1); distribute(loop=i1); ". Errors: those of the steps, isl.budget.
  Result<NestFacts> after(const std::string& steps) const;
  // Whether the nest takes these steps, which change nothing but the order, and whether all of `loops` are parallel
  // behind them.
  bool are_parallel_behind(const std::string& steps, const std::vector<std::string>& loops) const;
  // Computed when it is asked for. Errors: isl.budget.
  Result<Fusion> fusion() const { return fusion_of(*nest_, context_); }
  Result<IndexSets> index_sets() const { return index_sets_of(*nest_, context_); }
  Result<std::vector<IntervalTiles>> interval_tiles() const { return interval_tiles_of(*nest_, context_); }
  Result<std::vector<Staggered>> staggered() const { return staggered_of(*nest_, context_); }
  Result<std::vector<Tileable>> tileable() const { return tileable_of(*nest_, context_); }
  Result<std::optional<std::string>> elimination() const { return elimination_in_blocks(*nest_, context_); }

 private:
  std::vector<std::string> outermost(bool LoopFacts::* are, std::int64_t trips) const;
  static constexpr double most_in_short = 1024;
  // Of the innermost loops in one run of this one; infinite where that is not known.
  double iterations(const std::string& symbol) const;

  std::shared_ptr<const Nest> nest_;
  StepContext context_;
  sdfg::Budget budget_;
  std::vector<LoopFacts> loops_;
  int element_bytes_ = 1;
};

}  // namespace sous::transforms
