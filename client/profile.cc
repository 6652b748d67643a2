#include "client/profile.h"

#include <charconv>
#include <numeric>
#include <vector>

#include "client/process.h"

namespace sous::client {
namespace {

using std::string;
using std::string_view;
using Amounts = std::map<string, double>;

std::vector<string_view> lines_of(string_view text) {
  std::vector<string_view> out;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    out.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::vector<string_view> words_of(string_view line) {
  std::vector<string_view> out;
  while (true) {
    const auto begin = line.find_first_not_of(" \t\r");
    if (begin == string_view::npos) return out;
    line.remove_prefix(begin);
    const auto end = std::min(line.find_first_of(" \t\r"), line.size());
    out.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

std::optional<double> number(string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size() && value >= 0;
  return whole ? std::optional(value) : std::nullopt;
}

// "file.c:f" and "file.c;f" of clang's counters, "f.constprop.0" and "f.isra.0" of gcc's copies, "f.1" of clang's.
string plain(string_view symbol) {
  symbol = symbol.substr(symbol.find_last_of(":;") + 1);  // none: from the beginning
  return string(symbol.substr(0, symbol.find('.')));
}

// "    45.20%  a.out  a.out  [.] f"
Amounts of_perf(const std::vector<string_view>& lines) {
  Amounts out;
  for (const string_view line : lines) {
    const auto words = words_of(line);
    if (words.size() < 3 || !words[0].ends_with('%')) continue;
    const auto percent = number(words[0].substr(0, words[0].size() - 1));
    const auto mark = std::min(line.find("[.] "), line.find("[k] "));
    if (!percent || mark == string_view::npos) continue;
    const auto symbol = words_of(line.substr(mark + 4));
    if (!symbol.empty()) out[plain(symbol[0])] += *percent;
  }
  return out;
}

// Below a head that ends in "name", lines that begin with the percentage of time and end in the name.
Amounts of_gprof(const std::vector<string_view>& lines) {
  Amounts out;
  bool table = false;
  for (const string_view line : lines) {
    const auto words = words_of(line);
    if (words.empty()) {
      if (!out.empty()) break;
      continue;
    }
    if (table) {
      const auto percent = number(words[0]);
      if (percent && words.size() > 3) out[plain(words.back())] += *percent;
    }
    table = table || (words[0] == "time" && words.back() == "name");
  }
  return out;
}

//   f:
//     Function count: 1
//     Block counts: [400, 160000]
Amounts of_counters(const std::vector<string_view>& lines) {
  Amounts out;
  string function;
  for (const string_view line : lines) {
    const auto words = words_of(line);
    if (words.size() == 1 && line.starts_with("  ") && line[2] != ' ' && words[0].ends_with(':')) {
      function = plain(words[0].substr(0, words[0].size() - 1));
      continue;
    }
    const bool counts =
        words.size() > 2 && words[1].starts_with("count") && (words[0] == "Function" || words[0] == "Block");
    if (!counts || function.empty()) continue;
    for (std::size_t k = 2; k < words.size(); ++k) {
      string_view digits = words[k];
      const auto first = digits.find_first_of("0123456789");
      if (first == string_view::npos) continue;
      digits.remove_prefix(first);
      out[function] += number(digits.substr(0, digits.find_first_not_of("0123456789"))).value_or(0);
    }
  }
  return out;
}

// What a program prints, of `names` the first that is there.
Result<string> printed(const std::vector<string>& names, const std::vector<string>& arguments) {
  Result<Finished> done = fail("client.run", "not found", names[0]);
  for (const string& name : names) {
    std::vector<string> words{name};
    words.insert(words.end(), arguments.begin(), arguments.end());
    done = run(words, {.capture_output = true, .capture_errors = true});
    if (done && done->status == 0) return done->output;
  }
  if (!done) return std::unexpected(done.error());
  return fail("client.run", names[0] + " cannot read it: " + done->errors.substr(0, done->errors.find('\n')),
              arguments.back());
}

}  // namespace

std::optional<double> Profile::share(const string& function) const {
  const auto found = shares_.find(function);
  return found == shares_.end() ? std::nullopt : std::optional(found->second);
}

Result<Profile> Profile::of_text(string_view text) {
  const auto lines = lines_of(text);
  Profile profile;
  for (const auto form : {of_perf, of_gprof, of_counters}) {
    profile.shares_ = form(lines);
    const double all = std::accumulate(profile.shares_.begin(), profile.shares_.end(), 0.0,
                                       [](double sum, const auto& one) { return sum + one.second; });
    if (!(all > 0)) continue;
    for (auto& [function, amount] : profile.shares_) amount /= all;
    return profile;
  }
  return fail("profile.form",
              "no time of any function in it: what perf record, perf report --stdio, gprof or llvm-profdata "
              "wrote is wanted");
}

Result<Profile> Profile::read(const string& path) {
  TRY(string text, read_file(path));
  const string_view indexed = "\377lprofi\201";
  if (text.starts_with("PERFILE2")) {
    TRY(text, printed({"perf"}, {"report", "--stdio", "--no-children", "-F", "overhead,sym", "-i", path}));
  } else if (text.starts_with(indexed)) {
    TRY(text, printed({"llvm-profdata-19", "llvm-profdata"}, {"show", "--all-functions", "--counts", path}));
  }
  auto profile = of_text(text);
  if (!profile) profile.error().where = path;
  return profile;
}

}  // namespace sous::client
