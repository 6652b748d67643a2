#include "client/compile_command.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <optional>
#include <sstream>

#include "client/compile.h"
#include "client/compiler.h"
#include "client/guard.h"
#include "client/process.h"

namespace sous::client {
namespace {

using std::string;
using Words = std::vector<string>;

class CompileCommand {
 public:
  explicit CompileCommand(const Launch& launch) : launch_(launch), line_(launch.line) {}

  int run() {
    // A file that gets larger than files may (ulimit -f) is an error of write(2) here, and the compiler's to report:
    // the signal would leave our folder behind. What this process runs gets the signal as ever.
    std::signal(SIGXFSZ, [](int) {});
    auto folder = TemporaryFolder::make();
    if (!folder) return become_original(launch_, Fate::Pass, folder.error().to_string());
    guard_with(launch_.original, line_.inputs[0].path);
    std::vector<std::optional<string>> objects;  // ours, by input
    bool any = false;
    for (const auto& input : line_.inputs) {
      objects.emplace_back();
      if (!input.is_c) continue;
      const string object = folder->file("object" + std::to_string(objects.size()) + ".o");
      CompileOne one(launch_.options, line_, input, launch_.compiler());
      if (one.run(object)) objects.back() = object;
      diagnostics_ = diagnostics_ || one.had_diagnostics();
      warnings_ += one.warnings();
      any = any || objects.back().has_value();
    }
    if (!any) {
      if (line_.action == Action::CompileAndLink) summarize_link(launch_, line_.arguments);
      return run_original();
    }
    // The compiler says its own warnings about its own input; they cannot be told from ours otherwise.
    if (diagnostics_ && !said_by_parsing()) {
      const auto finished = client::run(launch_.original);
      if (!finished || finished->status != 0) return finished ? finished->status : 127;
    }
    return line_.action == Action::Compile ? write_objects(objects) : link_objects(*folder, objects);
  }

 private:
  // Says what the compiler has to say of the only input, which is served, if it does so when it parses: most warnings
  // are of that kind, and code takes several times as long to make. What was said of the preprocessed text alone is no
  // warning of the compiler's: of what macros write it keeps some to itself. False: nothing was said, as some warnings
  // come later, or are about the options of another command.
  bool said_by_parsing() const {
    if (line_.action != Action::Compile || line_.inputs.size() != 1) return false;
    const bool colors = ::isatty(STDERR_FILENO) != 0;  // which the compiler cannot see
    auto command = compiling(colors ? Words{"-fdiagnostics-color=always"} : Words{}, {});
    command.insert(command.end(), {"-fsyntax-only", line_.inputs[0].path});
    const auto finished = client::run(command, {.capture_errors = true});
    if (!finished || finished->status != 0) return false;
    const auto said = warning_options(finished->errors);
    constexpr const char* of_the_command = "-Wunused-command-line-argument";
    std::istringstream expected(warnings_);
    const bool all = std::all_of(std::istream_iterator<string>(expected), {}, [&](const string& option) {
      return option != "?" && (said.contains(option) || !is_said_of_code(launch_.compiler(), option));
    });
    if (!all || said.contains("?") || said.contains(of_the_command)) return false;
    std::fputs(finished->errors.c_str(), stderr);
    return true;
  }

  // The user's own way to compile, but for the input and what becomes of it; `ahead` of and `behind` the options.
  Words compiling(const Words& ahead, const Words& behind) const {
    Words command{launch_.compiler()};
    for (const Words* words : {&ahead, &line_.compile, &behind})
      command.insert(command.end(), words->begin(), words->end());
    if (line_.action == Action::Compile) command.insert(command.end(), line_.link.begin(), line_.link.end());
    if (line_.language_given) command.insert(command.end(), {"-x", "c"});
    return command;
  }

  // Like `original`, where a temporary folder is still to be removed: so as a child.
  int run_original() {
    const auto finished = client::run(launch_.original);
    if (finished) return finished->status;
    std::fprintf(stderr, "sous: %s\n", finished.error().to_string().c_str());
    return 127;
  }

  // Compiles an input that is not served on its own.
  int compile_plain(const Input& input, const string& object, bool with_dependencies) {
    auto command = compiling({}, with_dependencies ? dependency_options(line_, input) : Words{});
    command.insert(command.end(), {"-c", input.path, "-o", object});
    const auto finished = client::run(command);
    return finished ? finished->status : 127;
  }

  // A file, or nothing yet: what the compiler does to others (pipes, folders, links to nothing, what may not be
  // written) is its own.
  static bool is_file_to_write(const string& target) {
    std::error_code error;
    const auto kind = std::filesystem::status(target, error).type();
    if (kind == std::filesystem::file_type::not_found) return !std::filesystem::is_symlink(target, error);
    const bool written = kind == std::filesystem::file_type::regular && ::access(target.c_str(), W_OK) == 0;
    return written || target == "/dev/null";
  }

  // Of several inputs those that can be compiled are, as the compilers do it; the first failure is the status.
  int write_objects(const std::vector<std::optional<string>>& objects) {
    int status = 0;
    for (std::size_t k = 0; k < objects.size(); ++k) {
      const auto& input = line_.inputs[k];
      const string target = object_path(line_, input);
      if (!objects[k]) {
        if (!input.is_c || diagnostics_) continue;  // an object among the inputs of -c; or just written
        const int own = compile_plain(input, target, true);
        if (status == 0) status = own;
        continue;
      }
      if (!is_file_to_write(target)) return run_original();
      if (const auto written = deliver(*objects[k], target); !written) {
        say(launch_, written.error().to_string());  // the compiler meets the same and says it in its own words
        return run_original();
      }
    }
    return status;
  }

  static Result<void> deliver(const string& object, const string& target) {
    if (target == "/dev/null") return {};
    TRY(const string bytes, read_file(object));
    return write_file(target, bytes);
  }

  int link_objects(const TemporaryFolder& folder, std::vector<std::optional<string>>& objects) {
    Words command = line_.arguments;
    for (std::size_t k = 0; k < objects.size(); ++k) {
      const auto& input = line_.inputs[k];
      if (input.is_c && !objects[k]) {
        objects[k] = folder.file("plain" + std::to_string(k) + ".o");
        if (const int status = compile_plain(input, *objects[k], false); status != 0) return status;
      }
      if (objects[k]) command[input.index] = *objects[k];
    }
    command.insert(command.begin(), launch_.compiler());
    summarize_link(launch_, line_.arguments);
    // A failure is the original command's to report, about the user's own objects.
    const auto finished = client::run(command, {.capture_errors = true});
    if (finished && finished->status == 0) {
      std::fputs(finished->errors.c_str(), stderr);
      return 0;
    }
    say(launch_, "linking with the generated code failed: running the original command");
    return run_original();
  }

  const Launch& launch_;
  const CommandLine& line_;
  bool diagnostics_ = false;
  std::string warnings_;  // options, one after the other
};

}  // namespace

int compile_command(const Launch& launch) { return CompileCommand(launch).run(); }

}  // namespace sous::client
