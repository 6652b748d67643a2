// `sous bench shapes`: no shape may be slower than the original. Every nest of the seeds, and some C files, over a grid
// of shapes and numbers of threads: the original, the generated code behind its guard, and without it, in turns.
//
//   shapes                         builds, runs and reports
//   shapes --build-only FOLDER     builds; FOLDER/run.sh RESULTS.jsonl [SECONDS] runs, on any machine
//   shapes report RESULTS.jsonl…   the tables once more
//   shapes thresholds RESULTS.jsonl… --out SEED.jsonl     the entries with the thresholds that these measurements allow
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <set>
#include <sstream>
#include <thread>

#include "benchmarks/bench.h"
#include "benchmarks/interrupt.h"
#include "benchmarks/progress.h"
#include "benchmarks/seeds.h"
#include "benchmarks/shape_programs.h"
#include "benchmarks/shape_results.h"
#include "client/command_line.h"
#include "client/process.h"
#include "tuning-db/hash.h"

namespace sous::benchmarks {
namespace {

namespace fs = std::filesystem;
using std::string;

constexpr double longest_call = 0.25;  // seconds of the original: what takes longer is near what the entry measured
constexpr double case_seconds = 0.3;   // more runs than three only within it

constexpr const char* run_script = R"sh(#!/bin/sh
# ./run.sh RESULTS.jsonl [SECONDS]: measures the shapes of cases.txt. Those that RESULTS.jsonl has are not run again.
out=$(realpath -m "${1:-results.jsonl}")
cd "$(dirname "$0")" || exit 2
limit=${2:-1000000} start=$(date +%s) tab=$(printf '\t')
touch "$out"
while IFS="$tab" read -r program threads label words; do
  [ $(($(date +%s) - start)) -lt "$limit" ] || { echo "the time is up; the same command goes on" >&2; exit 0; }
  grep -qF "{$label," "$out" && continue
  # The words are several.
  # shellcheck disable=SC2086
  OMP_NUM_THREADS=$threads timeout 120 "./$program" "$label" $words </dev/null >>"$out" || echo "failed: $label" >&2
done <cases.txt
)sh";

string nests_folder() {
  const char* folder = std::getenv("SOUS_SUITE_DIR");
  return string(folder != nullptr ? folder : SOUS_DEFAULT_SUITE_DIR) + "/shapes";
}

// Those of the entries and of benchmarks/shapes/*.c. What cannot be made is said, and left out.
Result<std::vector<ShapeProgram>> programs(const Options& options) {
  TRY(const auto files, seed_files(seed_folder(options.recipes)));
  TRY(const auto entries, seed_entries(files));
  std::set<string> kernels;
  std::istringstream names(options.kernels);
  for (string name; std::getline(names, name, ',');) kernels.insert(name);
  const auto wanted = [&](const string& name) { return kernels.empty() || kernels.contains(name); };
  std::vector<ShapeProgram> out;
  const auto take = [&](Result<ShapeProgram> program, const string& name) {
    if (program) {
      out.push_back(std::move(*program));
    } else {
      std::fprintf(stderr, "sous: %s: %s\n", name.c_str(), program.error().to_string().c_str());
    }
  };
  for (const auto& entry : entries)
    if (wanted(entry.name.substr(0, entry.name.find('#'))) || wanted(entry.name)) take(program_of(entry), entry.name);
  std::vector<fs::path> sources;
  std::error_code error;
  for (const auto& file : fs::directory_iterator(nests_folder(), error))
    if (file.path().extension() == ".c" && wanted(file.path().stem().string())) sources.push_back(file.path());
  std::ranges::sort(sources);
  for (const fs::path& file : sources) take(program_of(file.string(), files, entries), file.filename().string());
  return out;
}

// Builds beside each other; returns the names of those that were built.
Result<std::vector<string>> build_all(const std::vector<ShapeProgram>& programs, const Options& options,
                                      const string& folder) {
  const Words flags = client::split_words(options.flags);
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::vector<string> built;
  Progress progress(programs.size());
  const auto work = [&] {
    for (std::size_t k = next++; k < programs.size() && !stop_requested(); k = next++) {
      progress.say("building " + programs[k].name);
      const auto done = build(programs[k], flags, folder);
      progress.step();
      if (!done) progress.line("sous: " + done.error().to_string());
      const std::scoped_lock lock(mutex);
      if (done) built.push_back(programs[k].name);
    }
  };
  const int jobs = options.jobs > 0 ? options.jobs : static_cast<int>(std::thread::hardware_concurrency());
  {
    std::vector<std::jthread> workers;
    for (int k = 0; k < std::max(1, jobs); ++k) workers.emplace_back(work);
  }
  if (stop_requested()) return fail("bench.stopped", "stopped by Ctrl-C");
  return built;
}

// cases.txt: program, threads, label, words; in an order that looks random, so that any part of it is a sample.
Result<void> write_cases(const std::vector<ShapeProgram>& programs, const std::vector<string>& built,
                         const Options& options, const string& folder) {
  std::vector<int> threads{1, 2};
  if (options.threads > 2) threads.push_back(options.threads);
  std::vector<std::pair<string, string>> lines;
  for (const ShapeProgram& program : programs) {
    if (std::ranges::find(built, program.name) == built.end()) continue;
    const auto cases = shape_cases(program, threads, longest_call);
    for (const ShapeCase& shape : cases) {
      const auto words = arguments(program, shape);
      if (!words) continue;  // the arrays of such a shape are empty or too large
      const string name = label(program, shape, cases.size() / threads.size());
      lines.emplace_back(tuning_db::content_hash(name), program.name + "\t" + std::to_string(shape.threads) + "\t" +
                                                            name + "\t" + std::to_string(case_seconds) + " " +
                                                            std::to_string(options.runs) + " " + *words + "\n");
    }
  }
  std::ranges::sort(lines);
  string text;
  for (const auto& [hash, line] : lines) text += line;
  TRY_VOID(client::write_file(folder + "/cases.txt", text));
  TRY_VOID(client::write_file(folder + "/run.sh", run_script));
  std::error_code error;
  fs::permissions(folder + "/run.sh", fs::perms::owner_all | fs::perms::group_read | fs::perms::others_read, error);
  std::printf("%zu programs, %zu cases\n", built.size(), lines.size());
  return {};
}

Result<std::vector<ShapeResult>> read_results(const Words& files) {
  std::vector<ShapeResult> all;
  for (const string& file : files) {
    TRY(const string text, client::read_file(file));
    TRY(auto results, shape_results(text, file));
    all.insert(all.end(), std::make_move_iterator(results.begin()), std::make_move_iterator(results.end()));
  }
  return all;
}

Result<int> report(const Words& files, const Options& options) {
  TRY(const auto results, read_results(files));
  const ShapeSummary summary = summarize(results, options.noise.value_or(default_shape_noise));
  std::fputs(summary.text.c_str(), stdout);
  return summary.slower == 0 && summary.wrong == 0 ? 0 : 1;
}

Result<int> write_thresholds(const Words& files, const Options& options) {
  if (options.out.empty()) return fail("cli.value", "--out says where the entries go");
  TRY(const auto results, read_results(files));
  TRY(const auto seeds, seed_files(seed_folder(options.recipes)));
  TRY(auto entries, seed_entries(seeds));
  string text;
  int found = 0;
  for (auto& entry : entries) {
    found += set_thresholds(entry, results) ? 1 : 0;
    text += tuning_db::to_json(entry) + "\n";
  }
  TRY_VOID(client::write_file(options.out, text));
  std::printf("%d of %zu entries have thresholds\n", found, entries.size());
  return 0;
}

}  // namespace

Result<int> bench_shapes(const Options& options) {
  const Words files(options.words.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(2, options.words.size())),
                    options.words.end());
  if (options.words.size() > 1) {
    if (files.empty()) return fail("cli.value", options.words[1] + " takes files of results");
    if (options.words[1] == "report") return report(files, options);
    if (options.words[1] == "thresholds") return write_thresholds(files, options);
    return fail("cli.value", "shapes takes report or thresholds, not " + options.words[1]);
  }
  const InterruptGuard interrupt;
  TRY(const auto all, programs(options));
  if (all.empty()) return fail("bench.shapes", "no nest of that name");
  TRY(const auto temporary, client::TemporaryFolder::make());
  const bool only = !options.build_only.empty();
  const string folder = only ? options.build_only : temporary.path();
  std::error_code error;
  fs::create_directories(folder, error);
  TRY(const auto built, build_all(all, options, folder));
  TRY_VOID(write_cases(all, built, options, folder));
  if (only) return 0;
  const string out = options.out.empty() ? folder + "/results.jsonl" : fs::absolute(options.out).string();
  if (!options.resume) fs::remove(out, error);
  Words command{"sh", folder + "/run.sh", out};
  if (options.budget > 0) command.push_back(std::to_string(static_cast<long>(options.budget)));
  TRY_VOID(client::run(command, {.stop = &stop_requested()}));
  return report({out}, options);
}

}  // namespace sous::benchmarks
