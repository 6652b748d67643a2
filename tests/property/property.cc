#include "tests/property/property.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "sdfg/text.h"
#include "tests/support/random.h"

namespace sous::tests {
namespace {

constexpr int most_failures = 3;

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

bool applies(const Property& property, const Case& c) {
  return std::ranges::any_of(c.recipe.steps, [&](const transforms::StepCall& call) {
    return property.applied.step.empty() || call.step == property.applied.step;
  });
}

void report(const Property& property, std::uint64_t seed, const Case& failing, const Verdict& verdict) {
  std::ostringstream text;
  text << property.name << " fails for seed " << seed << ": " << verdict.why << "\n"
       << "repeat: SOUS_SEED=" << seed << " SOUS_CASES=1 build/test_property --gtest_filter=Property." << property.name
       << "\n"
       << "recipe: " << transforms::to_text(failing.recipe) << "\n"
       << sdfg::print(failing.sdfg);
  if (verdict.invalid || verdict.refused || from_environment("SOUS_SHRINK", 1) == 0) {
    ADD_FAILURE() << text.str();
    return;
  }
  const Case small = shrink(failing, property.judge, property.shrink_rounds);
  const auto why = property.judge({small})[0];
  const std::string kept = to_file(property.name, small, why ? why->why : verdict.why);
  const std::string path =
      SOUS_SOURCE_DIR "/tests/golden/found/" + property.name + "-" + std::to_string(seed) + ".sdfg";
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  std::ofstream(path) << kept;
  ADD_FAILURE() << text.str() << "shrunk (kept as " << path << "):\n" << kept;
}

}  // namespace

void hold(const Property& property, std::size_t percent) {
  const std::uint64_t first = from_environment("SOUS_SEED", 1);
  const std::size_t cases = std::max<std::size_t>(1, from_environment("SOUS_CASES", 1000) * percent / 100);
  std::cout << property.name << ": seeds " << first << " to " << first + cases - 1 << '\n' << std::flush;
  int failures = 0;
  std::size_t applied = 0;
  for (std::size_t done = 0; done < cases && failures < most_failures; done += property.batch) {
    std::vector<Case> batch;
    for (std::size_t k = done; k < std::min(done + property.batch, cases); ++k)
      batch.push_back(property.make(first + k));
    for (const Case& c : batch) applied += applies(property, c) ? 1 : 0;
    const auto verdicts = property.judge(batch);
    for (std::size_t k = 0; k < batch.size() && failures < most_failures; ++k) {
      if (!verdicts[k]) continue;
      report(property, first + done + k, batch[k], *verdicts[k]);
      ++failures;
    }
  }
  // A few cases, as when one is repeated, may be any.
  if (failures > 0 || cases < 40) return;
  EXPECT_GE(applied * 100, cases * property.applied.percent)
      << property.name << ": " << property.applied.step << " is in only " << applied << " of " << cases << " recipes";
}

std::string to_file(const std::string& property, const Case& c, const std::string& why) {
  std::ostringstream text;
  text << "# property: " << property << "\n# why: " << first_line(why) << "\n# recipe: " << to_text(c.recipe)
       << "\n# tolerance: " << c.tolerance << "\n"
       << sdfg::print(c.sdfg);
  return text.str();
}

Result<Case> from_file(const std::string& text) {
  Case result;
  std::istringstream lines(text);
  std::string line;
  std::string rest;
  while (std::getline(lines, line)) {
    const auto value_of = [&](const std::string& key) -> std::optional<std::string> {
      const std::string head = "# " + key + ": ";
      return line.starts_with(head) ? std::optional(line.substr(head.size())) : std::nullopt;
    };
    if (const auto recipe = value_of("recipe")) {
      TRY(result.recipe, transforms::recipe_from_text(*recipe));
    } else if (const auto tolerance = value_of("tolerance")) {
      result.tolerance = std::strtod(tolerance->c_str(), nullptr);
    } else if (!line.starts_with("#")) {
      rest += line + "\n";
    }
  }
  TRY(result.sdfg, sdfg::parse(rest));
  return result;
}

}  // namespace sous::tests
