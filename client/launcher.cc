#include "client/launcher.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "client/build_log.h"
#include "client/cache_prefix.h"
#include "client/command_line.h"
#include "client/compile.h"
#include "client/guard.h"
#include "client/process.h"
#include "client/say_once.h"
#include "client/stats.h"

namespace sous::client {
namespace {

using std::string;
using Words = std::vector<string>;

// What can be read once only (a pipe, a terminal) is the compiler's to read.
bool read_once(const string& path) {
  std::error_code error;
  const auto kind = std::filesystem::status(path, error).type();
  return kind == std::filesystem::file_type::fifo || kind == std::filesystem::file_type::character ||
         kind == std::filesystem::file_type::socket;
}

std::optional<string> response_file(const string& path) {
  if (read_once(path)) return std::nullopt;
  auto text = read_file(path);
  return text ? std::optional(std::move(*text)) : std::nullopt;
}

// Which OpenMP runtime an object or archive calls: what clang or gcc generates.
enum class Runtime { None, Omp, Gomp };
Runtime runtime_of(const string& path) {
  const bool object = path.ends_with(".o") || path.ends_with(".a") || path.ends_with(".lo");
  const auto text = object ? read_file(path) : Result<string>(string());
  if (!text) return Runtime::None;
  if (text->find("__kmpc_fork_call") != string::npos) return Runtime::Omp;
  return text->find("GOMP_parallel") != string::npos ? Runtime::Gomp : Runtime::None;
}

// The archives that -l names, as far as -L says where they are.
Words archives_of(const Words& arguments) {
  Words folders, names, out;
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    const string& word = arguments[k];
    if (!word.starts_with("-L") && !word.starts_with("-l")) continue;
    const string value = word.size() > 2 ? word.substr(2) : k + 1 < arguments.size() ? arguments[++k] : "";
    (word[1] == 'L' ? folders : names).push_back(value);
  }
  for (const auto& name : names) {
    for (const auto& folder : folders) {
      const string path = folder + "/lib" + name + ".a";
      std::error_code error;
      if (std::filesystem::exists(path, error)) out.push_back(path);
    }
  }
  return out;
}

// What a link needs for the OpenMP code among its inputs; nothing if the user links the OpenMP of the same compiler
// anyway, or statically.
// No program breaks where a link has no runtime: the generated code refers to it weakly, and leaves the work to the
// original nests; that is said. A weak reference alone keeps no library under --as-needed.
Words openmp_link_options(const CommandLine& line, const string& compiler, Words objects) {
  const auto has = [&](const char* word) {
    return std::find(line.arguments.begin(), line.arguments.end(), word) != line.arguments.end();
  };
  if ((line.openmp && !is_gcc(compiler)) || has("-r")) return {};
  const bool without = line.no_runtime || has("-static") || has("-static-pie");
  for (auto& archive : archives_of(line.arguments)) objects.push_back(std::move(archive));
  bool omp = false, gomp = false;
  for (const auto& object : objects) {
    const auto runtime = runtime_of(object);
    omp = omp || runtime == Runtime::Omp;
    gomp = gomp || runtime == Runtime::Gomp;
  }
  if (!omp && (!gomp || line.openmp)) return {};
  if (without) {
    warn(line.output.value_or("a.out") + ": linked " + (line.no_runtime ? "without libraries" : "statically") +
         ", so without the OpenMP runtime: nests that were to run on threads run as they were written");
    return {};
  }
  Words out{"-Wl,--no-as-needed"};
  // libomp has gcc's entry points too; the other way round it has to be named.
  if (gomp || (omp && !is_gcc(compiler))) out.emplace_back("-fopenmp");
  if (omp && is_gcc(compiler)) {
    const string runtime = "/usr/lib/llvm-19/lib/libomp.so";
    std::error_code error;
    if (!std::filesystem::exists(runtime, error)) {
      warn(line.output.value_or("a.out") + ": some objects were made by clang and need " + runtime +
           ", which is not there (Debian: libomp-19-dev): nests that were to run on threads run as they were written");
      return {};
    }
    out.push_back(runtime);
  }
  return out;
}

class Launcher {
 public:
  // `original`: the command with the compiler caches in front of it.
  Launcher(const Options& options, const Words& original)
      : options_(options),
        original_(original),
        command_(original.begin() + static_cast<std::ptrdiff_t>(cache_prefix(original)), original.end()),
        line_(classify(Words(command_.begin() + 1, command_.end()), response_file)) {}

  int run() {
    if (options_.disable) return original("disabled");
    switch (line_.action) {
      case Action::Pass:
        return links_objects_only() ? link() : original("passed through: " + line_.why);
      case Action::Link:
        return link();
      case Action::Compile:
      case Action::CompileAndLink:
        return compile();
    }
    __builtin_unreachable();
  }

 private:
  void explain(const string& text) const {
    if (options_.explain != Explain::No) std::fprintf(stderr, "sous: %s\n", text.c_str());
  }

  void log(Fate fate, const string& why) const {
    append_to_build_log({.fate = fate,
                         .why = why,
                         .compiler = command_[0],
                         .file = line_.inputs.empty() ? "" : line_.inputs[0].path,
                         .object = line_.output.value_or("")});
  }

  int original(const string& why) {
    explain(why);
    log(line_.action == Action::Link ? Fate::Link : Fate::Pass, why);
    const Error error = become(original_);
    std::fprintf(stderr, "sous: %s\n", error.to_string().c_str());
    return 127;
  }

  // A link with an option that is not known here: objects and archives, nothing to compile.
  bool links_objects_only() const {
    bool objects = false;
    for (const auto& word : line_.arguments) {
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

  int link() {
    Words objects;
    for (const auto& word : line_.arguments) {
      if (!word.starts_with('-')) objects.push_back(word);
    }
    const Words extra = openmp_link_options(line_, command_[0], objects);
    summarize(objects);
    if (extra.empty()) return original("linking as it is");
    Words command = command_;
    command.insert(command.end(), extra.begin(), extra.end());
    explain("linking with the OpenMP runtime: " + extra.back());
    log(Fate::Link, "with the OpenMP runtime: " + extra.back());
    const Error error = become(command);
    std::fprintf(stderr, "sous: %s\n", error.to_string().c_str());
    return 127;
  }

  // SOUS_SUMMARY=1: what the files of this link got.
  void summarize(const Words& inputs) const {
    const char* wish = std::getenv("SOUS_SUMMARY");
    if (wish == nullptr || *wish == 0 || string(wish) == "0") return;
    const string what = line_.output.value_or("a.out");
    if (stats_log_path().empty()) {
      warn(what + ": SOUS_SUMMARY needs the log that SOUS_LOG=none takes away");
    } else {
      std::fprintf(stderr, "sous: %s: %s\n", what.c_str(), summary_line(entries_of_link(inputs)).c_str());
    }
  }

  int compile() {
    for (const auto& input : line_.inputs) {
      if (read_once(input.path)) return original("passed through: " + input.path + " can be read only once");
    }
    auto folder = TemporaryFolder::make();
    if (!folder) return original(folder.error().to_string());
    guard_with(original_, line_.inputs[0].path);
    std::vector<std::optional<string>> objects;  // ours, by input
    bool any = false;
    for (const auto& input : line_.inputs) {
      objects.emplace_back();
      if (!input.is_c) continue;
      const string object = folder->file("object" + std::to_string(objects.size()) + ".o");
      CompileOne one(options_, line_, input, command_[0]);
      if (one.run(object)) objects.back() = object;
      diagnostics_ = diagnostics_ || one.had_diagnostics();
      any = any || objects.back().has_value();
    }
    if (!any) {
      if (line_.action == Action::CompileAndLink) summarize(line_.arguments);
      return become_original();
    }
    // The compiler says its own warnings about its own input; they cannot be told from ours otherwise.
    if (diagnostics_) {
      const auto finished = client::run(original_);
      if (!finished || finished->status != 0) return finished ? finished->status : 127;
    }
    return line_.action == Action::Compile ? write_objects(objects) : link_objects(*folder, objects);
  }

  // Like `original`, where a temporary folder is still to be removed: so as a child.
  int become_original() {
    const auto finished = client::run(original_);
    if (finished) return finished->status;
    std::fprintf(stderr, "sous: %s\n", finished.error().to_string().c_str());
    return 127;
  }

  // Compiles an input that is not served on its own.
  int compile_plain(const Input& input, const string& object, bool with_dependencies) {
    Words command{command_[0]};
    command.insert(command.end(), line_.compile.begin(), line_.compile.end());
    if (with_dependencies) {
      const auto dependencies = dependency_options(line_, input);
      command.insert(command.end(), dependencies.begin(), dependencies.end());
    }
    if (line_.action == Action::Compile) command.insert(command.end(), line_.link.begin(), line_.link.end());
    if (line_.language_given) command.insert(command.end(), {"-x", "c"});
    command.insert(command.end(), {"-c", input.path, "-o", object});
    const auto finished = client::run(command);
    return finished ? finished->status : 127;
  }

  int write_objects(const std::vector<std::optional<string>>& objects) {
    for (std::size_t k = 0; k < objects.size(); ++k) {
      const auto& input = line_.inputs[k];
      const string target = object_path(line_, input);
      if (!objects[k]) {
        if (!input.is_c || diagnostics_) continue;  // an object among the inputs of -c; or just written
        if (const int status = compile_plain(input, target, true); status != 0) return status;
        continue;
      }
      if (const auto written = deliver(*objects[k], target); !written) {
        explain(written.error().to_string());  // the compiler meets the same and says it in its own words
        return become_original();
      }
    }
    return 0;
  }

  static Result<void> deliver(const string& object, const string& target) {
    TRY(const string bytes, read_file(object));
    std::error_code error;
    const auto kind = std::filesystem::status(target, error).type();
    if (kind == std::filesystem::file_type::not_found || kind == std::filesystem::file_type::regular) {
      return write_file(target, bytes);
    }
    return {};  // /dev/null and the like: nothing to keep
  }

  int link_objects(const TemporaryFolder& folder, std::vector<std::optional<string>>& objects) {
    Words command = line_.arguments;
    Words inputs;
    for (std::size_t k = 0; k < objects.size(); ++k) {
      const auto& input = line_.inputs[k];
      if (input.is_c && !objects[k]) {
        objects[k] = folder.file("plain" + std::to_string(k) + ".o");
        if (const int status = compile_plain(input, *objects[k], false); status != 0) return status;
      }
      if (objects[k]) command[input.index] = *objects[k];
      inputs.push_back(command[input.index]);
    }
    command.insert(command.begin(), command_[0]);
    const Words extra = openmp_link_options(line_, command_[0], inputs);
    summarize(line_.arguments);
    command.insert(command.end(), extra.begin(), extra.end());
    // A failure is the original command's to report, about the user's own objects.
    const auto finished = client::run(command, {.capture_errors = true});
    if (finished && finished->status == 0) {
      std::fputs(finished->errors.c_str(), stderr);
      return 0;
    }
    explain("linking with the generated code failed: running the original command");
    return become_original();
  }

  const Options& options_;
  const Words& original_;
  const Words command_;
  CommandLine line_;
  bool diagnostics_ = false;
};

}  // namespace

int launch(const Options& options, const Words& command) {
  Options own = options;
  Words words = command;
  // Among the compiler's options, where build systems can put it; no compiler knows it.
  if (std::erase(words, "-Rsous") > 0) own.remarks = true;
  return Launcher(own, words).run();
}

}  // namespace sous::client
