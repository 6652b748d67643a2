#include "tuning-db/query.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/unit/tuning_db/nests.h"
#include "tuning-db/database.h"

namespace sous::tuning_db {
namespace {

const Hardware here = nests::machine(2);

transforms::NestQuery asks(int n) {
  transforms::NestQuery one{.nest = sdfg::parse(nests::jacobi).value(), .structural_hash = "asked", .sizes = {}};
  if (n > 0) one.sizes = {{"n0", n}};
  return one;
}

// Few nests, each at many places near by (whole steps apart, so that many are equally near), few recipes, machines that
// are believed in full, in part and not at all, gains and losses, sizes that speak and others, and what few may see.
struct Entries {
  std::vector<Summary> entries;
  std::vector<StoredVector> vectors;

  Entries(std::uint64_t seed, NestQuestion& asked) {
    std::mt19937_64 random(seed);
    const auto any = [&](std::size_t count) { return random() % count; };
    const std::size_t nests = 2 + any(40), recipes = 1 + any(any(30) + 1), width = 1 + any(6), own = any(4);
    const std::size_t threads = 1 + any(4), sizes = 1 + any(6), others = 1 + any(8);
    // Longer than what is told apart, and shorter.
    const float step = std::vector<float>{1, 1, 0x1p-12F, 0x1p-15F}[any(4)];
    for (std::size_t k = 0, end = std::size_t{50} << any(7); k < end; ++k) {
      const std::size_t nest = any(nests);
      FeatureVector vector = asked.vector().value();
      for (std::size_t i = 0; i < 4; ++i)
        vector[i * 3] += step * (static_cast<float>(nest * (i + 5) % 11) / 2 + static_cast<float>(any(width)));
      Hardware machine = here;
      if (any(4) >= own) machine.cores = 4;
      if (any(others) == 1) machine.architecture = "aarch64";
      if (any(others) == 2) machine.isa = Isa::avx512;
      Summary one;
      one.id = std::to_string(10'000 + k);
      one.structural_hash = nest == 0 ? asked.nest.structural_hash : "h" + std::to_string(nest);
      one.sizeless = nest < 2 ? asked.sizeless : "s" + std::to_string(nest / 2);
      one.recipe_json = std::to_string(nest < 2 ? any(2) : (any(recipes) + nest) % recipes);
      one.hardware_class = hardware_class(machine);
      one.threads = static_cast<int>(1 + any(threads));
      one.size_class =
          std::vector<std::string>{"4^8:8", "4^9:8", "4^10:8", "4^11:8", "unknown:8", "?"}[(nest + any(2)) % sizes];
      one.has_thresholds = any(3) == 0;
      one.baseline_seconds = static_cast<double>(1 + any(6));
      one.tuned_seconds = 2;
      if (any(others) == 3) one.only_for = any(2) == 0 ? "ann" : "bob,eve";
      vectors.push_back({one.id, asked.key(), machine.isa, std::move(vector)});
      entries.push_back(std::move(one));
    }
  }
};

// As query.cc, by a look at all entries: of those that say the same the nearest, of these the nearest few.
std::vector<EntryCandidate> slowly(const Entries& all, const RecipeIndex& index, NestQuestion& asked,
                                   std::string_view asker) {
  Beliefs beliefs(hardware_class(here));
  std::vector<EntryCandidate> result;
  const auto add = [&](const Summary& entry, Kinship kinship, double distance) {
    const RecipeIndex::Place& place = index.place(entry);
    EntryCandidate one = candidate_of(entry, entry.ratio(), entry.has_thresholds, parse_size_class(entry.size_class),
                                      beliefs.discount(entry.threads, entry.hardware_class), asked.size);
    one.kinship = kinship;
    one.recipe = index.says(place.says).recipe;
    one.nest = index.nest(place.nest).family;
    one.distance =
        kinship != Kinship::Other && !(asked.size.size.power && !one.size_speaks) ? 0 : std::max(not_exact, distance);
    result.push_back(one);
  };
  std::map<std::tuple<bool, std::uint32_t>, std::tuple<float, double, std::size_t>> nearest;
  std::set<std::uint32_t> own_recipes;
  for (std::size_t k = 0; k < all.entries.size(); ++k) {
    const Summary& entry = index.entries()[k];
    if (!entry.is_for(asker)) continue;
    double square = 0;
    const FeatureVector &from = asked.vector().value(), &there = all.vectors[k].vector;
    for (std::size_t i = 0; i < from.size(); ++i) square += std::pow(double{from[i]} - double{there[i]}, 2);
    if (entry.structural_hash == asked.nest.structural_hash || entry.sizeless == asked.sizeless) {
      const auto& strongest = index.nest(index.place(entry).nest).strongest;
      if (std::ranges::find(strongest, &entry) == strongest.end()) continue;
      const bool same = entry.structural_hash == asked.nest.structural_hash;
      add(entry, same ? Kinship::Same : Kinship::OtherSizes, std::sqrt(square));
      own_recipes.insert(result.back().recipe);
      continue;
    }
    const std::tuple one(static_cast<float>(square), -entry.ratio(), k);
    const std::tuple label(all.vectors[k].isa != here.isa, index.place(entry).says);
    const auto at = nearest.try_emplace(label, one).first;
    at->second = std::min(at->second, one);
  }
  if (own_recipes.size() >= asked.matches) return ranked(std::move(result), asked.size.size);
  std::set<std::uint32_t> recipes;
  for (const bool other : {false, true}) {
    std::set<std::pair<float, std::size_t>> in_order;
    for (const auto& [label, one] : nearest)
      if (std::get<0>(label) == other) in_order.emplace(std::get<0>(one), std::get<2>(one));
    for (std::size_t count = 0; const auto& [square, k] : in_order) {
      if (count++ >= 4 * asked.matches + 8 && recipes.size() >= asked.matches) break;
      add(index.entries()[k], Kinship::Other, std::sqrt(double{square}));
      recipes.insert(result.back().recipe);
    }
    if (recipes.size() >= asked.matches) break;
  }
  return ranked(std::move(result), asked.size.size);
}

TEST(QueryRanking, DoesWithoutWhatALookAtAllEntriesWouldNotGive) {
  const char* given = std::getenv("SOUS_SEED");
  const std::uint64_t first = given ? std::strtoull(given, nullptr, 10) : 101;
  for (std::uint64_t seed = first; seed < first + 100; ++seed) {
    SCOPED_TRACE("SOUS_SEED=" + std::to_string(seed));
    const auto embedding = static_embedding();
    const transforms::NestQuery nest = asks(seed % 3 == 0 ? 0 : 180);
    NestQuestion first_asked(nest, 1, *embedding);
    const Entries all(seed, first_asked);
    const View view{RecipeIndex::build(all.entries, all.vectors).value(), {first_asked.key()}, ""};
    for (const std::size_t matches : {1, 3, 10, 40})
      for (const std::string asker : {"", "ann", "eve"}) {
        QueryRanking ranking(view, *embedding, here, asker, nullptr);
        NestQuestion asked(nest, matches, *embedding);
        const auto found = ranking.of(nest, matches).value();
        const auto expected = slowly(all, *view.recipes(), asked, asker);
        ASSERT_EQ(found.size(), expected.size()) << matches << " " << asker;
        for (std::size_t n = 0; n < found.size(); ++n) {
          ASSERT_EQ(found[n].entry->id, expected[n].entry->id) << matches << " " << asker << " " << n;
          ASSERT_NEAR(found[n].distance, expected[n].distance, 1e-6);
        }
      }
  }
}

}  // namespace
}  // namespace sous::tuning_db
