#include "tuning-db/query.h"

#include <algorithm>
#include <set>
#include <unordered_set>
#include <utility>

#include "tuning-db/database.h"
#include "tuning-db/greatest_sizes.h"
#include "tuning-db/insert.h"
#include "tuning-db/nearest.h"

namespace sous::tuning_db {
namespace {

AskedSize asked_size(const transforms::NestQuery& nest) {
  const SizeClass size = size_class(nest.nest, nest.sizes);
  return {size, size.power ? size : size_class(nest.nest, likely_sizes(nest.nest, nest.sizes))};
}

std::size_t recipes(const std::vector<EntryCandidate>& candidates) {
  std::unordered_set<std::uint32_t> distinct;
  for (const EntryCandidate& candidate : candidates) distinct.insert(candidate.recipe);
  return distinct.size();
}

// Several entries may carry one recipe: a little further is looked than to as many entries, and as far as it takes
// where that does not bring as many recipes.
std::size_t looked_at(const NestQuestion& asked) { return 4 * asked.matches + 8; }

}  // namespace

NestQuestion::NestQuestion(const transforms::NestQuery& asked, std::size_t wanted, const Embedding& embedding)
    : nest(asked),
      matches(wanted),
      size(asked_size(asked)),
      sizeless(kept_sizeless(asked.nest)),
      embedding_(embedding) {}

const NestKey& NestQuestion::key() {
  if (!key_) key_ = nest_key(nest.nest);
  return *key_;
}

const Result<FeatureVector>& NestQuestion::vector() {
  if (!vector_) vector_ = embedding_.embed(nest.nest, nest.sizes);
  return *vector_;
}

Result<std::vector<EntryCandidate>> QueryRanking::of(const transforms::NestQuery& nest, std::size_t matches) {
  NestQuestion asked(nest, matches, embedding_);
  const RecipeIndex* index = view_.recipes();
  TRY(auto candidates, index ? gather(*index, asked) : gather(*store_, asked));
  return ranked(std::move(candidates), asked.size.size, [&](const EntryCandidate& one) {
    return std::max(not_exact, index->distance(*one.entry, *asked.vector()).value_or(0));
  });
}

Result<QueryRanking::Candidates> QueryRanking::gather(const RecipeIndex& index, NestQuestion& asked) {
  discounts_.resize(index.measurers().size());
  Candidates result;
  std::vector<std::uint32_t> own = index.nests_with_hash(asked.nest.structural_hash);
  for (const std::uint32_t nest : own) add_nest(index, nest, asked, Kinship::Same, result);
  for (const std::uint32_t nest : index.nests_with_sizeless(asked.sizeless)) {
    if (index.nest(nest).hash == asked.nest.structural_hash) continue;
    add_nest(index, nest, asked, Kinship::OtherSizes, result);
    own.push_back(nest);
  }
  if (recipes(result) < asked.matches && !view_.keys.empty() && asked.vector())
    TRY_VOID(add_neighbours(index, asked, own, result));
  return result;
}

void QueryRanking::add_nest(const RecipeIndex& index, std::uint32_t nest, NestQuestion& asked, Kinship kinship,
                            Candidates& to) {
  for (const Summary* entry : index.nest(nest).strongest) {
    if (!index.is_for(index.says(index.place(*entry).says).only_for, asker_)) continue;
    EntryCandidate one = candidate(index, *entry, asked);
    one.kinship = kinship;
    if (asked.size.size.power && !one.size_speaks) {
      if (!asked.vector() || !index.may_tell_distance(*entry, *asked.vector()))
        continue;  // how far away it is cannot be told
      one.distance_is_open = true;
    }
    to.push_back(one);
  }
}

Result<void> QueryRanking::add_neighbours(const RecipeIndex& index, NestQuestion& asked,
                                          const std::vector<std::uint32_t>& own, Candidates& to) {
  RecipeIndex::Question question{.from = *asked.vector(),
                                 .key = asked.key(),
                                 .without = own,
                                 .asker = asker_,
                                 .entries = looked_at(asked),
                                 .recipes = asked.matches};
  const RecipeIndex::Order by_tier = order(index, asked);
  question.order = &by_tier;
  std::unordered_set<std::uint32_t> distinct;
  for (const bool like : {true, false}) {
    question.wanted = [&](Isa there) { return (there == isa_) == like; };
    question.other_than.assign(distinct.begin(), distinct.end());
    TRY(const auto found, index.nearest(question));
    for (const RecipeIndex::Near& near : found) {
      to.push_back(candidate(index, *near.entry, asked));
      to.back().distance = std::max(not_exact, near.distance);
      distinct.insert(to.back().recipe);
    }
    if (distinct.size() >= asked.matches) break;
  }
  return {};
}

const Discount& QueryRanking::discount(const RecipeIndex& index, std::uint32_t measured_by) {
  auto& discount = discounts_[measured_by];
  if (!discount) {
    const auto& [machine, threads] = index.measurers()[measured_by];
    discount = beliefs_.discount(threads, machine);
  }
  return *discount;
}

// As `ranked` takes the best of each recipe. Of what was measured on the asking class, losses count too, as they settle
// what a recipe does to a nest: only a gain measured here, which nothing settles otherwise, stands for the rest of it.
RecipeIndex::Order QueryRanking::order(const RecipeIndex& index, const NestQuestion& asked) {
  if (!measured_here_) {
    measured_here_.emplace(index.recipes());
    for (const std::uint32_t recipe : index.recipes_measured_on(beliefs_.here_as_written()))
      (*measured_here_)[recipe] = true;
  }
  return {.best =
              [&](const RecipeIndex::Claim& claim) {
                if ((*measured_here_)[claim.recipe]) return 0;
                return tier_of(claim.gains ? 2 : 0, speaks(claim.size, claim.has_thresholds, asked.size), false);
              },
          .worst =
              [&](const RecipeIndex::Says& says) {
                const Discount& here = discount(index, says.measured_by);
                return tier_of(here.of(says.least_gain), speaks(says.size, says.all_have_thresholds, asked.size),
                               here.own_class);
              },
          .alike = not_exact};
}

EntryCandidate QueryRanking::candidate(const RecipeIndex& index, const Summary& entry, const NestQuestion& asked) {
  const RecipeIndex::Place& place = index.place(entry);
  const RecipeIndex::Says& says = index.says(place.says);
  EntryCandidate one =
      candidate_of(entry, place.gain, place.has_thresholds, says.size, discount(index, says.measured_by), asked.size);
  one.recipe = says.recipe;
  one.nest = index.nest(place.nest).family;
  return one;
}

std::vector<const Summary*> QueryRanking::keep(std::vector<Summary> rows) {
  std::vector<const Summary*> result;
  for (Summary& row : rows) {
    const std::string id = row.id;
    result.push_back(&rows_.try_emplace(id, std::move(row)).first->second);
  }
  return result;
}

Result<QueryRanking::Candidates> QueryRanking::gather(const Store& store, NestQuestion& asked) {
  Candidates result;
  TRY(auto own_rows, store.with_hash(asked.nest.structural_hash));
  std::vector<const Summary*> own = keep(std::move(own_rows));
  add_rows(own, asked, Kinship::Same, result);
  TRY(auto kin_rows, store.with_sizeless(asked.sizeless));
  std::vector<const Summary*> kin = keep(std::move(kin_rows));
  std::erase_if(kin, [&](const Summary* one) { return one->structural_hash == asked.nest.structural_hash; });
  add_rows(kin, asked, Kinship::OtherSizes, result);
  if (recipes(result) >= asked.matches || view_.keys.empty() || !asked.vector()) return result;
  own.insert(own.end(), kin.begin(), kin.end());
  TRY(const auto more, neighbours(store, asked, own));
  result.insert(result.end(), more.begin(), more.end());
  return result;
}

void QueryRanking::add_rows(const std::vector<const Summary*>& rows, NestQuestion& asked, Kinship kinship,
                            Candidates& to) {
  for (const Summary* entry : rows) {
    if (!entry->is_for(asker_)) continue;
    EntryCandidate one = candidate(*entry, asked);
    one.kinship = kinship;
    if (asked.size.size.power && !one.size_speaks) {
      const FeatureVector* there = view_.nearest()->vector(entry->id);
      if (!there || !asked.vector()) continue;  // how far away it is cannot be told
      one.distance = std::max(not_exact, distance(*asked.vector(), *there));
    }
    to.push_back(one);
  }
}

// `own`: the entries of the asking nest, whatever its sizes.
Result<QueryRanking::Candidates> QueryRanking::neighbours(const Store& store, NestQuestion& asked,
                                                          const std::vector<const Summary*>& own) {
  NearestFilter filter{.key = asked.key(), .isa = isa_};
  for (const Summary* entry : own) filter.without.insert(entry->id);
  for (std::size_t look = looked_at(asked);; look *= 8) {
    Candidates result;
    filter.isa = isa_;
    TRY(std::vector<Hit> hits, view_.nearest()->search(*asked.vector(), look, filter));
    TRY_VOID(add_hits(store, hits, asked, result));
    if (recipes(result) >= asked.matches) return result;
    filter.isa.reset();
    TRY(hits, view_.nearest()->search(*asked.vector(), look, filter));
    TRY_VOID(add_hits(store, hits, asked, result));
    if (hits.size() < look || recipes(result) >= asked.matches) return result;
  }
}

// Adds those that it does not have.
Result<void> QueryRanking::add_hits(const Store& store, const std::vector<Hit>& hits, const NestQuestion& asked,
                                    Candidates& to) {
  std::set<std::string_view> known;
  for (const EntryCandidate& one : to) known.insert(one.entry->id);
  for (const Hit& hit : hits) {
    if (known.contains(hit.id)) continue;
    auto row = rows_.find(hit.id);
    if (row == rows_.end()) {
      TRY(auto read, store.with_ids({hit.id}));
      if (read.empty()) continue;
      row = rows_.try_emplace(hit.id, std::move(read.front())).first;
    }
    if (!row->second.is_for(asker_)) continue;
    to.push_back(candidate(row->second, asked));
    to.back().distance = std::max(not_exact, hit.distance);
  }
  return {};
}

EntryCandidate QueryRanking::candidate(const Summary& row, const NestQuestion& asked) {
  const auto number = [](std::map<std::string_view, std::uint32_t>& of, std::string_view text) {
    return of.try_emplace(text, static_cast<std::uint32_t>(of.size())).first->second;
  };
  EntryCandidate one = candidate_of(row, row.ratio(), row.has_thresholds, parse_size_class(row.size_class),
                                    beliefs_.discount(row.threads, row.hardware_class), asked.size);
  one.recipe = number(recipes_, row.recipe_json);
  one.nest = number(nests_, row.sizeless.empty() ? row.structural_hash : row.sizeless);
  return one;
}

}  // namespace sous::tuning_db
