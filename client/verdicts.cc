#include "client/verdicts.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "client/kept_answers.h"
#include "client/process.h"
#include "client/system_headers.h"

namespace sous::client {
namespace {

using std::string;
using std::string_view;
using Words = std::vector<string>;

// Loops in loops of integers for which strategies write recipes that no source has.
constexpr int deep_nest = 3;

// Not of what the source says in __FILE__ or the like: the markers name every file that was read.
std::set<string> files_of(string_view preprocessed) {
  std::set<string> files;
  for (std::size_t at = 0; at < preprocessed.size();) {
    const auto end = std::min(preprocessed.find('\n', at), preprocessed.size());
    const string_view row = preprocessed.substr(at, end - at);
    at = end + 1;
    if (!row.starts_with("# ")) continue;
    const auto open = row.find('"'), close = row.rfind('"');
    if (open == string_view::npos || close <= open + 1) continue;
    const string_view name = row.substr(open + 1, close - open - 1);
    // <built-in>; and the folder that gcc -g names, as "/home/me//".
    if (!name.starts_with('<') && !name.ends_with("//")) files.emplace(name);
  }
  return files;
}

// Keys and answers, one after the other. What is no row of them holds for nothing.
std::vector<Asked> asked_of(string_view text) {
  constexpr std::size_t digits = 32;
  std::vector<Asked> asked;
  for (; !text.empty(); text.remove_prefix(std::min(2 * digits, text.size())))
    asked.push_back({string(text.substr(0, digits)), string(text.substr(std::min(digits, text.size()), digits)), ""});
  return asked;
}

string current_folder() {
  std::error_code error;
  return std::filesystem::current_path(error).string();
}

string reach_key(const Options& options) {
  auto pieces = recipe_state(options);
  pieces.emplace_back("reach");
  return result_key(pieces);
}

string unchanged_key(const Options& options, const CommandLine& line, const Input& input, const string& compiler) {
  auto pieces = compile_state(options, line, input, compiler);
  pieces.push_back(std::to_string(line.preprocess.size()));
  pieces.insert(pieces.end(), line.preprocess.begin(), line.preprocess.end());
  pieces.push_back(current_folder());
  pieces.emplace_back("unchanged");
  return result_key(pieces);
}

}  // namespace

std::vector<string> compile_state(const Options& options, const CommandLine& line, const Input& input,
                                  const string& compiler) {
  std::vector<string> pieces = recipe_state(options);
  pieces.insert(pieces.end(), {file_state(program_path(compiler)), compiler, input.path, options.target, options.nest,
                               options.isa, options.reassociate ? "1" : "0", options.share_wanted ? "1" : "0"});
  for (const auto& [name, value] : options.sizes) pieces.push_back(name + "=" + std::to_string(value));
  pieces.push_back(line.debug ? current_folder() : "");
  pieces.push_back(native_state(line.compile));
  for (const Words* words : {&line.compile, &line.link, &line.cpp_code, &line.parse}) {
    pieces.push_back(std::to_string(words->size()));
    pieces.insert(pieces.end(), words->begin(), words->end());
  }
  return pieces;
}

std::optional<transforms::Reach> known_reach(const ResultCache& cache, const Options& options) {
  const auto kept = cache.find_texts(reach_key(options));
  if (!kept || kept->size() != 2) return std::nullopt;
  const auto whole = [](const string& text, int& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size();
  };
  transforms::Reach reach;
  const bool read = whole(kept->front(), reach.least_depth) && whole(kept->back(), reach.least_integer_depth);
  return read ? std::optional(reach) : std::nullopt;
}

void keep_reach(const ResultCache& cache, const Options& options, const transforms::Reach& reach) {
  cache.keep_texts(reach_key(options), {std::to_string(reach.least_depth), std::to_string(reach.least_integer_depth)});
}

std::optional<string> beyond(const transforms::Reach& reach, const frontends::c::LoopBound& bound) {
  if (!bound.any_loop) return "no loop in it";
  // Who has no recipe yet looks for nests that are worth one: sous stats names them.
  if (reach.least_depth == transforms::Reach::nothing) return std::nullopt;
  if (bound.depth < reach.least_depth) return "no loops in it nested as deep as those of any recipe";
  // Strategies serve deep nests of integers as well (shortest paths, closures).
  if (!bound.floating && bound.depth < std::min(deep_nest, reach.least_integer_depth))
    return "no floating point in it, and no loops nested as deep as those of a recipe without";
  return std::nullopt;
}

std::optional<Left> unchanged(const ResultCache& cache, const Options& options, const CommandLine& line,
                              const Input& input, const string& compiler) {
  auto kept = cache.find_texts(unchanged_key(options, line, input, compiler));
  if (!kept || kept->size() < 4) return std::nullopt;
  for (std::size_t k = 4; k < kept->size(); ++k) {
    if (!state_holds((*kept)[k])) return std::nullopt;
  }
  // Where that is not known by now, who can ask the server sees to it.
  if (!KeptAnswers(cache, options).hold(asked_of((*kept)[3]))) return std::nullopt;
  return Left{std::move((*kept)[0]), std::move((*kept)[1]), std::move((*kept)[2])};
}

void keep_unchanged(const ResultCache& cache, const Options& options, const CommandLine& line, const Input& input,
                    const string& compiler, const string& preprocessed, const Left& left) {
  std::vector<string> texts{left.why, left.report, left.facts, ""};
  for (const Asked& one : left.asked) texts[3] += one.key + one.answer;
  for (const string& file : files_of(preprocessed)) {
    texts.push_back(file_state(file));
    if (texts.back().ends_with(':')) return;  // named by a #line: not a file
  }
  cache.keep_texts(unchanged_key(options, line, input, compiler), texts, ResultCache::mode_for(left.asked));
}

std::optional<frontends::c::IncludeSearch> include_search(const CommandLine& line, const string& compiler) {
  for (const char* name : {"CPATH", "C_INCLUDE_PATH"}) {
    if (const char* value = std::getenv(name); value != nullptr && *value != 0) return std::nullopt;
  }
  frontends::c::IncludeSearch search;
  search.system = system_header_folders(line, compiler);
  const Words& words = line.preprocess;
  for (std::size_t k = 0; k < words.size(); ++k) {
    const auto value = [&](string_view option) {
      if (words[k] == option) return k + 1 < words.size() ? words[++k] : string();
      return words[k].substr(option.size());
    };
    const auto begins = [&](string_view option) { return words[k].starts_with(option); };
    if (begins("-trigraphs")) return std::nullopt;
    if (begins("-iquote")) {
      search.quoted.push_back(value("-iquote"));
    } else if (begins("-isystem")) {
      search.folders.push_back(value("-isystem"));
    } else if (begins("-idirafter")) {
      search.folders.push_back(value("-idirafter"));
    } else if (words[k] == "-include" || words[k] == "-imacros") {
      search.included.push_back(value(words[k]));
    } else if (begins("-I")) {
      search.folders.push_back(value("-I"));
    } else if (begins("-D")) {
      string macro = value("-D");
      if (const auto equals = macro.find('='); equals != string::npos) macro[equals] = ' ';
      if (macro.find('\n') != string::npos) return std::nullopt;
      search.macros += "#define " + macro + "\n";
    }
  }
  return search;
}

}  // namespace sous::client
