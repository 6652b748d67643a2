#include "client/residence.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace sous::client {
namespace {

using frontends::Residence;
using std::string;
using Place = std::pair<std::size_t, string>;  // a nest, by where it begins, and an argument of it

// The uses between nests that write the array elsewhere, group by group.
std::vector<std::vector<Residence::Use>> groups(const Residence& residence, const std::set<Place>& candidates) {
  std::set<std::size_t> left;  // statements
  for (const auto& use : residence.uses)
    if (use.writes && !candidates.contains({use.nest, use.argument})) left.insert(use.statement);
  std::vector<std::vector<Residence::Use>> result(1);
  std::size_t last = 0;
  for (const auto& use : residence.uses) {
    if (left.contains(use.statement)) continue;
    const auto between = left.upper_bound(last);
    if (between != left.end() && *between < use.statement) result.emplace_back();
    last = use.statement;
    if (candidates.contains({use.nest, use.argument})) result.back().push_back(use);
  }
  return result;
}

}  // namespace

targets::Residences residence_candidates(const std::vector<Residence>& residences, const frontends::LiftedNest& nest) {
  std::set<string> found, interleaved;
  for (const auto& residence : residences)
    for (const auto& use : residence.uses) {
      if (use.nest != nest.begin) continue;
      found.insert(use.argument);
      if (residence.interleaved) interleaved.insert(use.argument);
    }
  return {{found.begin(), found.end()}, std::move(interleaved)};
}

void assign_residences(const std::vector<Residence>& residences, std::vector<Served>& served) {
  std::set<Place> candidates;
  for (const Served& s : served)
    for (const string& argument : s.residences) candidates.insert({s.replacement.begin, argument});
  std::map<Place, frontends::ResidenceVariable> given;
  int number = 0;
  for (const auto& residence : residences) {
    for (const auto& group : groups(residence, candidates)) {
      const bool taken =
          std::ranges::any_of(group, [&](const auto& use) { return given.contains({use.nest, use.argument}); });
      const bool gains = group.size() > 1 || std::ranges::any_of(group, &Residence::Use::repeated);
      if (taken || !gains) continue;
      const frontends::ResidenceVariable variable{"sous_residence_" + std::to_string(++number), residence.at};
      for (const auto& use : group) given[{use.nest, use.argument}] = variable;
    }
  }
  for (Served& s : served)
    for (const string& argument : s.residences)
      s.replacement.residences.push_back(given[{s.replacement.begin, argument}]);
}

}  // namespace sous::client
