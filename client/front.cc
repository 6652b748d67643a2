#include "client/front.h"

#include <cstdio>
#include <optional>

#include "client/blas_threads.h"
#include "client/guard.h"
#include "client/kept_answers.h"
#include "client/launcher.h"
#include "client/places.h"
#include "client/preprocess.h"
#include "client/process.h"
#include "client/verdicts.h"
#include "frontends/c/own_clang.h"

namespace sous::client {
namespace {

using std::string;
using Words = std::vector<string>;

Error become_core(const Words& arguments) {
  Words command{program_beside("sous-core")};
  command.insert(command.end(), arguments.begin(), arguments.end());
  spare_blas_threads();
  Error error = become(command);
  forget_spared_blas_threads();
  return error;
}

// Why nothing is done with a file of this preprocessed text; nullopt: that takes a front end.
std::optional<Left> left_by_text(const Launch& launch, const Input& input, const ResultCache& cache,
                                 const transforms::Reach& reach, const string& text) {
  auto pieces = compile_state(launch.options, launch.line, input, launch.compiler());
  pieces.push_back(text);
  std::optional<Left> found;
  auto kept = cache.find(result_key(pieces));
  if (kept && !kept->served && KeptAnswers(cache, launch.options).hold(kept->asked)) {
    found = Left{nothing_served, std::move(kept->report), std::move(kept->facts), std::move(kept->asked)};
  } else if (const auto bound = kept ? std::nullopt : frontends::c::loop_bound(text)) {
    if (auto why = beyond(reach, *bound)) found = Left{std::move(*why), "", ""};
  }
  if (found) keep_unchanged(cache, launch.options, launch.line, input, launch.compiler(), text, *found);
  return found;
}

// Why the input is left as it is; nullopt: that takes a look into it, if there is a text into that.
std::optional<Left> left(const Launch& launch, const Input& input, const ResultCache& cache,
                         std::optional<Preprocessed>& text) {
  if (!may_keep(launch.options, input.path)) return std::nullopt;
  if (auto kept = unchanged(cache, launch.options, launch.line, input, launch.compiler())) return kept;
  const auto reach = known_reach(cache, launch.options);
  if (const auto search = include_search(launch.line, launch.compiler())) {
    const auto bound = frontends::c::loop_bound(input.path, *search);
    auto why = bound ? beyond(reach.value_or(transforms::Reach::none()), *bound) : std::nullopt;
    if (why) return Left{std::move(*why), "", ""};
  }
  if (!reach || launch.line.inputs.size() != 1) return std::nullopt;
  // sous-core preprocesses by itself, and sees what the text says, in the time that a clang takes to start.
  if (frontends::c::is_own_clang(program_path(launch.compiler()))) return std::nullopt;
  auto preprocessed = preprocess(launch.line, input, launch.compiler());
  if (!preprocessed) return std::nullopt;
  auto found = left_by_text(launch, input, cache, *reach, preprocessed->text);
  if (!found) text = std::move(*preprocessed);
  return found;
}

std::optional<std::vector<Left>> all_left(const Launch& launch, std::optional<Preprocessed>& text) {
  const auto cache = ResultCache::open();
  if (!cache) return std::nullopt;
  std::vector<Left> out;
  for (const auto& input : launch.line.inputs) {
    if (!input.is_c) continue;
    auto one = left(launch, input, *cache, text);
    if (!one) return std::nullopt;
    out.push_back(std::move(*one));
  }
  return out;
}

int without_core(const Launch& launch, const Error& error) {
  std::fprintf(stderr, "sous: %s: compiled without it\n", error.to_string().c_str());
  return become_original(launch);
}

int compile(const Launch& launch, const Words& arguments) {
  guard_with(launch.original, launch.line.inputs[0].path);
  std::optional<Preprocessed> text;
  const auto verdicts = all_left(launch, text);
  stop_guarding();
  if (!verdicts) {
    if (text) hand_over(*text);
    return without_core(launch, become_core(arguments));
  }
  auto verdict = verdicts->begin();
  for (const auto& input : launch.line.inputs) {
    if (!input.is_c) continue;
    append_to_build_log({.fate = Fate::Left,
                         .why = verdict->why,
                         .compiler = launch.compiler(),
                         .options = launch.line.compile,
                         .file = input.path,
                         .object = object_path(launch.line, input),
                         .report = verdict->report,
                         .facts = verdict->facts,
                         .cached = !verdict->report.empty()});
    ++verdict;
  }
  if (launch.line.action == Action::CompileAndLink) summarize_link(launch, launch.line.arguments);
  return become_original(launch);
}

// Commands of Sous itself, and command lines with an error in them, are sous-core's; so is a compiler that is not
// there, for the message. No command of ours is called like a compiler.
std::optional<Parsed> as_launcher(const Words& arguments) {
  auto start = options_from_environment();
  if (!start) return std::nullopt;
  auto parsed = parse_options(arguments, false, std::move(*start));
  if (!parsed) return std::nullopt;
  if (parsed->words.empty()) parsed->words = std::move(parsed->after);
  if (parsed->words.empty()) return std::nullopt;
  const string name = name_of(parsed->words[0]);
  const bool compiler = name.find("cc") != string::npos || name.find("clang") != string::npos;
  if (!compiler || !find_program(parsed->words[0])) return std::nullopt;
  return std::move(*parsed);
}

}  // namespace

int run_front(const Words& arguments) {
  const auto parsed = as_launcher(arguments);
  if (parsed && parsed->options.explain == Explain::No) {
    return launch(parsed->options, parsed->words, [&](const Launch& launch) { return compile(launch, arguments); });
  }
  const Error error = become_core(arguments);
  if (!parsed) {
    std::fprintf(stderr, "sous: %s\n", error.to_string().c_str());
    return 127;
  }
  return launch(parsed->options, parsed->words, [&](const Launch& launch) { return without_core(launch, error); });
}

}  // namespace sous::client
