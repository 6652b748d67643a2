// Preprocessing a C file by its compiler. `sous` does so before it loads a front end, since the preprocessed text shows
// of many files that there is nothing to be done; sous-core, which it becomes for the others, takes what it has read.
#pragma once

#include <optional>
#include <string>

#include "client/command_line.h"
#include "sdfg/result.h"

namespace sous::client {

struct Preprocessed {
  std::string text;
  bool diagnostics = false;  // the compiler said something
};

// The command that does so for `input`, as its compile would, dependency file included.
std::vector<std::string> preprocess_command(const CommandLine& line, const Input& input, const std::string& compiler);

// Preprocesses `input` as its compile would, dependency file included.
// Errors: client.run, launcher.preprocess (with the first line that the compiler said).
Result<Preprocessed> preprocess(const CommandLine& line, const Input& input, const std::string& compiler);

// For the program that this process becomes next. Where that fails it preprocesses again.
void hand_over(const Preprocessed& preprocessed);
// What was handed over to this process, once.
std::optional<Preprocessed> handed_over();

}  // namespace sous::client
