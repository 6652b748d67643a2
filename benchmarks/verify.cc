// `sous bench verify`: every program of the suite through Sous, bit for bit against clang-19 without it, contraction
// off on both sides. Variants: each target with the normal form alone and with every seed recipe that applies.
#include <algorithm>
#include <atomic>
#include <deque>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "benchmarks/bench.h"
#include "benchmarks/build.h"
#include "benchmarks/interrupt.h"
#include "benchmarks/launcher_report.h"
#include "benchmarks/outputs.h"
#include "benchmarks/progress.h"
#include "benchmarks/seeds.h"
#include "benchmarks/table.h"
#include "client/command_line.h"
#include "client/pipeline.h"
#include "client/places.h"
#include "client/process.h"

namespace sous::benchmarks {
namespace {

using std::string;

struct SeedRecipe {
  string name;  // of its entry, where several have it the first
  string file;  // what --recipe takes
};

// The recipes of the entries in a folder's *.jsonl, each once, written into `folder`.
Result<std::vector<SeedRecipe>> seed_recipes(const string& seeds, const client::TemporaryFolder& folder) {
  TRY(const auto files, seed_files(seeds));
  TRY(const auto entries, seed_entries(files));
  std::set<string> texts;
  std::vector<SeedRecipe> out;
  for (const auto& entry : entries) {
    const string recipe = transforms::to_json(entry.recipe);
    if (!texts.insert(recipe).second) continue;
    const string path = folder.file("recipe" + std::to_string(out.size()) + ".json");
    TRY_VOID(client::write_file(path, recipe));
    out.push_back({entry.name, path});
  }
  return out;
}

// Lines that are comments name the recipe, which the program does not depend on.
string without_comments(const string& code) {
  string out;
  for (std::size_t at = 0; at < code.size();) {
    const auto end = std::min(code.find('\n', at), code.size());
    const auto text = code.find_first_not_of(' ', at);
    if (text >= end || code.compare(text, 2, "//") != 0) out.append(code, at, end - at + 1);
    at = end + 1;
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
  int programs = 0;                                   // that differ from each other among those with a recipe
  std::vector<string> problems;
  std::set<string> reasons;
};

// One case, which several workers verify: each its own recipes.
class Verification {
 public:
  explicit Verification(Case test) : test_(std::move(test)) {}

  const Case& test() const { return test_; }

  // What a program puts out that knows nothing of Sous; made by who asks first.
  template <typename Make>
  const Result<string>& reference(Make make) {
    std::call_once(made_, [&] {
      reference_ = make();
      if (!reference_) change([&](Verdict& verdict) { verdict.problems.push_back(reference_.error().to_string()); });
    });
    return reference_;
  }

  template <typename Change>
  void change(Change change_verdict) {
    const std::lock_guard lock(mutex_);
    change_verdict(verdict_);
  }

  // Whether the program of this generated code is equal; many recipes make the same of a nest, and who comes first
  // tries it. Others that come meanwhile wait.
  template <typename Try>
  bool equal(const string& code, Try try_it) {
    Once& once = [&]() -> Once& {
      const std::lock_guard lock(mutex_);
      return tried_[code];
    }();
    std::call_once(once.flag, [&] {
      once.equal = try_it();
      change([](Verdict& verdict) { ++verdict.programs; });
    });
    return once.equal;
  }

  // Since this was asked last.
  std::vector<string> new_problems() {
    const std::lock_guard lock(mutex_);
    const auto from =
        verdict_.problems.begin() + static_cast<std::ptrdiff_t>(std::exchange(said_, verdict_.problems.size()));
    return {from, verdict_.problems.end()};
  }

  const Verdict& verdict() const { return verdict_; }  // once no worker is at it

 private:
  struct Once {
    std::once_flag flag;
    bool equal = false;
  };

  Case test_;
  std::once_flag made_;
  Result<string> reference_;
  std::mutex mutex_;
  Verdict verdict_;
  std::size_t said_ = 0;  // problems
  std::map<string, Once> tried_;
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

  // Part 0 of a case is its normal form, each further one a recipe.
  std::size_t parts() const { return 1 + recipes_.size(); }

  // `folder` is the caller's alone.
  void verify(Verification& about, std::size_t part, const string& folder) const {
    const auto& reference = about.reference([&] { return outputs(about.test(), {"clang", {"clang-19"}}, folder); });
    if (!reference) return;
    if (part == 0) {
      for (const auto& target : targets_) verify_normal_form(about, target, *reference, folder);
    } else {
      verify_recipe(about, recipes_[part - 1], *reference, folder);
    }
  }

 private:
  void verify_normal_form(Verification& about, const string& target, const string& reference,
                          const string& folder) const {
    const auto report = compare(about, {target, "normal form", "normal-form"}, reference, folder);
    if (!report) return;
    const auto of_kernel = [&](const NestSummary& nest) { return nest.function.starts_with(suite_.kernel); };
    const auto nests = static_cast<int>(std::ranges::count_if(report->nests, of_kernel));
    about.change([&](Verdict& verdict) {
      verdict.nests = std::max(verdict.nests, nests);
      verdict.normal_form[target] = {report->served(), 1};
      verdict.reasons.insert(report->reasons.begin(), report->reasons.end());
    });
  }

  void verify_recipe(Verification& about, const SeedRecipe& recipe, const string& reference,
                     const string& folder) const {
    for (const auto& target : targets_) {
      const auto code = code_with(about.test(), target, recipe, folder);
      if (!code) {
        const string problem = target + ", " + recipe.name + ": " + code.error().to_string();
        about.change([&](Verdict& verdict) { verdict.problems.push_back(problem); });
        return;
      }
      // Whether the steps are legal does not depend on the target; most recipes fit few programs.
      if (code->empty()) return;
      const bool equal = about.equal(target + "\n" + without_comments(*code), [&] {
        return compare(about, {target, recipe.name, recipe.file}, reference, folder).has_value();
      });
      about.change([&](Verdict& verdict) {
        ++verdict.recipes_applied;
        verdict.recipes_equal += equal ? 1 : 0;
      });
    }
  }

  // What is generated with the recipe; nothing where no nest of the program takes it. Nothing is compiled.
  Result<string> code_with(const Case& test, const string& target, const SeedRecipe& recipe,
                           const string& folder) const {
    client::RunOptions run_options;
    run_options.capture_output = run_options.capture_errors = true;
    run_options.folder = suite_.folder;
    run_options.limit_seconds = longest_build_seconds;
    run_options.stop = &stop_requested();
    const string report_file = folder + "/report";
    string code;
    bool used = false;
    for (const auto& source : test.program.sources) {
      std::remove(report_file.c_str());
      Words command{client::program_beside("sous"), "opt",        source,
                    "--target=" + target,           "--emit=cpp", "--recipe=" + recipe.file,
                    "--report=" + report_file,      "--"};
      command.insert(command.end(), flags_.begin(), flags_.end());
      const Words own = compile_flags(suite_, test);
      command.insert(command.end(), own.begin(), own.end());
      TRY(const auto finished, client::run(command, run_options));
      if (finished.status != 0)
        return fail("bench.verify", finished.errors.substr(0, finished.errors.find('\n')), test.label());
      TRY(const string text, client::read_file(report_file));
      TRY(const auto report, parse_report(text));
      used =
          used || std::ranges::any_of(report.nests, [](const NestSummary& n) { return n.served && !n.used.empty(); });
      code += finished.output;
    }
    return used ? code : "";
  }

  Result<string> outputs(const Case& test, const Compiler& compiler, const string& folder) const {
    TRY(const auto built, build(suite_, test, compiler, flags_, folder + "/program"));
    TRY(auto ran, run_and_dump(suite_, built.binary, folder + "/outputs",
                               {.arguments = run_arguments(test), .threads = threads_, .timed = false}));
    return std::move(ran.outputs);
  }

  // The launcher's report if the outputs are equal; otherwise a problem is noted.
  std::optional<LauncherReport> compare(Verification& about, const Variant& variant, const string& reference,
                                        const string& folder) const {
    const Case& test = about.test();
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
    const string problem = variant.target + ", " + variant.recipe + ": " + report.error().to_string();
    about.change([&](Verdict& verdict) { verdict.problems.push_back(problem); });
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

string verdict_table(const std::vector<Program>& programs, const std::deque<Verification>& cases,
                     const Words& targets) {
  std::vector<string> head{"program", "cases", "kernel nests"};
  for (const auto& target : targets) head.push_back(target + " equal (served)");
  head.push_back("recipes equal/applied");
  Table table(head);
  for (const auto& program : programs) {
    int count = 0, nests = 0, applied = 0, equal = 0;
    std::map<string, std::pair<int, int>> served_and_equal;
    for (const Verification& about : cases) {
      if (about.test().program.name != program.name) continue;
      const Verdict& verdict = about.verdict();
      ++count;
      nests = std::max(nests, verdict.nests);
      applied += verdict.recipes_applied;
      equal += verdict.recipes_equal;
      for (const auto& [target, found] : verdict.normal_form) {
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

// Recipe by recipe, so that the workers are at different cases.
void run_all(std::deque<Verification>& cases, const Verifier& verifier, const client::TemporaryFolder& folder,
             int wanted_jobs) {
  const std::size_t total = cases.size() * verifier.parts();
  Progress progress(total);
  std::atomic<std::size_t> next = 0;
  const auto work = [&](std::size_t worker) {
    const string own = folder.file("worker" + std::to_string(worker));
    std::error_code error;
    std::filesystem::create_directory(own, error);
    for (std::size_t t = next++; t < total; t = next++) {
      Verification& about = cases[t % cases.size()];
      progress.say(about.test().label());
      verifier.verify(about, t / cases.size(), own);
      progress.step();
      for (const auto& problem : about.new_problems()) progress.line(about.test().label() + ": " + problem);
    }
  };
  const std::size_t jobs =
      wanted_jobs > 0 ? static_cast<std::size_t>(wanted_jobs) : std::max(1U, std::thread::hardware_concurrency());
  std::vector<std::jthread> workers;
  for (std::size_t w = 0; w < jobs; ++w) workers.emplace_back(work, w);
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
    TRY(recipes, seed_recipes(seed_folder(options.recipes), folder));
  }
  const Words targets = options.targets.empty() ? client::target_names() : split_commas(options.targets);
  const Verifier verifier(suite, options, targets, recipes);

  std::deque<Verification> verifications;
  for (const Case& test : tests) verifications.emplace_back(test);
  run_all(verifications, verifier, folder, options.jobs);
  std::printf("%s", verdict_table(programs, verifications, targets).c_str());

  std::size_t problems = 0, applied = 0, differing = 0;
  std::map<string, std::set<string>> reasons;  // the programs that have it
  std::map<string, int> lifted;
  for (const Verification& about : verifications) {
    const string& program = about.test().program.name;
    const Verdict& verdict = about.verdict();
    problems += verdict.problems.size();
    applied += static_cast<std::size_t>(verdict.recipes_applied);
    differing += static_cast<std::size_t>(verdict.programs);
    lifted[program] += verdict.nests;
    for (const auto& reason : verdict.reasons) reasons[reason].insert(program);
  }
  std::printf("\nNot lifted, and why:\n");
  for (const auto& [reason, names] : reasons) std::printf("  %s (%s)\n", reason.c_str(), listed(names).c_str());
  for (const auto& [program, nests] : lifted) {
    if (nests > 0) continue;
    ++problems;
    std::printf("%s: no nest was lifted\n", program.c_str());
  }
  std::printf("%zu cases, %zu recipes, applied %zu times (%zu different programs), %zu problems\n", tests.size(),
              recipes.size(), applied, differing, problems);
  return problems == 0 ? 0 : 1;
}

}  // namespace sous::benchmarks
