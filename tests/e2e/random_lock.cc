// A lock file of random recipes: for every nest of a C file one that was sampled on its own normal form, or that a
// strategy writes for it, so that it applies. Compiling with --frozen then puts each nest through its recipe; what a
// launcher does with a lock file is tested on the way.
//
//   random_lock SEED FILE.c [compiler flags]      writes sous.lock beside FILE.c, prints the recipes
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string_view>

#include "client/compile.h"
#include "client/process.h"
#include "frontends/c/lift.h"
#include "tests/support/random.h"
#include "tests/support/random_recipe.h"
#include "transforms/strategies/strategy.h"

namespace sous::tests {
namespace {

using transforms::Match;
using transforms::NestQuery;

class RandomSource : public transforms::RecipeSource {
 public:
  explicit RandomSource(std::uint64_t seed) : random_(seed) {}

  Result<std::vector<std::vector<Match>>> query(const std::vector<NestQuery>& nests, int) override {
    std::vector<std::vector<Match>> result;
    for (const NestQuery& query : nests) {
      Match match;
      // Two recipes of one unit: where a stretch has several nests, either the whole is served or its parts are.
      match.distance = random_.percent(50) ? 0 : 1;
      const auto written = random_.percent(60) ? by_strategy(query.nest) : std::nullopt;
      match.recipe = written ? *written : recipe(query.nest);
      match.name = match.id = "random";
      match.origin = transforms::Origin::Lock;  // needs no evidence
      result.push_back({std::move(match)});
    }
    return result;
  }

 private:
  // Half of the steps are those that change in which order iterations meet memory, for a target that does what they ask
  // for.
  transforms::Recipe recipe(const sdfg::Sdfg& nest) {
    static constexpr std::array<const char*, 5> favourites = {"vectorize", "vectorize", "parallelize", "parallelize",
                                                              "register_tile"};
    RecipeOptions options;
    options.favourite = transforms::find_step(favourites[random_.below(favourites.size())]);
    transforms::Recipe recipe = random_recipe(nest, random_.next(), options);
    const auto has = [&](std::string_view name) {
      return std::ranges::any_of(recipe.steps, [&](const auto& call) { return call.step == name; });
    };
    if (has("vectorize") || has("register_tile")) recipe.target = "highway";
    if (has("parallelize") && recipe.target == "cpp") recipe.target = "openmp";
    return recipe;
  }

  // A recipe of some strategy, with any of the values that it leaves open; nullopt: none applies. Of few iterations no
  // model would choose it.
  std::optional<transforms::Recipe> by_strategy(const sdfg::Sdfg& nest) {
    const transforms::ApplyOptions options{.context = {.hardware = small_hardware()}, .budget = small_budget};
    const auto facts = transforms::NestFacts::of(nest, options.context, options.budget);
    if (!facts) return std::nullopt;
    std::vector<transforms::OpenRecipe> recipes;
    for (const auto* strategy : transforms::strategies()) {
      auto written = strategy->gpu ? Result<std::vector<transforms::OpenRecipe>>() : strategy->write(*facts);
      if (written && !written->empty()) recipes.push_back(std::move((*written)[random_.below(written->size())]));
    }
    while (!recipes.empty()) {
      const auto chosen = recipes.begin() + static_cast<std::ptrdiff_t>(random_.below(recipes.size()));
      transforms::OpenChoice choice;
      for (const auto& [name, values] : chosen->open) choice[name] = random_.below(values.size());
      auto recipe = transforms::closed(*chosen, choice);
      if (recipe && transforms::apply(nest, *recipe, options)) return std::move(*recipe);
      recipes.erase(chosen);
    }
    return std::nullopt;
  }

  Random random_;
};

Result<void> lock(std::uint64_t seed, const std::string& file, std::vector<std::string> flags) {
  flags.insert(flags.end(), {"-c", file});
  TRY(const std::string text, client::read_file(file));
  const client::CommandLine line = client::classify(flags, [](const std::string&) { return std::nullopt; });
  const client::Meaning meaning = client::meaning_of(line, "clang-19");
  const client::Lift lift = [&] {
    return frontends::c::lift(text, file, client::front_end_options(line, "clang-19", client::Text::Written));
  };
  client::Options options;
  options.lock = true;
  TRY(const client::Outcome outcome,
      client::optimize(lift, file, meaning, options,
                       [&](const tuning_db::Hardware&,
                           std::vector<std::string>&) -> Result<std::unique_ptr<transforms::RecipeSource>> {
                         return std::make_unique<RandomSource>(seed);
                       }));
  for (const client::Served& served : outcome.served) {
    for (const auto& pin : served.pins) {
      std::printf("%s:%d: %s\n", outcome.report.nests[served.nest].function.c_str(),
                  outcome.report.nests[served.nest].line, transforms::to_text(pin.match.recipe).c_str());
    }
  }
  return client::BuildSources(file, options).pin(outcome);
}

}  // namespace
}  // namespace sous::tests

int main(int count, char** words) {
  if (count < 3) {
    std::fputs("random_lock SEED FILE.c [compiler flags]\n", stderr);
    return 2;
  }
  const auto done = sous::tests::lock(std::strtoull(words[1], nullptr, 10), words[2],
                                      std::vector<std::string>(words + 3, words + count));
  if (!done) std::fprintf(stderr, "%s\n", done.error().to_string().c_str());
  return done ? 0 : 1;
}
