// `sous bench verify`: every program of the suite through Sous, bit for bit against clang-19 without it, contraction
// off on both sides. Variants: each target with the normal form alone and with every seed recipe that applies.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "benchmarks/bench.h"
#include "benchmarks/build.h"
#include "benchmarks/interrupt.h"
#include "benchmarks/launcher_report.h"
#include "benchmarks/outputs.h"
#include "benchmarks/progress.h"
#include "benchmarks/table.h"
#include "client/command_line.h"
#include "client/pipeline.h"
#include "client/places.h"
#include "client/process.h"
#include "tuning-db/json_reader.h"

namespace sous::benchmarks {
namespace {

using std::string;

struct SeedRecipe {
  string name;  // of its entry, where several have it the first
  string file;  // what --recipe takes
};

// The recipes of the entries in a folder's *.jsonl, each once, written into `folder`.
Result<std::vector<SeedRecipe>> seed_recipes(const string& seeds, const client::TemporaryFolder& folder) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (const auto& file : std::filesystem::directory_iterator(seeds, error)) {
    if (file.path().extension() == ".jsonl") files.push_back(file.path());
  }
  if (error) return fail("bench.recipes", error.message(), seeds);
  std::sort(files.begin(), files.end());
  std::set<string> texts;
  std::vector<SeedRecipe> out;
  for (const auto& file : files) {
    TRY(const string text, client::read_file(file.string()));
    for (std::size_t at = 0; at < text.size();) {
      const auto end = std::min(text.find('\n', at), text.size());
      const string line = text.substr(at, end - at);
      at = end + 1;
      if (line.find_first_not_of(" \t\r") == string::npos) continue;
      TRY(const auto entry, tuning_db::parse_json(line, "bench.recipes"));
      if (!entry.is_object() || !entry.contains("recipe") || !entry["recipe"].is_object()) {
        return fail("bench.recipes", "an entry without a recipe", file.string());
      }
      const string recipe = tuning_db::dump(entry["recipe"]);
      if (!texts.insert(recipe).second) continue;
      const auto name = entry.find("name");
      const string path = folder.file("recipe" + std::to_string(out.size()) + ".json");
      TRY_VOID(client::write_file(path, recipe));
      out.push_back({name != entry.end() && name->is_string() ? name->get<string>() : "?", path});
    }
  }
  return out;
}

struct Variant {
  string target, recipe, recipe_file;
};

// What verifying one case found.
struct Verdict {
  int nests = 0;                                      // that were lifted
  std::map<string, std::pair<int, int>> normal_form;  // by target: served nests, equal outputs (0 or 1)
  int recipes_applied = 0, recipes_equal = 0;         // over all targets
  std::vector<string> problems;
  std::set<string> reasons;
};

class Verifier {
 public:
  Verifier(const Suite& suite, const Options& options, Words targets, std::vector<SeedRecipe> recipes)
      : suite_(suite),
        flags_(client::split_words(options.flags)),
        targets_(std::move(targets)),
        recipes_(std::move(recipes)),
        threads_(options.threads) {
    flags_.push_back("-ffp-contract=off");
  }

  Verdict verify(const Case& test, const string& folder) const {
    Verdict verdict;
    const auto reference = outputs(test, {"clang", {"clang-19"}}, folder);
    if (!reference) {
      verdict.problems.push_back(reference.error().to_string());
      return verdict;
    }
    for (const auto& target : targets_) {
      const auto report = compare(test, {target, "normal form", "normal-form"}, *reference, folder, verdict);
      if (!report) continue;
      verdict.nests = std::max(
          verdict.nests, static_cast<int>(std::count_if(report->nests.begin(), report->nests.end(), [&](const auto& n) {
            return n.function.starts_with(suite_.kernel);
          })));
      verdict.normal_form[target] = {report->served(), 1};
      verdict.reasons.insert(report->reasons.begin(), report->reasons.end());
    }
    for (const auto& recipe : recipes_) {
      // Whether the steps are legal does not depend on the target; most recipes fit few programs.
      const auto fits = applies_to(test, recipe);
      if (!fits) verdict.problems.push_back(recipe.name + ": " + fits.error().to_string());
      if (!fits || !*fits) continue;
      for (const auto& target : targets_) {
        const auto report = compare(test, {target, recipe.name, recipe.file}, *reference, folder, verdict);
        ++verdict.recipes_applied;
        verdict.recipes_equal += report ? 1 : 0;
      }
    }
    return verdict;
  }

 private:
  // Does a nest of the program take the recipe? Asked without building anything.
  Result<bool> applies_to(const Case& test, const SeedRecipe& recipe) const {
    client::RunOptions run_options;
    run_options.capture_output = run_options.capture_errors = true;
    run_options.folder = suite_.folder;
    run_options.limit_seconds = longest_build_seconds;
    run_options.stop = &stop_requested();
    for (const auto& source : test.program.sources) {
      Words command{client::program_beside("sous"), "opt",           source, "--target=" + targets_[0],
                    "--recipe=" + recipe.file,      "--emit=report", "--"};
      command.insert(command.end(), flags_.begin(), flags_.end());
      const Words own = compile_flags(suite_, test);
      command.insert(command.end(), own.begin(), own.end());
      TRY(const auto finished, client::run(command, run_options));
      if (finished.status != 0)
        return fail("bench.verify", finished.errors.substr(0, finished.errors.find('\n')), test.label());
      TRY(const auto report, parse_report(finished.output));
      if (std::any_of(report.nests.begin(), report.nests.end(),
                      [](const NestSummary& n) { return n.served && !n.used.empty(); })) {
        return true;
      }
    }
    return false;
  }

  Result<string> outputs(const Case& test, const Compiler& compiler, const string& folder) const {
    TRY(const auto built, build(suite_, test, compiler, flags_, folder + "/program"));
    TRY(auto ran, run_and_dump(suite_, built.binary, folder + "/outputs",
                               {.arguments = run_arguments(test), .threads = threads_, .timed = false}));
    return std::move(ran.outputs);
  }

  // The launcher's report if the outputs are equal; otherwise a problem is noted.
  std::optional<LauncherReport> compare(const Case& test, const Variant& variant, const string& reference,
                                        const string& folder, Verdict& verdict) const {
    const string report_file = folder + "/report";
    std::remove(report_file.c_str());
    const auto attempt = [&]() -> Result<LauncherReport> {
      TRY(const string ours, outputs(test,
                                     sous_over_clang({"--target=" + variant.target, "--recipe=" + variant.recipe_file,
                                                      "--report=" + report_file}),
                                     folder));
      TRY(const auto comparison, compare_outputs(reference, ours, suite_.types.at(test.type).element));
      if (!comparison.bit_equal) {
        return fail("bench.outputs", "element " + std::to_string(comparison.first) + " differs first; the largest " +
                                         "difference is " + scientific(comparison.difference, 2));
      }
      TRY(const string text, client::read_file(report_file));
      return parse_report(text);
    };
    auto report = attempt();
    if (report) return std::move(*report);
    verdict.problems.push_back(variant.target + ", " + variant.recipe + ": " + report.error().to_string());
    return std::nullopt;
  }

  const Suite& suite_;
  Words flags_;
  Words targets_;
  std::vector<SeedRecipe> recipes_;
  int threads_;
};

Words split_commas(const string& text) {
  Words out;
  for (std::size_t at = 0; at <= text.size();) {
    const auto end = std::min(text.find(',', at), text.size());
    out.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

string verdict_table(const std::vector<Program>& programs, const std::vector<Case>& tests,
                     const std::vector<Verdict>& verdicts, const Words& targets) {
  std::vector<string> head{"program", "cases", "kernel nests"};
  for (const auto& target : targets) head.push_back(target + " equal (served)");
  head.push_back("recipes equal/applied");
  Table table(head);
  for (const auto& program : programs) {
    int count = 0, nests = 0, applied = 0, equal = 0;
    std::map<string, std::pair<int, int>> served_and_equal;
    for (std::size_t t = 0; t < tests.size(); ++t) {
      if (tests[t].program.name != program.name) continue;
      ++count;
      nests = std::max(nests, verdicts[t].nests);
      applied += verdicts[t].recipes_applied;
      equal += verdicts[t].recipes_equal;
      for (const auto& [target, found] : verdicts[t].normal_form) {
        auto& sum = served_and_equal[target];
        sum.first = std::max(sum.first, found.first);
        sum.second += found.second;
      }
    }
    std::vector<string> row{program.name, std::to_string(count), std::to_string(nests)};
    for (const auto& target : targets) {
      const auto [served, right] = served_and_equal[target];
      row.push_back(std::to_string(right) + "/" + std::to_string(count) + " (" + std::to_string(served) + ")");
    }
    row.push_back(std::to_string(equal) + "/" + std::to_string(applied));
    table.add(std::move(row));
  }
  return table.to_string();
}

// A few names, or how many.
string listed(const std::set<string>& names) {
  constexpr std::size_t few = 4;
  if (names.size() > few) return std::to_string(names.size()) + " programs";
  string out;
  for (const auto& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

}  // namespace

Result<int> bench_verify(const Options& options) {
  TRY(const Suite suite, read_suite(options.suite));
  TRY(const auto programs, select(suite, options.kernels));
  TRY(const auto tests, cases(suite, programs, options.sizes.empty() ? Words{"MINI", "SMALL"} : options.sizes,
                              options.types.empty() ? Words{"double", "float"} : options.types));
  TRY(const auto folder, client::TemporaryFolder::make());
  std::vector<SeedRecipe> recipes;
  if (options.recipes != "none") {
    const char* seeds = std::getenv("SOUS_SEED_DIR");
    TRY(recipes, seed_recipes(!options.recipes.empty() ? options.recipes
                              : seeds != nullptr       ? seeds
                                                       : SOUS_DEFAULT_SEED_DIR,
                              folder));
  }
  const Words targets = options.targets.empty() ? client::target_names() : split_commas(options.targets);
  const Verifier verifier(suite, options, targets, recipes);

  std::vector<Verdict> verdicts(tests.size());
  {
    Progress progress(tests.size());
    std::atomic<std::size_t> next = 0;
    const auto work = [&](std::size_t worker) {
      const string own = folder.file("worker" + std::to_string(worker));
      std::error_code error;
      std::filesystem::create_directory(own, error);
      for (std::size_t t = next++; t < tests.size(); t = next++) {
        progress.say(tests[t].label());
        verdicts[t] = verifier.verify(tests[t], own);
        progress.step();
        for (const auto& problem : verdicts[t].problems) progress.line(tests[t].label() + ": " + problem);
      }
    };
    const std::size_t jobs =
        options.jobs > 0 ? static_cast<std::size_t>(options.jobs) : std::max(1U, std::thread::hardware_concurrency());
    std::vector<std::jthread> workers;
    for (std::size_t w = 0; w < jobs; ++w) workers.emplace_back(work, w);
  }
  std::printf("%s", verdict_table(programs, tests, verdicts, targets).c_str());

  std::size_t problems = 0;
  std::map<string, std::set<string>> reasons;  // the programs that have it
  std::map<string, int> lifted;
  for (std::size_t t = 0; t < tests.size(); ++t) {
    const string& program = tests[t].program.name;
    problems += verdicts[t].problems.size();
    lifted[program] += verdicts[t].nests;
    for (const auto& reason : verdicts[t].reasons) reasons[reason].insert(program);
  }
  std::printf("\nNot lifted, and why:\n");
  for (const auto& [reason, names] : reasons) std::printf("  %s (%s)\n", reason.c_str(), listed(names).c_str());
  for (const auto& [program, nests] : lifted) {
    if (nests > 0) continue;
    ++problems;
    std::printf("%s: no nest was lifted\n", program.c_str());
  }
  std::printf("%zu cases, %zu recipes, %zu problems\n", tests.size(), recipes.size(), problems);
  return problems == 0 ? 0 : 1;
}

}  // namespace sous::benchmarks
