#include "client/compile_command.h"

#include <cstdio>
#include <filesystem>
#include <optional>

#include "client/compile.h"
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
      any = any || objects.back().has_value();
    }
    if (!any) {
      if (line_.action == Action::CompileAndLink) summarize_link(launch_, line_.arguments);
      return run_original();
    }
    // The compiler says its own warnings about its own input; they cannot be told from ours otherwise.
    if (diagnostics_) {
      const auto finished = client::run(launch_.original);
      if (!finished || finished->status != 0) return finished ? finished->status : 127;
    }
    return line_.action == Action::Compile ? write_objects(objects) : link_objects(*folder, objects);
  }

 private:
  // Like `original`, where a temporary folder is still to be removed: so as a child.
  int run_original() {
    const auto finished = client::run(launch_.original);
    if (finished) return finished->status;
    std::fprintf(stderr, "sous: %s\n", finished.error().to_string().c_str());
    return 127;
  }

  // Compiles an input that is not served on its own.
  int compile_plain(const Input& input, const string& object, bool with_dependencies) {
    Words command{launch_.compiler()};
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
        say(launch_, written.error().to_string());  // the compiler meets the same and says it in its own words
        return run_original();
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
};

}  // namespace

int compile_command(const Launch& launch) { return CompileCommand(launch).run(); }

}  // namespace sous::client
