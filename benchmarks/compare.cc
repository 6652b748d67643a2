// `sous bench report`, `compare` and `keep`: what is done with measurements afterwards.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>

#include "benchmarks/bench.h"
#include "benchmarks/ratios.h"
#include "benchmarks/results.h"
#include "benchmarks/standing.h"
#include "benchmarks/summary.h"
#include "benchmarks/table.h"
#include "client/process.h"

namespace sous::benchmarks {
namespace {

using std::string;

constexpr double default_noise = 0.03;

// The files behind the command's name.
Result<std::vector<Line>> all_lines(const Options& options) {
  if (options.words.size() < 2) return fail("cli.value", "a file of measurements is wanted", options.words[0]);
  string text;
  for (std::size_t k = 1; k < options.words.size(); ++k) {
    TRY(const auto lines, read_lines(options.words[k]));
    for (const Line& line : lines) text += to_json_line(line) + "\n";
  }
  return parse_lines(text);  // of one measurement in several files the last holds
}

std::set<string> machines_of(const std::vector<Ratio>& ratios) {
  std::set<string> out;
  for (const Ratio& r : ratios) out.insert(r.machine);
  return out;
}

string listed(const std::set<string>& texts) {
  string out;
  for (const auto& text : texts) out += (out.empty() ? "" : ", ") + text;
  return out;
}

string ratio_text(const Ratio& ratio) {
  if (!ratio.right) return "wrong";
  return fixed(ratio.ratio.value, 2) + " (" + fixed(ratio.ratio.low, 2) + "–" + fixed(ratio.ratio.high, 2) + ")";
}

// The class of machines as a file name.
string file_name(string machine) {
  std::replace_if(machine.begin(), machine.end(), [](char c) { return c == ':' || c == '=' || c == '/'; }, '-');
  return machine + ".jsonl";
}

}  // namespace

Result<int> bench_report(const Options& options) {
  TRY(const auto lines, all_lines(options));
  const SuiteSummary summary = summarize(lines, options.baseline);
  std::printf("%s%s", (options.json ? to_json(summary) : to_table(summary) + against_the_best(summary)).c_str(),
              options.json ? "\n" : "");
  return 0;
}

Result<int> bench_compare(const Options& options) {
  if (options.words.size() != 3) return fail("cli.value", "two files are wanted", "compare");
  TRY(const auto before, read_ratios(options.words[1], options.baseline));
  TRY(const auto after, read_ratios(options.words[2], options.baseline));
  if (const auto a = machines_of(before), b = machines_of(after); a != b) {
    std::printf("Not the same class of machines: %s; %s\n", listed(a).c_str(), listed(b).c_str());
  }
  const double noise = options.noise.value_or(default_noise);
  Table table({"program", "size", "type", "compiler", "before", "after", "factor", ""}, "llllrrrl");
  std::map<Change, int> counts;
  for (const Difference& d : differences(before, after, noise)) {
    ++counts[d.change];
    const auto row = [&](const Ratio& of, const string& what) {
      const bool both = d.change == Change::Faster || d.change == Change::Slower;
      table.add({of.program, of.size, of.type, of.compiler, d.change == Change::Added ? "" : ratio_text(d.before),
                 d.change == Change::Gone ? "" : ratio_text(d.after), both ? fixed(d.factor(), 2) : "", what});
    };
    switch (d.change) {
      case Change::None:
        break;
      case Change::Faster:
        row(d.after, "faster");
        break;
      case Change::Slower:
        row(d.after, "slower");
        break;
      case Change::NowWrong:
        row(d.after, "wrong or not built any more");
        break;
      case Change::NowRight:
        row(d.after, "right now");
        break;
      case Change::Added:
        row(d.after, "only in the second");
        break;
      case Change::Gone:
        row(d.before, "only in the first");
        break;
    }
  }
  const auto changed = [&](Change change) { return counts[change]; };
  if (table.rows() > 0) std::printf("%s", table.to_string().c_str());
  std::printf("%d the same within %.0f %% and their intervals, %d faster, %d slower, %d wrong now, %d right now\n",
              changed(Change::None), 100 * noise, changed(Change::Faster), changed(Change::Slower),
              changed(Change::NowWrong), changed(Change::NowRight));
  return changed(Change::Slower) + changed(Change::NowWrong) == 0 ? 0 : 1;
}

Result<int> bench_keep(const Options& options) {
  TRY(const auto lines, all_lines(options));
  const string folder = options.results.empty() ? SOUS_DEFAULT_SUITE_DIR "/results" : options.results;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return fail("bench.out", error.message(), folder);
  const auto fresh = ratios_of(summarize(lines, options.baseline));
  for (const string& machine : machines_of(fresh)) {
    std::vector<Ratio> of_class, kept;
    std::copy_if(fresh.begin(), fresh.end(), std::back_inserter(of_class),
                 [&](const Ratio& r) { return r.machine == machine; });
    const string path = folder + "/" + file_name(machine);
    if (std::filesystem::exists(path)) {
      TRY(kept, read_ratios(path, options.baseline));
    }
    const auto all = merged(kept, of_class);
    TRY_VOID(client::write_file(path, to_json_lines(all)));
    std::printf("%s: %zu ratios, %zu of them new or replaced\n", path.c_str(), all.size(), of_class.size());
  }
  return 0;
}

}  // namespace sous::benchmarks
