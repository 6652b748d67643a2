#include "tuning-db/tuner.h"

#include <algorithm>
#include <map>

#include "sdfg/planted_fault.h"
#include "sdfg/text.h"

namespace sous::tuning_db {
namespace {

using std::string;
using transforms::Evidence;
using transforms::OpenChoice;

// A proposal with the best values found for it.
struct Line {
  const Proposal* proposal = nullptr;
  OpenChoice choice;
  double ratio = 0;
};

// Beyond this many times what the best one takes a candidate has lost.
constexpr double hopeless = 3;

class Search {
 public:
  Search(const sdfg::Sdfg& nest, const TunerOptions& options) : nest_(nest), options_(options) {}

  Tuned run(const std::vector<Proposal>& proposals) {
    end_ = options_.clock() + options_.seconds;
    std::multimap<double, const Proposal*, std::greater<>> by_ratio;
    for (const Proposal& proposal : proposals) {
      if (over()) break;
      by_ratio.emplace(look(proposal, {}), &proposal);
    }
    for (const auto& [ratio, proposal] : by_ratio) {
      if (ratio <= 0 || ratio < best_ratio_ / 2) break;
      improve({proposal, {}, ratio});
    }
    prove();
    return std::move(result_);
  }

 private:
  bool over() const { return options_.stopped() || options_.clock() >= end_; }

  // Times faster than the original; 0: not known, or hopelessly slow.
  double look(const Proposal& proposal, const OpenChoice& choice) {
    const auto recipe = transforms::closed(proposal.recipe, choice);
    if (!recipe) return failed(recipe.error());  // a stranger's, with text for names
    auto candidate = fitted(nest_, proposal.from, *recipe, options_.apply);
    if (!candidate) return 0;
    const auto [known, is_new] = looked_at_.try_emplace(sdfg::print(candidate->applied) + recipe->target, 0);
    if (!is_new) return known->second;
    const double limit = best_seconds_ > 0 ? hopeless * best_seconds_ : 0;
    const auto evidence = options_.measure(*candidate, Care::Glance, limit);
    ++result_.measured;
    if (evidence) {
      known->second = evidence->ratio();
    } else {
      failed(evidence.error());
    }
    const double ratio = known->second;
    if (evidence && ratio > best_ratio_) {
      best_ratio_ = ratio;
      best_seconds_ = evidence->tuned_seconds;
    }
    options_.progress(*candidate, evidence ? &*evidence : nullptr, best_ratio_);
    if (ratio > 1) ranked_.emplace(ratio, std::move(*candidate));
    return ratio;
  }

  double failed(const Error& error) {
    ++result_.failed;
    if (result_.first_failure.empty()) result_.first_failure = error.to_string();
    return 0;
  }

  void improve(Line line) {
    for (bool better = true; better && !over();) {
      better = false;
      for (const auto& [name, values] : line.proposal->recipe.open) {
        for (std::size_t k = 0; k < values.size() && !over(); ++k) {
          OpenChoice other = line.choice;
          if (std::exchange(other[name], k) == k) continue;
          const double ratio = look(*line.proposal, other);
          if (ratio <= line.ratio) continue;
          better = better || ratio > line.ratio * 1.01;
          line.ratio = ratio;
          line.choice = std::move(other);
        }
      }
    }
  }

  // A glance may deceive: the best few are measured with care, until one is beyond doubt.
  void prove() {
    int left = 3;
    for (auto& [ratio, candidate] : ranked_) {
      if (options_.stopped() || left-- == 0) return;
      auto evidence = options_.measure(candidate, planted(Fault::glance_proves) ? Care::Glance : Care::Proof, 0);
      if (!evidence) continue;
      const bool faster = evidence->ratio() > Tuned::least_gain &&
                          (evidence->ratio() > 1 + evidence->baseline_spread + evidence->tuned_spread ||
                           planted(Fault::spread_ignored));
      if (!faster || (result_.best && evidence->ratio() <= result_.evidence.ratio())) continue;
      result_.best = std::move(candidate);
      result_.evidence = std::move(*evidence);
    }
  }

  const sdfg::Sdfg& nest_;
  const TunerOptions& options_;
  double end_ = 0, best_ratio_ = 0, best_seconds_ = 0;
  std::map<string, double> looked_at_;  // the applied nest's text: its ratio
  std::multimap<double, Candidate, std::greater<>> ranked_;
  Tuned result_;
};

}  // namespace

namespace {

template <class AnyNest>
std::optional<Candidate> fitted_to(const AnyNest& nest, const string& from, const transforms::Recipe& recipe,
                                   const transforms::ApplyOptions& options) {
  transforms::ApplyOptions lenient = options;
  lenient.refused = transforms::ApplyOptions::Refused::LeaveOut;
  std::vector<transforms::StepReport> reports;
  auto applied = transforms::apply(nest, recipe, lenient, &reports);
  SOUS_ASSERT(applied && reports.size() == recipe.steps.size());
  Candidate candidate{from, recipe, std::move(*applied)};
  candidate.recipe.steps.clear();
  for (std::size_t k = 0; k < reports.size(); ++k)
    if (reports[k].applied) candidate.recipe.steps.push_back(recipe.steps[k]);
  if (candidate.recipe.steps.empty()) return std::nullopt;
  return candidate;
}

}  // namespace

std::optional<Candidate> fitted(const sdfg::Sdfg& nest, const string& from, const transforms::Recipe& recipe,
                                const transforms::ApplyOptions& options) {
  return fitted_to(nest, from, recipe, options);
}
std::optional<Candidate> fitted(const transforms::Nest& nest, const string& from, const transforms::Recipe& recipe,
                                const transforms::ApplyOptions& options) {
  return fitted_to(nest, from, recipe, options);
}

Result<std::vector<Proposed>> propose(const sdfg::Sdfg& nest, const transforms::ApplyOptions& options, Strategies which,
                                      const IsWanted& is_wanted) {
  std::vector<const transforms::StrategyInfo*> asked;
  for (const auto* strategy : transforms::strategies())
    if (strategy->gpu == (which == Strategies::Gpu) && (strategy->threads_alone || which != Strategies::Whole) &&
        (!is_wanted || is_wanted(*strategy)))
      asked.push_back(strategy);
  std::vector<Proposed> result;
  if (asked.empty()) return result;
  TRY(const auto facts, transforms::NestFacts::of(nest, options.context, options.budget));
  for (const auto* strategy : asked) result.push_back({strategy, strategy->write(facts), facts.nest()});
  return result;
}

Tuned tune(const sdfg::Sdfg& nest, const std::vector<Proposal>& proposals, const TunerOptions& options) {
  return Search(nest, options).run(proposals);
}

}  // namespace sous::tuning_db
