#include "client/compiler.h"

#include <algorithm>

#include "client/process.h"

namespace sous::client {

using std::string;

bool is_gcc(const string& compiler) {
  const string name = name_of(compiler);
  return name.find("clang") == string::npos &&
         (name.find("gcc") != string::npos || name.find("g++") != string::npos || name == "cc" || name == "c99");
}

std::optional<bool> has_fma(const string& compiler, const std::vector<string>& options, const ResultCache* cache) {
  std::vector<string> pieces{"fma", compiler, file_state(program_path(compiler))};
  pieces.insert(pieces.end(), options.begin(), options.end());
  const string key = result_key(pieces);
  if (const auto kept = cache != nullptr ? cache->find_texts(key) : std::nullopt; kept && kept->size() == 1)
    return kept->front() == "1";
  std::vector<string> command{compiler};
  command.insert(command.end(), options.begin(), options.end());
  command.insert(command.end(), {"-E", "-dM", "-x", "c", "/dev/null"});
  const auto said = run(command, {.capture_output = true, .capture_errors = true});
  if (!said || said->status != 0 || !said->output.contains("#define __x86_64__ ")) return std::nullopt;
  const bool has = said->output.contains("#define __FMA__ ") || said->output.contains("#define __FMA4__ ");
  if (cache != nullptr) cache->keep_texts(key, {has ? "1" : "0"});
  return has;
}

std::vector<string> aligned_loops(const string& compiler, const std::vector<string>& flags) {
  const bool given = std::ranges::any_of(
      flags, [](const string& flag) { return flag.starts_with("-falign-loops") || flag == "-fno-align-loops"; });
  return given || is_gcc(compiler) ? std::vector<string>{}
                                   : std::vector<string>{"-falign-loops=32", "-mllvm", "-max-bytes-for-alignment=20"};
}

std::string first_error(const std::string& diagnostics) {
  const auto error = diagnostics.find("error");
  const auto start = error == std::string::npos ? 0 : diagnostics.rfind('\n', error) + 1;
  return diagnostics.substr(start, diagnostics.find('\n', start) - start);
}

std::set<string> warning_options(const string& diagnostics) {
  std::set<string> options;
  std::size_t begin = 0;
  while (begin < diagnostics.size()) {
    const auto end = std::min(diagnostics.find('\n', begin), diagnostics.size());
    const string line = diagnostics.substr(begin, end - begin);
    begin = end + 1;
    if (line.find("remark:") != string::npos) options.insert("?");
    if (line.find("warning:") == string::npos) continue;
    const auto option = line.rfind("[-W"), close = line.find_first_of("],=", option == string::npos ? 0 : option);
    const bool has_one = option != string::npos && close != string::npos;
    options.insert(has_one ? line.substr(option + 1, close - option - 1) : "?");
  }
  if (options.empty() && !diagnostics.empty()) options.insert("?");
  return options;
}

bool is_said_of_code(const string& compiler, const string& option) {
  // gcc finds half of what it warns of while it optimizes; clang what these are about (DiagnosticFrontendKinds.td and
  // lib/CodeGen).
  static const std::set<string> of_code{"?",
                                        "-Watomic-alignment",
                                        "-Wattribute-warning",
                                        "-Wbackend-plugin",
                                        "-Wframe-larger-than",
                                        "-Winline-asm",
                                        "-Wignored-attributes",
                                        "-Wlinker-warnings",
                                        "-Wmisexpect",
                                        "-Wpass-failed",
                                        "-Wpsabi",
                                        "-Wsource-mgr",
                                        "-Wtransform-warning"};
  return is_gcc(compiler) || of_code.contains(option) || option.starts_with("-Wprofile-instr");
}

}  // namespace sous::client
