// The tuner: searches a recipe for one nest by measuring. It invents nothing: recipes come from strategies and from
// what the database knows of similar nests, and it chooses among them and among the values that they leave open.
//
// The search is by coordinates (one open value changed at a time, kept where it is faster), from the best proposals on.
// Nothing illegal is compiled, and nothing twice: two recipes that make the same nest are one candidate.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "transforms/apply.h"
#include "transforms/source.h"
#include "transforms/strategies/strategy.h"

namespace sous::tuning_db {

struct Proposal {
  std::string from;  // a strategy's name, or that of an entry
  transforms::OpenRecipe recipe;
};

struct Candidate {
  std::string from;
  transforms::Recipe recipe;  // the steps that the nest admits
  sdfg::Sdfg applied;
};

// How surely it is to be known whether a candidate is faster.
enum class Care { Glance, Proof };

struct TunerOptions {
  transforms::ApplyOptions apply;
  double seconds = 60;  // for all of it
  // Seconds since some fixed point.
  std::function<double()> clock;
  // Whether to end now with what there is.
  std::function<bool()> stopped;
  // Measures a candidate. `most_seconds`: of one run of it; beyond that it has lost. Errors: the candidate is out.
  std::function<Result<transforms::Evidence>(const Candidate&, Care, double most_seconds)> measure;
  // After each candidate: its measurement (null: it failed, or was too slow), and the best ratio so far.
  std::function<void(const Candidate&, const transforms::Evidence*, double best)> progress;
};

struct Tuned {
  std::optional<Candidate> best;  // faster than the original beyond doubt, by more than `least_gain`
  transforms::Evidence evidence;  // of it
  int measured = 0;               // candidates
  int failed = 0;                 // of them: did not compile or run, were too slow, or gave another result
  std::string first_failure;
  static constexpr double least_gain = 1.03;
};

Tuned tune(const sdfg::Sdfg& nest, const std::vector<Proposal>& proposals, const TunerOptions& options);

// What a strategy proposes for a nest, or why it does not.
struct Proposed {
  const transforms::StrategyInfo* strategy = nullptr;
  Result<std::vector<transforms::OpenRecipe>> recipes;
  std::shared_ptr<const transforms::Nest> nest;  // with its dependences
};
// Of all strategies for the CPU, of those among them for a nest of several parts (which fuse it, or send out threads
// alone), or of those for a GPU, in their order; only the wanted ones are asked, as what they look at is costly.
// Errors: isl.budget.
enum class Strategies : std::uint8_t { Cpu, Whole, Gpu };
using IsWanted = std::function<bool(const transforms::StrategyInfo&)>;
Result<std::vector<Proposed>> propose(const sdfg::Sdfg& nest, const transforms::ApplyOptions& options,
                                      Strategies which = Strategies::Cpu, const IsWanted& is_wanted = {});

// The recipe's steps that the nest admits, applied. Nullopt: none of them.
std::optional<Candidate> fitted(const sdfg::Sdfg& nest, const std::string& from, const transforms::Recipe& recipe,
                                const transforms::ApplyOptions& options);
// The same, of one that was proposed for.
std::optional<Candidate> fitted(const transforms::Nest& nest, const std::string& from, const transforms::Recipe& recipe,
                                const transforms::ApplyOptions& options);

}  // namespace sous::tuning_db
