#include "client/preprocess.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <string_view>

#include "client/compiler.h"
#include "client/process.h"

namespace sous::client {
namespace {

using std::string;

// "descriptor:size:0" or ":1". The file has no name, and is gone with the processes that have it open.
constexpr const char* variable = "SOUS_PREPROCESSED_BY_FRONT";

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const auto n = ::write(file, text.data(), text.size());
    if (n <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

}  // namespace

std::vector<string> preprocess_command(const CommandLine& line, const Input& input, const string& compiler) {
  std::vector<string> command{compiler};
  command.insert(command.end(), line.preprocess.begin(), line.preprocess.end());
  const auto dependencies = dependency_options(line, input);
  command.insert(command.end(), dependencies.begin(), dependencies.end());
  command.insert(command.end(), {"-E", "-x", "c", input.path});
  return command;
}

Result<Preprocessed> preprocess(const CommandLine& line, const Input& input, const string& compiler) {
  TRY(auto finished, run(preprocess_command(line, input, compiler), {.capture_output = true, .capture_errors = true}));
  if (finished.status != 0) return fail("launcher.preprocess", first_error(finished.errors), input.path);
  return Preprocessed{std::move(finished.output), !finished.errors.empty()};
}

void hand_over(const Preprocessed& preprocessed) {
  const int file = ::memfd_create("sous", 0);  // stays open in what this process becomes
  if (file < 0) return;
  const string& text = preprocessed.text;
  if (!write_all(file, text)) {
    ::close(file);
    return;
  }
  const string value =
      std::to_string(file) + ":" + std::to_string(text.size()) + (preprocessed.diagnostics ? ":1" : ":0");
  ::setenv(variable, value.c_str(), 1);
}

std::optional<Preprocessed> handed_over() {
  const char* given = std::getenv(variable);
  if (given == nullptr) return std::nullopt;
  const string value = given;
  ::unsetenv(variable);
  int file = -1;
  std::size_t size = 0;
  const char *at = value.data(), *end = at + value.size();
  const auto [after_file, bad_file] = std::from_chars(at, end, file);
  if (bad_file != std::errc() || after_file == end || *after_file != ':') return std::nullopt;
  const auto [after_size, bad_size] = std::from_chars(after_file + 1, end, size);
  if (bad_size != std::errc() || end - after_size != 2) return std::nullopt;
  struct stat state{};
  if (::fstat(file, &state) != 0 || static_cast<std::size_t>(state.st_size) != size) return std::nullopt;
  Preprocessed out{string(size, ' '), after_size[1] == '1'};
  std::size_t read = 0;
  while (read < size) {
    const auto n = ::pread(file, out.text.data() + read, size - read, static_cast<off_t>(read));
    if (n <= 0) return std::nullopt;
    read += static_cast<std::size_t>(n);
  }
  ::close(file);
  return out;
}

}  // namespace sous::client
