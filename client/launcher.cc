#include "client/launcher.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "client/cache_prefix.h"
#include "client/compiler.h"
#include "client/process.h"
#include "client/say_once.h"
#include "client/stats.h"

namespace sous::client {
namespace {

using std::string;
using Words = std::vector<string>;

std::optional<string> response_file(const string& path) {
  if (read_once(path)) return std::nullopt;
  auto text = read_file(path);
  return text ? std::optional(std::move(*text)) : std::nullopt;
}

// A link with an option that is not known here: objects and archives, nothing to compile.
bool links_objects_only(const CommandLine& line) {
  bool objects = false;
  for (const auto& word : line.arguments) {
    static const Words other{"-c", "-S", "-E", "-M", "-MM", "-fsyntax-only", "-x", "-", "-###"};
    if (std::find(other.begin(), other.end(), word) != other.end()) return false;
    if (word.starts_with('-')) continue;
    const bool object = word.ends_with(".o") || word.ends_with(".a") || word.ends_with(".lo");
    objects = objects || object;
    const string name = word.substr(word.rfind('/') + 1);
    if (!object && name.find('.') != string::npos && name.find(".so") == string::npos) return false;
  }
  return objects;
}

void log(const Launch& launch, Fate fate, const string& why) {
  const CommandLine& line = launch.line;
  append_to_build_log({.fate = fate,
                       .why = why,
                       .compiler = launch.compiler(),
                       .file = line.inputs.empty() ? "" : line.inputs[0].path,
                       .object = line.output.value_or("")});
}

int become_command(const Words& command) {
  const Error error = become(command);
  std::fprintf(stderr, "sous: %s\n", error.to_string().c_str());
  return 127;
}

int link(const Launch& launch) {
  Words objects;
  for (const auto& word : launch.line.arguments) {
    if (!word.starts_with('-')) objects.push_back(word);
  }
  summarize_link(launch, objects);
  return become_original(launch, Fate::Link, "linking as it is");
}

}  // namespace

void say(const Launch& launch, const string& text) {
  if (launch.options.explain != Explain::No) std::fprintf(stderr, "sous: %s\n", text.c_str());
}

bool read_once(const string& path) {
  std::error_code error;
  const auto kind = std::filesystem::status(path, error).type();
  return kind == std::filesystem::file_type::fifo || kind == std::filesystem::file_type::character ||
         kind == std::filesystem::file_type::socket;
}

void summarize_link(const Launch& launch, const Words& inputs) {
  const char* wish = std::getenv("SOUS_SUMMARY");
  if (wish == nullptr || *wish == 0 || string(wish) == "0") return;
  const string what = launch.line.output.value_or("a.out");
  if (stats_log_path().empty()) {
    warn(what + ": SOUS_SUMMARY needs the log that SOUS_LOG=none takes away");
  } else {
    std::fprintf(stderr, "sous: %s: %s\n", what.c_str(), summary_line(entries_of_link(inputs)).c_str());
  }
}

int become_original(const Launch& launch) { return become_command(launch.original); }

int become_original(const Launch& launch, Fate fate, const string& why) {
  say(launch, why);
  log(launch, fate, why);
  return become_original(launch);
}

int launch(const Options& options, const Words& command, const std::function<int(const Launch&)>& compile) {
  Launch launch{options, command, {}, {}};
  // Among the compiler's options, where build systems can put it; no compiler knows it.
  if (std::erase(launch.original, "-Rsous") > 0) launch.options.remarks = true;
  const auto prefix = static_cast<std::ptrdiff_t>(cache_prefix(launch.original));
  launch.command.assign(launch.original.begin() + prefix, launch.original.end());
  launch.line = classify(Words(launch.command.begin() + 1, launch.command.end()), response_file);
  const Action action = launch.line.action;
  const Fate fate = action == Action::Link ? Fate::Link : Fate::Pass;
  if (launch.options.disable) return become_original(launch, fate, "disabled");
  if (action == Action::Link || (action == Action::Pass && links_objects_only(launch.line))) return link(launch);
  if (action == Action::Pass) return become_original(launch, fate, "passed through: " + launch.line.why);
  // gcc adds to these files at each of its runs, of which there are several here.
  for (const char* file : {"DEPENDENCIES_OUTPUT", "SUNPRO_DEPENDENCIES"})
    if (std::getenv(file) != nullptr)
      return become_original(launch, fate, "passed through: " + string(file) + " is set");
  for (const auto& input : launch.line.inputs) {
    if (read_once(input.path)) {
      return become_original(launch, fate, "passed through: " + input.path + " can be read only once");
    }
    // What becomes of the others then is the compiler's to say: clang compiles none of them, gcc does.
    if (::access(input.path.c_str(), R_OK) != 0) {
      return become_original(launch, fate, "passed through: " + input.path + " cannot be read");
    }
  }
  return compile(launch);
}

}  // namespace sous::client
